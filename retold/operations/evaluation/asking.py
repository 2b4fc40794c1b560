"""Ask the questions of every case, each when exactly what it may know is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

import numpy as np

from retold.models import Trigger
from retold.operations.evaluation.cases import Case, Question
from retold.operations.evaluation.metrics import SEED, Seeded, measure
from retold.operations.evaluation.searching import Found, Searched

TRIGGERS: Final[tuple[Trigger, ...]] = get_args(Trigger)
Unneeded = Literal["no_memory", "foreign", "plain"]
"""What a store cannot answer: prompts that need no memory, questions about another store, messages
of the same user that ask for nothing."""
UNNEEDED: Final[tuple[Unneeded, ...]] = get_args(Unneeded)

Said = Callable[[str, float], None]
"""Called with what is being done and the part of it that is done, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of one question that the store can answer.

    ``values`` are those of ``metrics.measure`` for its gold, ``sessions`` the same for the
    sessions of its gold; None where gold names sessions already or the items have none.
    ``returned_recall`` is the part of its gold among what was returned, ``returned`` how much was.
    """

    category: str
    values: tuple[float, ...]
    sessions: tuple[float, ...] | None
    returned: Mapping[Trigger, int]
    returned_recall: Mapping[Trigger, float]
    passed: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Admitted:
    """Whether a question that the store cannot answer found something all the same."""

    kind: Unneeded
    found: Mapping[Trigger, bool]
    passed: tuple[bool, ...]


@dataclass(slots=True)
class Answers:
    """Everything that was asked of one pipeline."""

    asked: list[Asked] = field(default_factory=list)
    admitted: list[Admitted] = field(default_factory=list)


def sampled(
    cases: Sequence[Case], most: int | None, *, seeded: Seeded = np.random.default_rng
) -> list[Case]:
    """Return the cases with at most ``most`` answerable questions and plain messages altogether.

    They are drawn with ``SEED``, whatever the cases hold otherwise; None leaves all. Every item
    stays, so that stores are as full as ever.
    """
    if most is None:
        return list(cases)
    kept = _drawn([(at, one) for at, case in enumerate(cases) for one in case.needed], most, seeded)
    plain = _drawn([(at, one) for at, case in enumerate(cases) for one in case.plain], most, seeded)
    return [
        replace(
            case,
            questions=tuple(one for place, one in kept if place == at),
            plain=tuple(one for place, one in plain if place == at),
        )
        for at, case in enumerate(cases)
    ]


def _drawn(
    rows: list[tuple[int, Question]], most: int, seeded: Seeded
) -> list[tuple[int, Question]]:
    order = seeded(SEED).permutation(len(rows))[:most]
    return [rows[at] for at in sorted(int(place) for place in order)]


def sampled_prompts(
    prompts: Sequence[str], most: int | None, *, seeded: Seeded = np.random.default_rng
) -> list[str]:
    """Return at most ``most`` prompts, drawn with ``SEED``; None leaves all."""
    order = sorted(int(place) for place in seeded(SEED).permutation(len(prompts))[:most])
    return [prompts[at] for at in order]


def foreign_questions(cases: Sequence[Case], at: int) -> tuple[Question, ...]:
    """Return the questions of the next store of the file; none where there is no other."""
    return cases[(at + 1) % len(cases)].needed if len(cases) > 1 else ()


def texts_of(cases: Sequence[Case], prompts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return every text that is searched for, and every text that is stored."""
    queries = [one.text for case in cases for one in (*case.needed, *case.plain)]
    items = [item.text for case in cases for item in case.items if item.text.strip()]
    return [*queries, *prompts], items


def ask_all(
    cases: Sequence[Case],
    prompts: Sequence[str],
    opened: Callable[[Case], Searched],
    said: Said,
) -> Answers:
    """Return what one pipeline makes of the cases; ``opened`` makes an empty store for one."""
    answers = Answers()
    total = sum(
        len(case.needed) + len(case.plain) + len(prompts) + len(foreign_questions(cases, at))
        for at, case in enumerate(cases)
    )
    for at, case in enumerate(cases):
        if not case.items:
            continue
        with closing(opened(case)) as store:
            for one in _case_answers(case, store, prompts, foreign_questions(cases, at)):
                if isinstance(one, Asked):
                    answers.asked.append(one)
                else:
                    answers.admitted.append(one)
                done = len(answers.asked) + len(answers.admitted)
                said(f"{done} of {total} questions", done / total)
    return answers


def _case_answers(
    case: Case, store: Searched, prompts: Sequence[str], foreign: Sequence[Question]
) -> Iterator[Asked | Admitted]:
    """Yield what is asked while the store fills, then what is asked of the full store.

    What the store cannot answer is asked when most of it is there: the full store, at the moment
    of its last question.
    """
    session_of = {item.id: item.session for item in case.items}
    timed: list[tuple[Question, bool]] = [(one, True) for one in case.needed]
    timed += [(one, False) for one in case.plain if one.text.strip()]
    for question, is_needed in sorted(timed, key=lambda pair: pair[0].visible):
        store.fill(question.visible)
        found = _searched(store, question)
        yield _asked(case, question, session_of, found) if is_needed else _admitted("plain", found)
    store.fill(len(case.items))
    latest = max((one.at for one in case.questions), default=max(one.at for one in case.items))
    unneeded: list[tuple[Unneeded, str]] = [("no_memory", text) for text in prompts]
    unneeded += [("foreign", one.text) for one in foreign]
    for kind, text in unneeded:
        asked_last = Question("", text, "", latest, len(case.items), frozenset(), by_session=False)
        yield _admitted(kind, _searched(store, asked_last))


def _searched(store: Searched, question: Question) -> dict[Trigger, Found]:
    return {one: store.search(question.text, question.at, one) for one in TRIGGERS}


def _asked(
    case: Case,
    question: Question,
    session_of: Mapping[str, str],
    found: Mapping[Trigger, Found],
) -> Asked:
    gold, tool = question.gold, found["tool"]
    ranked_sessions = tuple(dict.fromkeys(session_of[item] for item in tool.ranking))
    gold_sessions = {session_of[item] for item in gold if item in session_of}
    of_turns = case.is_turns and not question.by_session and gold_sessions
    return Asked(
        category=question.category,
        values=measure(ranked_sessions if question.by_session else tool.ranking, gold),
        sessions=measure(ranked_sessions, gold_sessions) if of_turns else None,
        returned={trigger: len(one.returned) for trigger, one in found.items()},
        returned_recall={
            trigger: _returned_recall(question, session_of, one) for trigger, one in found.items()
        },
        passed=tool.passed,
    )


def _returned_recall(question: Question, session_of: Mapping[str, str], found: Found) -> float:
    returned = (
        map(session_of.__getitem__, found.returned) if question.by_session else found.returned
    )
    return len(question.gold.intersection(returned)) / len(question.gold)


def _admitted(kind: Unneeded, found: Mapping[Trigger, Found]) -> Admitted:
    there = {trigger: bool(one.returned) for trigger, one in found.items()}
    return Admitted(kind, there, found["tool"].passed)
