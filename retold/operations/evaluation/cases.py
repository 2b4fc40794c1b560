"""Read evaluation files: conversations or facts in order, with questions about them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

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
_TIME_ADVICE: Final = (
    "write 2026-01-05, 2026-01-05T13:56:00+00:00 or 1:56 pm on 5 January, 2026, up to the year "
    f"{LATEST.year}"
)
_SHAPES: Final = {
    "case": "one conversation with `id`, `turns` and `questions`",
    "prompt": 'such as {"text": "Write a poem about rain."}',
}
"""What a line of each sort of file holds."""

_Row = TypeVar("_Row")


class _Wrong(Exception):
    """A field of a line that cannot be taken: its path in the line, and what it should be."""

    def __init__(self, path: str, advice: str) -> None:
        super().__init__(f"{f'`{path}`' if path else 'it'} {advice}")
        self.is_inner = "[" in path


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

    Raises InvalidInput naming the line that is not one, its field and what that should be, or the
    file that has none, and OSError.
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


def _read(path: Path, what: str, made: Callable[[object], _Row]) -> list[_Row]:
    rows = []
    for number, line in _lines(path):
        place = f"{path.name} line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            advice = f"each line is a JSON object of its own, {_SHAPES[what]}"
            raise InvalidInput(f"{place} is no JSON; {advice}") from None
        try:
            rows.append(made(row))
        except _Wrong as wrong:
            shape = "" if wrong.is_inner else f"; a line is {_SHAPES[what]}"
            raise InvalidInput(f"{place} is no {what}: {wrong}{shape}") from None
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


def _case(line: object) -> Case:
    row = _object(line, "")
    turns = [_object(one, path) for path, one in _entries(row, "turns")]
    items = tuple(_item(one, f"turns[{at}]") for at, one in enumerate(turns))
    first: dict[str, int] = {}
    for at, item in enumerate(items):
        if first.setdefault(item.id, at) != at:
            raise _Wrong(f"turns[{at}].id", f"is that of turns[{first[item.id]}] too")
    questions = tuple(_question(one, path, len(items)) for path, one in _entries(row, "questions"))
    _require_findable(items, questions)
    known = first.keys() | {item.session for item in items}
    return Case(
        id=_name(row, "id", ""),
        items=items,
        questions=questions,
        # Facts name the turns they come from; turns come from nowhere.
        is_facts=bool(turns) and "evidence" in turns[0],
        # A message that asks for nothing has no answer, whether its line says so or not.
        plain=tuple(
            _question({"gold": []} | _object(one, path), path, len(items))
            for path, one in (_entries(row, "plain") if row.get("plain") else ())
        ),
        unknown_gold=sum(len(one.gold - known) for one in questions),
    )


def _item(turn: Mapping[str, object], path: str) -> Item:
    return Item(
        _name(turn, "id", path),
        _optional_name(turn, "session", path),
        _time(turn, path),
        _text(turn, path),
    )


def _require_findable(items: tuple[Item, ...], questions: tuple[Question, ...]) -> None:
    """Refuse a blank question that has an answer, and an answer that is blank."""
    asked = frozenset[str]().union(*(one.gold for one in questions if not one.by_session))
    for at, item in enumerate(items):
        if item.id in asked and not item.text.strip():
            raise _Wrong(f"turns[{at}].text", "is blank, and a question has it for an answer")
    for at, one in enumerate(questions):
        if one.gold and not one.text.strip():
            raise _Wrong(f"questions[{at}].text", "is blank")


def _question(value: object, path: str, count: int) -> Question:
    row = _object(value, path)
    by_session = bool(row.get("gold_sessions")) and not row.get("gold")
    answers = _entries(row, "gold_sessions" if by_session else "gold", at=path)
    category = _optional_name(row, "category", path)
    if category in (AUTO, SESSION):
        advice = f"is called {category!r}, as some metrics are; rename it"
        raise _Wrong(f"{path}.category", advice)
    visible = row.get("visible", count)
    if type(visible) is not int or not 0 <= visible <= count:
        raise _Wrong(
            f"{path}.visible", f"is no whole number from 0 to {count}, the turns there are"
        )
    return Question(
        id=_name(row, "id", path),
        text=_text(row, path),
        category=category,
        at=_time(row, path),
        visible=visible,
        gold=frozenset(_named(one, where) for where, one in answers),
        by_session=by_session,
    )


def _prompt(line: object) -> str:
    text = _text(_object(line, ""), "")
    if not text.strip():
        raise _Wrong("text", "is blank")
    return text


def _object(value: object, path: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _Wrong(path, "is no JSON object")
    return value


def _entries(row: Mapping[str, object], name: str, *, at: str = "") -> list[tuple[str, object]]:
    """Return the entries of a list with the path of each."""
    path = _path(at, name)
    value = _present(row, name, path)
    if not isinstance(value, list):
        raise _Wrong(path, "is no list")
    return [(f"{path}[{place}]", one) for place, one in enumerate(value)]


def _text(row: Mapping[str, object], at: str) -> str:
    path = _path(at, "text")
    value = _present(row, "text", path)
    if not isinstance(value, str):
        raise _Wrong(path, "is no text; write it in quotes")
    return value


def _name(row: Mapping[str, object], name: str, at: str) -> str:
    path = _path(at, name)
    return _named(_present(row, name, path), path)


def _optional_name(row: Mapping[str, object], name: str, at: str) -> str:
    value = row.get(name)
    return "" if value is None else _named(value, _path(at, name))


def _named(value: object, path: str) -> str:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise _Wrong(path, "is neither a text nor a whole number")
    return str(value)


def _time(row: Mapping[str, object], at: str) -> datetime:
    value = row.get("time")
    if value is None:
        return TIMELESS
    try:
        if isinstance(value, str):
            return parse_time(value)
    except ValueError:
        pass
    raise _Wrong(_path(at, "time"), f"is no time; {_TIME_ADVICE}")


def _present(row: Mapping[str, object], name: str, path: str) -> object:
    if row.get(name) is None:
        raise _Wrong(path, "is missing")
    return row[name]


def _path(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
