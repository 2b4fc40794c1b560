"""What every test gets: no network, no unlisted skip, reproducible examples in CI."""

import os
import signal
from collections.abc import Iterator

import hypothesis
import pytest

from tests import section17, skip_list
from tests.examples import examples
from tests.network_guard import outside_guard
from tests.store_template import copied_stores

outside_guard.install()

# A shell starts what runs in its background with interrupts ignored, which every child inherits:
# a test that interrupts a child would wait for ever. The children of a test start like a user's.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Several suites share a machine, so no example has a deadline; in CI the examples never vary.
hypothesis.settings.register_profile("local", deadline=None, max_examples=examples(100))
hypothesis.settings.register_profile(
    "ci", hypothesis.settings.get_profile("local"), derandomize=True, print_blob=True
)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")

SKIPPED = pytest.StashKey[list[str]]()


@pytest.fixture(autouse=True)
def no_outside_connection() -> Iterator[None]:
    """Fail a test that reached for another machine, even if the code swallowed the refusal."""
    outside_guard.refused.clear()
    yield
    attempts, outside_guard.refused[:] = list(outside_guard.refused), []
    assert not attempts, f"reached for another machine: {attempts}"


COPYING = ("cli", "contracts", "integration", "properties", "scenarios", "unit", "workers")


@pytest.fixture(autouse=True)
def copied_new_stores(request: pytest.FixtureRequest) -> Iterator[None]:
    """Copy the stores that tests of behaviour make; the other folders prove how one is made."""
    if request.node.nodeid.startswith(tuple(f"tests/{name}/" for name in COPYING)):
        with copied_stores():
            yield
    else:
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Start the record of skipped tests."""
    config.stash[SKIPPED] = []
    config.pluginmanager.register(SkipRecorder(config), "retold-skip-recorder")
    section17.pytest_configure(config)


def pytest_report_header() -> str | None:
    """Say when fewer examples are tried than elsewhere."""
    return "hypothesis: a quarter of the examples of 3.11" if skip_list.is_beside() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests of torch models where torch is not installed, and what is proven beside this."""
    labels = skip_list.labels()
    listed = skip_list.parse(skip_list.FILE.read_text(encoding="utf-8"))
    elsewhere = [one for one in listed if one.environment == skip_list.ELSEWHERE]
    for item in items:
        if "no-torch" in labels and item.get_closest_marker("models"):
            item.add_marker(pytest.mark.skip(reason="sentence-transformers is not installed"))
        for entry in elsewhere:
            if entry.allows(item.nodeid, labels):
                item.add_marker(pytest.mark.skip(reason=entry.reason))


class SkipRecorder:
    """Compare the skipped tests of a session with the committed list."""

    def __init__(self, config: pytest.Config) -> None:
        self.skipped = config.stash[SKIPPED]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a skipped test; an expected failure is not a skip."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a whole module that skipped itself."""
        if report.skipped:
            self.skipped.append(report.nodeid)

    def unlisted(self) -> list[str]:
        """Return the skipped node ids that the list does not allow here."""
        entries = skip_list.parse(skip_list.FILE.read_text(encoding="utf-8"))
        return skip_list.unexpected(self.skipped, entries, skip_list.labels())

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Turn a passing session with an unlisted skip into a failed one."""
        passing = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if session.exitstatus in passing and self.unlisted():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the unlisted skips and the file that may allow them."""
        if unlisted := self.unlisted():
            terminalreporter.section("skipped, but not in tests/expected_skips.txt", red=True)
            terminalreporter.line(f"labels here: {' '.join(sorted(skip_list.labels()))}")
            for node_id in unlisted:
                terminalreporter.line(node_id)
