"""What a pipeline was measured at, as metrics with names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from retold.operations.evaluation.asking import TRIGGERS, UNNEEDED, Answers
from retold.operations.evaluation.cases import AUTO, SESSION
from retold.operations.evaluation.metrics import MEASURES, Estimate, estimates

ALL: Final = "all"
RETURNED_RECALL: Final = "returned_recall"
RETURNED: Final = "returned_records"
NEEDED_EMPTY: Final = "needed_empty"

Metrics = dict[str, Estimate | None]
"""By name; None for what the data cannot tell."""


def ranking_metrics(answers: Answers) -> dict[str, Metrics]:
    """Return the measures of the ranking by category; ``all`` comes first."""
    rows: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    for one in answers.asked:
        for name in dict.fromkeys((ALL, one.category)):
            rows[name].append(one.values)
    return {category: _named(MEASURES, values) for category, values in rows.items()}


def session_metrics(answers: Answers) -> Metrics:
    """Return the measures of the ranking of sessions; empty where gold is not of turns."""
    rows = [one.sessions for one in answers.asked if one.sessions is not None]
    return _named(MEASURES, rows) if rows else {}


def gate_metrics(answers: Answers) -> Metrics:
    """Return what the gate lets through.

    Names without a prefix are of searches that somebody asked for, those with ``auto`` before
    them of host-issued ones.
    """
    metrics: Metrics = {}
    for trigger in TRIGGERS:
        prefix = f"{AUTO} " if trigger == "auto" else ""
        of_needed = [
            (float(not one.returned[trigger]), one.returned_recall[trigger], one.returned[trigger])
            for one in answers.asked
        ]
        names = [f"{prefix}{name}" for name in (NEEDED_EMPTY, RETURNED_RECALL, RETURNED)]
        metrics |= _named(names, of_needed)
        for kind in UNNEEDED:
            found = [(float(one.found[trigger]),) for one in answers.admitted if one.kind == kind]
            metrics |= _named([f"{prefix}{kind}_admitted"], found)
    return metrics


def flat(answers: Answers) -> dict[str, float | None]:
    """Return every metric as ``name``, ``name low`` and ``name high``, and ``questions``.

    Those of a category have its name before them, those of sessions ``session``. None is what the
    data cannot tell.
    """
    document: dict[str, float | None] = {"questions": len(answers.asked)}
    by_category = ranking_metrics(answers)
    document |= _flat(by_category.pop(ALL, _named(MEASURES, [])))
    document |= _flat(gate_metrics(answers))
    document |= _flat(session_metrics(answers), f"{SESSION} ")
    for category, metrics in by_category.items():
        document[f"{category} questions"] = sum(one.category == category for one in answers.asked)
        document |= _flat(metrics, f"{category} ")
    return document


def curve(answers: Answers) -> list[tuple[float, float]]:
    """Return for each gate that was asked about (no-memory prompts admitted, needed empty).

    Both are parts of 1. Empty without no-memory prompts.
    """
    prompts = [one.passed for one in answers.admitted if one.kind == "no_memory"]
    needed = [one.passed for one in answers.asked]
    if not (prompts and needed):
        return []
    return [
        (_share(one[at] for one in prompts), 1 - _share(one[at] for one in needed))
        for at in range(len(needed[0]))
    ]


def _named(names: Sequence[str], rows: Sequence[Sequence[float]]) -> Metrics:
    if not rows:
        return dict.fromkeys(names)
    return dict(zip(names, estimates(rows), strict=True))


def _flat(metrics: Mapping[str, Estimate | None], prefix: str = "") -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for name, one in metrics.items():
        values[f"{prefix}{name}"] = None if one is None else round(one.mean, 4)
        values[f"{prefix}{name} low"] = None if one is None else round(one.low, 4)
        values[f"{prefix}{name} high"] = None if one is None else round(one.high, 4)
    return values


def _share(values: Iterable[bool]) -> float:
    counted = list(values)
    return sum(counted) / len(counted)
