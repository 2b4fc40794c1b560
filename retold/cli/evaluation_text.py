"""How an evaluation reads on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from retold.cli.text import clean, count, heading, labelled, table
from retold.operations.evaluation.asking import TRIGGERS, Answers
from retold.operations.evaluation.cases import AUTO
from retold.operations.evaluation.evaluate import Evaluation, Pipeline, context_of
from retold.operations.evaluation.metrics import MEASURES, Estimate
from retold.operations.evaluation.summary import (
    ALL,
    NEEDED_EMPTY,
    RETURNED,
    RETURNED_RECALL,
    Metrics,
    gate_metrics,
    ranking_metrics,
    session_metrics,
)

_HEADINGS: Final = ("recall@1", "@5", "@10", "@20", "@100", "ndcg@10", "mrr")
_TRIGGER_NAMES: Final = {"tool": "asked", "auto": "host"}
_GATE: Final = {
    NEEDED_EMPTY: "empty",
    RETURNED_RECALL: "recall",
    RETURNED: "records",
    "no_memory_admitted": "no memory",
    "foreign_admitted": "foreign",
    "plain_admitted": "plain",
}
_MEANINGS: Final = {
    "asked": "searches that a model or a person asked for; host: those an application makes itself",
    "recall@k": "the part of what answers among the first k that a search found, in its order "
    "before the gate cuts",
    "empty": "the part of questions with an answer for which nothing was returned",
    "recall": "the part of what answers among what was returned, and how many records that were",
    "no memory": "the part of prompts that need no memory for which something was returned",
    "foreign": "the same of questions about another store of the file",
    "plain": "the same of messages of the user that ask for nothing remembered",
}

Results = Mapping[Pipeline, Answers]


def headlines(name: str, evaluation: Evaluation) -> Iterator[str]:
    """Yield what was measured."""
    cases = evaluation.cases
    needed = sum(len(case.needed) for case in cases)
    asked = f"{count(len(cases), 'store')}, {count(needed, 'question')} with an answer"
    yield from labelled("data", f"{clean(name)}: {asked}")
    plain = sum(len(case.plain) for case in cases)
    asked_besides = [f"{len(evaluation.prompts):,} without need of memory"]
    asked_besides += [count(plain, "plain message")] if plain else []
    yield from labelled("prompts", ", ".join(asked_besides))
    contexts = dict.fromkeys(context_of(evaluation, case) for case in cases)
    yield from labelled("items", f"{' and '.join(contexts)} to the measured preset")
    yield from labelled("embedder", clean(evaluation.config.embedding.model))


def evaluation_lines(results: Results) -> Iterator[str]:
    """Yield the tables: rankings by category, sessions, and what the gates do.

    Under each figure stands its bootstrap 95% interval.
    """
    rankings = {name: ranking_metrics(answers) for name, answers in results.items()}
    categories = dict.fromkeys(name for ranking in rankings.values() for name in ranking)
    if len(categories) == len((ALL, "one category")):
        categories = {ALL: None}
    for category in categories:
        yield ""
        yield from _ranking_table(category, {name: one[category] for name, one in rankings.items()})
    sessions = {name: one for name, answers in results.items() if (one := session_metrics(answers))}
    if sessions:
        yield ""
        yield from _ranking_table("by session", sessions)
    yield ""
    yield from _gate_table(results)
    yield ""
    for name, meaning in _MEANINGS.items():
        yield from labelled(name, meaning)


def _ranking_table(category: str, metrics: Mapping[Pipeline, Metrics]) -> Iterator[str]:
    asked = next(iter(next(iter(metrics.values())).values()))
    size = 0 if asked is None else asked.count
    yield heading(f"{clean(category) or 'without a category'}: {count(size, 'question')}")
    rows = ((name, [one[measure] for measure in MEASURES]) for name, one in metrics.items())
    yield from _table(("", *_HEADINGS), rows)


def _gate_table(results: Results) -> Iterator[str]:
    yield heading("gate: what comes back of needed questions, and what is admitted")
    rows = list(_gate_rows(results))
    told = [at for at in range(len(_GATE)) if any(values[at] for _, values in rows)]
    chosen = ((label, [values[at] for at in told]) for label, values in rows)
    titles = list(_GATE.values())
    yield from _table(("", *(titles[at] for at in told)), chosen)


def _gate_rows(results: Results) -> Iterator[tuple[str, list[Estimate | None]]]:
    for name, answers in results.items():
        metrics = gate_metrics(answers)
        if name == "bm25":
            yield "bm25, no gate", [metrics[one] for one in _GATE]
            continue
        for trigger in TRIGGERS:
            prefix = f"{AUTO} " if trigger == "auto" else ""
            label = f"{name}, {_TRIGGER_NAMES[trigger]}"
            yield label, [metrics[f"{prefix}{one}"] for one in _GATE]


def _table(
    titles: Sequence[str], rows: Iterable[tuple[str, Sequence[Estimate | None]]]
) -> list[str]:
    cells: list[tuple[str, ...]] = []
    for name, values in rows:
        cells.append((name, *("-" if one is None else _number(one.mean, 3) for one in values), ""))
        spans = ("" if one is None else f"{_end(one.low)}-{_end(one.high)}" for one in values)
        cells.append(("", *spans, ""))
    # The last column of a table is aligned left, so an empty one stands there.
    return table((*titles, ""), cells, right=range(1, len(titles)))


def _number(value: float, decimals: int) -> str:
    """Return parts of 1 without their zero, and counts with one decimal."""
    return f"{value:.{decimals}f}".removeprefix("0") if value <= 1 else f"{value:.1f}"


def _end(value: float) -> str:
    return f"{value:g}" if value in (0, 1) else _number(value, 2)
