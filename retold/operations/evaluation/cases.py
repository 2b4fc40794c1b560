"""Read evaluation files: conversations or facts in order, with questions about them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from retold.errors import InvalidInput

TIMELESS: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""Stands for an item or a question that has no time."""
LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""Beyond it, what a store adds to a moment may leave the calendar."""
AUTO: Final = "auto"
SESSION: Final = "session"
"""What stands before the names of metrics where a category may stand, so that none is called so."""
_WEEKDAY: Final = re.compile(r"\s*\(\w+\)$")
_FORMATS: Final = (
    "%I:%M %p on %d %B, %Y",
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
)
_NO_MEMORY: Final = "no-memory"

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Item:
    """A turn or a fact; ``session`` is empty where the file names none."""

    id: str
    session: str
    at: datetime
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the items or sessions that answer it, and how many items exist by then.

    ``gold`` is empty for what nothing in the store answers.
    """

    id: str
    text: str = field(repr=False)
    category: str
    at: datetime
    visible: int
    gold: frozenset[str]
    by_session: bool


@dataclass(frozen=True, slots=True)
class Case:
    """One store's worth of items, in the order they were said.

    ``plain`` are messages of the same user that ask for nothing remembered. ``unknown_gold``
    counts the gold that names nothing in the case; it can only be missed.
    """

    id: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]
    is_facts: bool
    plain: tuple[Question, ...] = ()
    unknown_gold: int = 0

    @property
    def has_sessions(self) -> bool:
        """Return whether the items name their sessions."""
        return any(item.session for item in self.items)

    @property
    def is_turns(self) -> bool:
        """Return whether the items are raw turns of conversations, neither facts nor texts."""
        return self.has_sessions and not self.is_facts

    @property
    def needed(self) -> tuple[Question, ...]:
        """Return the questions that something in the store answers."""
        return tuple(question for question in self.questions if question.gold)


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file, one JSON object a line.

    Raises InvalidInput naming the line that is not one, or the file that has none, and OSError.
    """
    return _read(path, "case", _case)


def read_prompts(path: Path) -> list[str]:
    """Return the texts of a file of prompts that no memory can help, one JSON object a line.

    Raises as ``read_cases``.
    """
    return _read(path, "prompt", _prompt)


def find_prompts(data: Path) -> Path | None:
    """Return the file of prompts beside a file of cases; None where there is none.

    Its name begins with ``no-memory``; of several the one with the same last word is taken, as
    ``no-memory-dev.jsonl`` beside ``locomo-facts-dev.jsonl``, else the first.
    """
    beside = sorted(data.parent.glob(f"{_NO_MEMORY}*.jsonl"))
    last = data.stem.rpartition("-")[2]
    alike = [path for path in beside if path.stem.rpartition("-")[2] == last]
    return next(iter((*alike, *beside)), None)


def parse_time(text: str) -> datetime:
    """Return a moment in UTC from the formats of the files; blank is ``TIMELESS``.

    Raises ValueError for any other text, and for what lies beyond ``LATEST``.
    """
    plain = _WEEKDAY.sub("", text.strip())
    moment = _moment(plain) if plain else TIMELESS
    if moment > LATEST:
        raise ValueError(f"a time lies beyond the year {LATEST.year}")
    return moment


def _moment(plain: str) -> datetime:
    for form in _FORMATS:
        try:
            return datetime.strptime(plain, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        moment = datetime.fromisoformat(plain)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("a time is in no known form") from None


def _read(path: Path, what: str, made: Callable[[Any], _Row]) -> list[_Row]:
    rows = []
    for number, line in _lines(path):
        try:
            rows.append(made(json.loads(line)))
        except (json.JSONDecodeError, RecursionError):
            raise InvalidInput(f"{path.name} line {number} is no JSON") from None
        except KeyError as missing:
            raise InvalidInput(
                f"{path.name} line {number} is no {what}: it has no {missing}"
            ) from None
        except (AttributeError, TypeError, ValueError) as wrong:
            reason = str(wrong) if type(wrong) is ValueError else "a value has a wrong type"
            raise InvalidInput(f"{path.name} line {number} is no {what}: {reason}") from None
    if not rows:
        raise InvalidInput(f"{path.name} holds no {what}")
    return rows


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, with their numbers. Raises InvalidInput."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                text = line.decode("utf-8-sig")
            except UnicodeDecodeError:
                raise InvalidInput(f"{path.name} line {number} is not UTF-8") from None
            if text.strip():
                yield number, text


def _case(row: dict[str, Any]) -> Case:
    turns = row["turns"]
    items = tuple(
        Item(
            str(turn["id"]),
            str(turn.get("session") or ""),
            parse_time(turn.get("time") or ""),
            _text(turn),
        )
        for turn in turns
    )
    ids = {item.id for item in items}
    if len(ids) < len(items):
        raise ValueError("two turns have one id")
    questions = tuple(_question(one, len(items)) for one in row["questions"])
    if any(one.gold and not one.text.strip() for one in questions):
        raise ValueError("a question is blank")
    known = ids | {item.session for item in items}
    return Case(
        id=str(row["id"]),
        items=items,
        questions=questions,
        # Facts name the turns they come from; turns come from nowhere.
        is_facts=bool(turns) and "evidence" in turns[0],
        # A message that asks for nothing has no answer, whether its line says so or not.
        plain=tuple(_question({"gold": []} | one, len(items)) for one in row.get("plain", ())),
        unknown_gold=sum(len(one.gold - known) for one in questions),
    )


def _question(row: dict[str, Any], count: int) -> Question:
    sessions: list[str] = row.get("gold_sessions") or []
    by_session = bool(sessions) and not row.get("gold")
    answers = sessions if by_session else row["gold"]
    if not isinstance(answers, list):
        raise TypeError
    gold = frozenset(map(str, answers))
    category = str(row.get("category") or "")
    if category in (AUTO, SESSION):
        raise ValueError(f"a category is called {category!r}, as some metrics are; rename it")
    visible = row.get("visible", count)
    if not isinstance(visible, int) or not 0 <= visible <= count:
        raise ValueError(f"a question sees {visible!r} of {count} turns")
    return Question(
        id=str(row["id"]),
        text=_text(row),
        category=category,
        at=parse_time(row.get("time") or ""),
        visible=visible,
        gold=gold,
        by_session=by_session,
    )


def _prompt(row: dict[str, Any]) -> str:
    text = _text(row)
    if not text.strip():
        raise ValueError("it is blank")
    return text


def _text(row: dict[str, Any]) -> str:
    text = row["text"]
    if not isinstance(text, str):
        raise TypeError
    return text
