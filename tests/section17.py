"""Check at the end of a full run that every row of `section17.toml` is answered.

A pytest plugin. A run counts as full when it collects all of `tests/`, deselects nothing and uses
Python 3.11, the one environment that has every optional package; any other run is left alone.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

LEDGER = Path(__file__).with_name("section17.toml")
CHECKED_PYTHON = (3, 11)
ANSWERS = ("tests", "later", "adr", "benchmark")
LATER = frozenset({"issue 3", "issue 4", "issue 5", "unowned"})
NARROWING_OPTIONS = (
    "keyword",
    "markexpr",
    "deselect",
    "ignore",
    "ignore_glob",
    "lf",
    "stepwise",
    "collectonly",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One sentence or case with what the ledger says about it."""

    key: str
    fields: Mapping[str, Any]

    @property
    def answers(self) -> tuple[str, ...]:
        """Return the kinds of answer given; a sound row has exactly one."""
        return tuple(kind for kind in ANSWERS if kind in self.fields)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The rows, and the counts that keep a row from vanishing unnoticed."""

    sentence_count: int
    case_ids: frozenset[str]
    sentences: tuple[Row, ...]
    cases: tuple[Row, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return sentences, then cases, in file order."""
        return self.sentences + self.cases


def load_ledger(path: Path) -> Ledger:
    """Read the ledger; a malformed file raises what tomllib or the missing key raises."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Ledger(
        sentence_count=data["ledger"]["sentences"],
        case_ids=frozenset(data["ledger"]["cases"]),
        sentences=tuple(Row(key, row) for key, row in data.get("sentences", {}).items()),
        cases=tuple(Row(key, row) for key, row in data.get("cases", {}).items()),
    )


def form_problems(ledger: Ledger) -> list[str]:
    """Return what is wrong with the ledger itself, whatever the tests did."""
    problems = []
    if len(ledger.sentences) != ledger.sentence_count:
        problems.append(
            f"the header counts {ledger.sentence_count} sentences, "
            f"the file holds {len(ledger.sentences)}"
        )
    present = {row.key for row in ledger.cases}
    problems += [f"{case}: no row for this case" for case in sorted(ledger.case_ids - present)]
    problems += [f"{case}: not a case of the header" for case in sorted(present - ledger.case_ids)]
    for row in ledger.sentences:
        if not row.fields.get("anchor"):
            problems.append(f"{row.key}: no anchor")
    for row in ledger.rows:
        problems += _row_form_problems(row)
    return problems


def _row_form_problems(row: Row) -> list[str]:
    problems = []
    if not row.fields.get("sentence"):
        problems.append(f"{row.key}: no sentence")
    if len(row.answers) != 1:
        problems.append(f"{row.key}: exactly one of {', '.join(ANSWERS)} is needed")
    elif row.answers == ("later",) and row.fields["later"] not in LATER:
        problems.append(f"{row.key}: later is one of {', '.join(sorted(LATER))}")
    listed = Counter(row.fields.get("tests", ()))
    problems += [f"{row.key}: {test} is listed twice" for test, n in listed.items() if n > 1]
    return problems


def answer_problems(ledger: Ledger, root: Path, outcomes: Mapping[str, str]) -> list[str]:
    """Return every row that nothing answers.

    `outcomes` maps each collected node id to passed, failed, skipped or xfailed. `root` is the
    directory that the paths of decisions and benchmarks start from.
    """
    problems = []
    for row in ledger.rows:
        if "tests" in row.fields:
            problems += _test_problems(row, outcomes)
        elif "adr" in row.fields and not (root / row.fields["adr"]).is_file():
            problems.append(f"{row.key}: {row.fields['adr']} does not exist")
        elif "benchmark" in row.fields:
            script = row.fields["benchmark"].split()[0]
            if not (root / script).is_file():
                problems.append(f"{row.key}: {script} does not exist")
    return problems


def _test_problems(row: Row, outcomes: Mapping[str, str]) -> list[str]:
    if not row.fields["tests"]:
        return [f"{row.key}: no test is listed"]
    problems = []
    for test in row.fields["tests"]:
        matching = _parameter_sets(test, outcomes)
        if not matching:
            problems.append(f"{row.key}: {test} was not collected")
        problems += [
            f"{row.key}: {node} {outcomes[node]}" for node in matching if outcomes[node] != "passed"
        ]
    return problems


def _parameter_sets(test: str, nodes: Iterable[str]) -> list[str]:
    return [node for node in nodes if node == test or node.startswith(f"{test}[")]


def narrowed_because(config: pytest.Config, deselected: int, version: Sequence[int]) -> str | None:
    """Return why this run proves less than a full one, or None when it is full."""
    if tuple(version[:2]) != CHECKED_PYTHON:
        return f"Python {version[0]}.{version[1]} is not the environment of the check"
    for option in NARROWING_OPTIONS:
        if getattr(config.option, option, None):
            return f"--{option} narrows the run"
    if deselected:
        return f"{deselected} tests were deselected"
    whole = {config.rootpath, config.rootpath / "tests"}
    given = {(config.invocation_params.dir / argument).resolve() for argument in config.args}
    if not whole & given:
        return "only a part of tests/ was asked for"
    return None


class LedgerPlugin:
    """Collect the outcomes of one run, then hold the ledger against them."""

    def __init__(self, ledger_path: Path, version: Sequence[int] = sys.version_info[:2]) -> None:
        self._ledger_path = ledger_path
        self._version = version
        self._outcomes: dict[str, str] = {}
        self._deselected = 0
        self._problems: list[str] = []
        self._checked = False
        self._verdict = "not checked: the run was broken off"

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self._deselected += len(items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._outcomes = dict.fromkeys((item.nodeid for item in session.items), "did not run")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self._outcomes.get(report.nodeid, "did not run")
        if hasattr(report, "wasxfail"):
            self._outcomes[report.nodeid] = "xfailed"
        elif report.outcome != "passed":
            self._outcomes[report.nodeid] = report.outcome
        elif report.when == "call" and before == "did not run":
            self._outcomes[report.nodeid] = "passed"

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        reason = narrowed_because(session.config, self._deselected, self._version)
        if reason is not None:
            self._verdict = f"not checked: {reason}"
            return
        self._checked = True
        ledger = load_ledger(self._ledger_path)
        self._problems = form_problems(ledger) + answer_problems(
            ledger, session.config.rootpath, self._outcomes
        )
        kinds = Counter(row.answers[0] for row in ledger.rows if row.answers)
        counts = ", ".join(f"{kinds[kind]} {kind}" for kind in ANSWERS)
        self._verdict = f"{len(ledger.rows)} rows: {counts}; {len(self._problems)} problems"
        if self._problems:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._problems:
            terminalreporter.section("section 17 is not proven", red=True)
            for problem in self._problems:
                terminalreporter.write_line(problem)
        # A quiet partial run stays quiet; a run that was checked always says so.
        if self._checked or terminalreporter.verbosity >= 0:
            terminalreporter.write_line(f"section 17: {self._verdict}")


def pytest_configure(config: pytest.Config) -> None:
    """Register the check once per session."""
    if not config.pluginmanager.has_plugin("section17-ledger"):
        config.pluginmanager.register(LedgerPlugin(LEDGER), "section17-ledger")
