from __future__ import annotations

from textwrap import dedent

import pytest

from tests.section17 import (
    LEDGER,
    LedgerPlugin,
    answer_problems,
    form_problems,
    load_ledger,
)

pytest_plugins = ["pytester"]

HEADER = '[ledger]\nsentences = 1\ncases = ["B01"]\n'
CASE = '[cases.B01]\nsentence = "b"\nlater = "issue 4"\n'
SUITE = """
    import pytest

    def test_good(): pass

    def test_bad(): assert False

    @pytest.mark.skip(reason="for the ledger")
    def test_skipped(): pass

    @pytest.mark.xfail(strict=False)
    def test_xfailed(): assert False

    @pytest.mark.parametrize("n", [1, 2])
    def test_table(n): pass

    @pytest.mark.parametrize("n", [1, 2])
    def test_half(n): assert n == 1

    @pytest.fixture
    def leaky():
        yield
        assert False

    def test_torn_down(leaky): pass
"""


def _sentence(answer: str) -> str:
    return f'[sentences."17.x"]\nanchor = "a"\nsentence = "a"\n{answer}\n'


@pytest.fixture
def run(pytester):
    """Run a small suite against one ledger row; returns the inner result."""
    pytester.makeini("[pytest]")

    def _run(answer, *args, suite=SUITE, version=(3, 11, 0)):
        ledger = pytester.path / "ledger.toml"
        ledger.write_text(HEADER + _sentence(answer) + CASE, encoding="utf-8")
        pytester.mkdir("tests").joinpath("test_inner.py").write_text(dedent(suite))
        plugin = LedgerPlugin(ledger, version)
        return pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", *(args or ("tests",)), plugins=[plugin]
        )

    return _run


GREEN = "def test_good(): pass\n\ndef test_other(): pass\n"


def test_committed_ledger_is_well_formed():
    assert form_problems(load_ledger(LEDGER)) == []


def test_run_passes_when_the_listed_test_passed(run):
    result = run('tests = ["tests/test_inner.py::test_good"]', suite=GREEN)

    assert result.ret == 0
    result.stdout.fnmatch_lines(["section 17: 2 rows: 1 tests, 1 later, 0 adr, 0 benchmark; 0*"])


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("test_absent", "was not collected"),
        ("test_bad", "failed"),
        ("test_skipped", "skipped"),
        ("test_xfailed", "xfailed"),
        ("test_half", "*2* failed"),
        ("test_torn_down", "failed"),
    ],
)
def test_run_names_the_row_when_its_test_proves_nothing(run, test, said):
    result = run(f'tests = ["tests/test_inner.py::{test}"]')

    assert result.ret == 1
    result.stdout.fnmatch_lines([f"17.x: tests/test_inner.py::{test}*{said}"])


@pytest.mark.parametrize("test", ["test_absent", "test_skipped"], ids=["not-collected", "skipped"])
def test_green_run_is_failed_by_the_ledger_alone(run, test):
    suite = GREEN + "import pytest\n@pytest.mark.skip\ndef test_skipped(): pass\n"

    result = run(f'tests = ["tests/test_inner.py::{test}"]', suite=suite)

    result.assert_outcomes(passed=2, skipped=1 if "skip" in suite else 0)
    assert result.ret == 1


def test_bare_id_stands_for_all_its_parameter_sets(run):
    result = run('tests = ["tests/test_inner.py::test_table"]')

    result.stdout.fnmatch_lines(["section 17: *; 0 problems"])


def test_row_without_tests_fails(run):
    result = run("tests = []", suite=GREEN)

    assert result.ret == 1
    result.stdout.fnmatch_lines(["17.x: no test is listed"])


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ('adr = "docs/adr/0001-why.md"', "docs/adr/0001-why.md"),
        ('benchmark = "benchmarks/x.py --check"', "benchmarks/x.py"),
    ],
    ids=["adr", "benchmark"],
)
def test_named_file_must_exist(run, pytester, answer, path):
    result = run(answer, suite=GREEN)

    assert result.ret == 1
    result.stdout.fnmatch_lines([f"17.x: {path} does not exist"])


def test_named_file_answers_its_row(tmp_path):
    (tmp_path / "why.md").write_text("Because.\n", encoding="utf-8")
    ledger = tmp_path / "ledger.toml"
    ledger.write_text(HEADER + _sentence('adr = "why.md"') + CASE, encoding="utf-8")

    assert answer_problems(load_ledger(ledger), tmp_path, {}) == []


@pytest.mark.parametrize(
    ("args", "version"),
    [
        (("tests/test_inner.py",), (3, 11, 0)),
        (("tests", "-k", "good"), (3, 11, 0)),
        (("tests", "--deselect", "tests/test_inner.py::test_other"), (3, 11, 0)),
        (("tests",), (3, 12, 0)),
    ],
    ids=["one-file", "keyword", "deselected", "other-python"],
)
def test_narrowed_run_is_left_alone(run, args, version):
    result = run("tests = []", *args, suite=GREEN, version=version)

    assert result.ret == 0
    result.stdout.fnmatch_lines(["section 17: not checked: *"])


def test_items_deselected_by_a_plugin_narrow_the_run(run, pytester):
    pytester.makeconftest(
        """
        def pytest_collection_modifyitems(config, items):
            config.hook.pytest_deselected(items=[items.pop()])
        """
    )

    result = run("tests = []", suite=GREEN)

    assert result.ret == 0
    result.stdout.fnmatch_lines(["section 17: not checked: 1 tests were deselected"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEADER + CASE, "the header counts 1 sentences, the file holds 0"),
        (HEADER + _sentence('later = "issue 3"'), "B01: no row for this case"),
        (
            HEADER + _sentence('later = "issue 3"') + CASE + CASE.replace("B01", "B02"),
            "B02: not a case of the header",
        ),
        (HEADER + _sentence("") + CASE, "17.x: exactly one of tests, later, adr, benchmark"),
        (
            HEADER + _sentence('later = "issue 3"\ntests = ["t.py::test_a"]') + CASE,
            "17.x: exactly one of tests, later, adr, benchmark",
        ),
        (HEADER + _sentence('later = "some day"') + CASE, "17.x: later is one of"),
        (
            HEADER + _sentence('tests = ["t.py::test_a", "t.py::test_a"]') + CASE,
            "17.x: t.py::test_a is listed twice",
        ),
        (
            HEADER + '[sentences."17.x"]\nsentence = "a"\nlater = "issue 3"\n' + CASE,
            "17.x: no anchor",
        ),
    ],
    ids=[
        "sentence-missing",
        "case-missing",
        "case-unknown",
        "no-answer",
        "two-answers",
        "unknown-issue",
        "listed-twice",
        "no-anchor",
    ],
)
def test_form_problems_name_the_row(tmp_path, text, said):
    ledger = tmp_path / "ledger.toml"
    ledger.write_text(text, encoding="utf-8")

    assert any(problem.startswith(said) for problem in form_problems(load_ledger(ledger)))
