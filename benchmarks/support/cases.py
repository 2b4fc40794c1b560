"""Read evaluation files: conversations or facts in order, with questions about them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TIMELESS = datetime(2026, 1, 1, tzinfo=UTC)
"""Stands for an item or a question that has no time."""
_WEEKDAY = re.compile(r"\s*\(\w+\)$")
_FORMATS = ("%I:%M %p on %d %B, %Y", "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")


@dataclass(frozen=True, slots=True)
class Item:
    """A turn or a fact."""

    id: str
    session: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the items or sessions that answer it, and how many items exist by then."""

    id: str
    text: str
    category: str
    at: datetime
    visible: int
    gold: frozenset[str]
    by_session: bool


@dataclass(frozen=True, slots=True)
class Case:
    """One store's worth of items, in the order they were said."""

    id: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    is_facts: bool


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file. Raises ValueError naming the line that is not one."""
    cases = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    cases.append(_case(json.loads(line)))
                except (KeyError, TypeError, ValueError) as error:
                    raise ValueError(f"{path.name} line {number} is no case: {error}") from error
    return cases


def parse_time(text: str) -> datetime:
    """Return a moment in UTC from the formats of the files; blank is ``TIMELESS``."""
    plain = _WEEKDAY.sub("", text.strip())
    if not plain:
        return TIMELESS
    for form in _FORMATS:
        try:
            return datetime.strptime(plain, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    moment = datetime.fromisoformat(plain)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _case(row: dict[str, Any]) -> Case:
    turns = row["turns"]
    items = tuple(
        Item(turn["id"], turn.get("session", ""), parse_time(turn.get("time", "")), turn["text"])
        for turn in turns
    )
    return Case(
        id=str(row["id"]),
        items=items,
        questions=tuple(_question(question, len(items)) for question in row["questions"]),
        # Facts name the turns they come from; turns come from nowhere.
        is_facts=bool(turns) and "evidence" in turns[0],
    )


def _question(row: dict[str, Any], count: int) -> Question:
    sessions: list[str] = row.get("gold_sessions") or []
    by_session = bool(sessions) and not row.get("gold")
    return Question(
        id=str(row["id"]),
        text=row["text"],
        category=str(row.get("category", "")),
        at=parse_time(row.get("time") or ""),
        visible=row.get("visible", count),
        gold=frozenset(sessions if by_session else row["gold"]),
        by_session=by_session,
    )
