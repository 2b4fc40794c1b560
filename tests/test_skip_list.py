import pytest

from tests import skip_list

pytest_plugins = ["pytester"]

ENTRY = skip_list.ExpectedSkip("tests/test_a.py::test_x[*]", "no-torch", "why")


def test_entry_allows_a_matching_node_id_in_its_environment():
    assert ENTRY.allows("tests/test_a.py::test_x[big]", {"any", "no-torch"})


@pytest.mark.parametrize(
    ("node_id", "environments"),
    [
        pytest.param("tests/test_a.py::test_x[big]", {"any"}, id="another environment"),
        pytest.param("tests/test_a.py::test_y[big]", {"any", "no-torch"}, id="another test"),
    ],
)
def test_entry_allows_nothing_else(node_id, environments):
    assert not ENTRY.allows(node_id, environments)


def test_parse_refuses_a_line_without_a_reason():
    with pytest.raises(ValueError, match="node id glob"):
        skip_list.parse("tests/test_a.py | any")


def test_committed_list_names_files_that_exist_and_known_labels():
    known = {"any", "root", skip_list.ELSEWHERE, *skip_list.OPTIONAL_PACKAGES}
    entries = skip_list.parse(skip_list.FILE.read_text(encoding="utf-8"))
    root = skip_list.FILE.parent.parent

    for entry in entries:
        assert (root / entry.node_id_glob.partition("::")[0]).is_file(), entry
        assert entry.environment in known or entry.environment.startswith("py3."), entry


CONFTEST = """
import pytest
from tests import conftest as ours
from tests import skip_list

def pytest_configure(config):
    skip_list.FILE = config.rootpath / "expected_skips.txt"
    config.stash[ours.SKIPPED] = []
    config.pluginmanager.register(ours.SkipRecorder(config))

pytest_collection_modifyitems = ours.pytest_collection_modifyitems
"""

SKIPPING_TEST = """
import pytest

def test_passes():
    pass

@pytest.mark.skip(reason="just so")
def test_skips():
    pass
"""


@pytest.fixture
def session(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(skip_list.FILE.parent.parent))
    monkeypatch.delenv("RETOLD_TESTS_PROVEN_ON_3_11", raising=False)
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_some=SKIPPING_TEST)
    return pytester


def test_session_fails_when_a_skipped_test_is_not_listed(session):
    """Without the exit status set in `pytest_sessionfinish` this test fails."""
    (session.path / "expected_skips.txt").write_text("# nothing is\n")

    result = session.runpytest_subprocess()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*skipped, but not in*", "test_some.py::test_skips"])


def test_session_passes_when_the_skipped_test_is_listed(session):
    (session.path / "expected_skips.txt").write_text("test_some.py::test_s* | any | just so\n")

    result = session.runpytest_subprocess()

    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*skipped, but not in*")


def test_session_fails_when_a_whole_module_skips_itself_unlisted(session):
    session.makepyfile(
        test_module='import pytest\npytest.importorskip("no_such_package")\n', test_some=""
    )
    (session.path / "expected_skips.txt").write_text("")

    result = session.runpytest_subprocess()

    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(("beside", "passed"), [("", 1), ("1", 0)])
def test_what_is_proven_beside_a_run_is_skipped_in_that_run_alone(
    session, monkeypatch, beside, passed
):
    session.makepyfile(test_page="def test_page():\n    pass\n", test_some="")
    (session.path / "expected_skips.txt").write_text("test_page.py::* | proven-on-3.11 | a page\n")
    monkeypatch.setenv("RETOLD_TESTS_PROVEN_ON_3_11", beside)

    session.runpytest_subprocess().assert_outcomes(passed=passed, skipped=1 - passed)
