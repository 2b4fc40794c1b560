"""The days, weekdays and periods that a text names by their distance from today; pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from retold.text.anchors import NUMBER, Anchors, any_of, first_words
from retold.text.calendar_words import (
    AGO_AFTER,
    AGO_BEFORE,
    AGO_UNSPACED,
    COUNTS,
    DAYS_NEAR,
    PERIODS,
    UNIT_DAYS,
    UNITS,
    WEEKDAYS,
)
from retold.text.dates import Span, day, month

Direction = Literal["ahead", "ago", "past"]

_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(word for word in COUNTS if word.isascii())})"
_UNIT: Final = rf"(?P<unit>{'|'.join(UNIT_DAYS)})s?\b"
_AHEAD: Final = re.compile(
    rf"\b(?:in|within|for|after|over|during)(?: the)?(?: next| coming| about| another)? {_COUNT}"
    rf"(?: of)?[ -]{_UNIT}|\b{_COUNT.replace('count', 'later')}(?: of)?"
    rf" {_UNIT.replace('unit', 'later_unit')} from now",
    re.IGNORECASE,
)
_AGO: Final = re.compile(
    rf"\b{_COUNT}(?: of)? {_UNIT} (?:ago|back|earlier|before)\b", re.IGNORECASE
)
_PAST: Final = re.compile(
    rf"\b(?:for|over|in|within|during)(?: the)? (?:last|past) {_COUNT}(?: of)? {_UNIT}",
    re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    r"\b(?P<which>next|this|last|coming|past|previous|upcoming) "
    r"(?P<period>day|week|weekend|fortnight|month|quarter|year|semester|term|sprint|spring|summer"
    r"|autumn|fall|winter)\b",
    re.IGNORECASE,
)


_BEFORE: Final = r"(?<![^\W\d_])"
_AFTER: Final = r"(?![^\W\d_])"
_WEEKDAY: Final = re.compile(
    rf"{_BEFORE}(?:{any_of(WEEKDAYS, unspaced=False)})s?{_AFTER}", re.IGNORECASE
)
_UNSPACED_WEEKDAY: Final = re.compile(any_of(WEEKDAYS, unspaced=True))
_NEAR: Final = re.compile(
    rf"{_BEFORE}(?:{any_of(DAYS_NEAR, unspaced=False)}){_AFTER}", re.IGNORECASE
)
_UNSPACED_NEAR: Final = re.compile(any_of(DAYS_NEAR, unspaced=True))
_FOREIGN_PERIOD: Final = re.compile(any_of(PERIODS, unspaced=False), re.IGNORECASE)
_UNSPACED_PERIOD: Final = re.compile(any_of(PERIODS, unspaced=True))

_WEEKDAY_BEGINS: Final = first_words((*WEEKDAYS, *(f"{name}s" for name in WEEKDAYS)))
_NEAR_BEGINS: Final = first_words(DAYS_NEAR)
_PERIOD_BEGINS: Final = frozenset("next this last coming past previous upcoming".split())
_FOREIGN_PERIOD_BEGINS: Final = first_words(PERIODS)
_COUNT_BEGINS: Final = frozenset({NUMBER, *COUNTS})
_AHEAD_BEGINS: Final = _COUNT_BEGINS | {"in", "within", "for", "after", "over", "during"}
_PAST_BEGINS: Final = frozenset("for over in within during".split())


def _gone_by(edge: str, before: str, after: str, *, unspaced: bool) -> re.Pattern[str]:
    """Return a pattern of a count and its unit with words before or after it."""
    counts = any_of(COUNTS, unspaced=unspaced)
    units = any_of(UNITS, unspaced=unspaced)
    body = rf"(?P<count>\d{{1,3}}|{counts}) ?(?P<unit>{units})"
    return re.compile(f"{edge}{before}{body}{after}", re.IGNORECASE)


_AGO_BEFORE, _AGO_AFTER, _UNSPACED_AGO = (
    _gone_by(_BEFORE, f"(?:{'|'.join(AGO_BEFORE)}) ", _AFTER, unspaced=False),
    _gone_by(_BEFORE, "", f" (?:{'|'.join(AGO_AFTER)}){_AFTER}", unspaced=False),
    _gone_by("", "", f" ?(?:{'|'.join(AGO_UNSPACED)})", unspaced=True),
)
_AGO_BEFORE_BEGINS: Final = first_words(AGO_BEFORE)
_UNIT_WORDS: Final = UNIT_DAYS.keys() | {f"{unit}s" for unit in UNIT_DAYS}
_FOREIGN_UNIT_WORDS: Final = first_words(UNITS)


@dataclass(frozen=True, slots=True)
class NearDay:
    """A day near today, named between two places of a text."""

    start: int
    end: int
    span: Span


@dataclass(frozen=True, slots=True)
class Weekday:
    """A day of the week, Monday 0; ``is_plural`` is a habit rather than a day."""

    start: int
    end: int
    number: int
    is_plural: bool


@dataclass(frozen=True, slots=True)
class Period:
    """A unit such as week or summer and how many of it lie between it and the present one.

    ``is_rolling`` is "the past week": the one that ends today.
    """

    start: int
    end: int
    unit: str
    offset: int
    is_rolling: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """A number of days: a moment ``ahead`` or ``ago``, or all of the ``past`` ones until today."""

    start: int
    end: int
    direction: Direction
    days: int
    unit: str


def find_near_days(anchors: Anchors, today: date) -> Iterator[NearDay]:
    """Yield "yesterday" and its like. Raises OverflowError beyond the calendar."""
    for found in _found(anchors, _NEAR, _NEAR_BEGINS, _UNSPACED_NEAR):
        offset = DAYS_NEAR[found[0].casefold()]
        yield NearDay(found.start(), found.end(), day(today + timedelta(days=offset)))


def find_weekdays(anchors: Anchors) -> Iterator[Weekday]:
    """Yield the days of the week that the text names."""
    for found in _found(anchors, _WEEKDAY, _WEEKDAY_BEGINS, _UNSPACED_WEEKDAY):
        name = found[0].casefold()
        known = name in WEEKDAYS
        number = WEEKDAYS[name if known else name.removesuffix("s")]
        yield Weekday(found.start(), found.end(), number, not known)


def find_periods(anchors: Anchors) -> Iterator[Period]:
    """Yield "last week", "this month" and their like."""
    offsets = {"next": 1, "coming": 1, "upcoming": 1, "this": 0}
    for found in anchors.matches(_PERIOD, _PERIOD_BEGINS):
        which, unit = found["which"].casefold(), found["period"].casefold()
        offset, rolling = offsets.get(which, -1), which == "past"
        yield Period(found.start(), found.end(), unit, offset, rolling)
    for found in _found(anchors, _FOREIGN_PERIOD, _FOREIGN_PERIOD_BEGINS, _UNSPACED_PERIOD):
        yield Period(found.start(), found.end(), *PERIODS[found[0].casefold()])


def period_span(unit: str, offset: int, today: date) -> Span:
    """Return the days of a period; a season or term is half a year around its distance.

    Raises ValueError or OverflowError beyond the calendar.
    """
    if unit in ("day", "week", "weekend"):
        monday = today - timedelta(days=today.weekday()) + timedelta(days=7 * offset)
        return Span(monday, monday + timedelta(days=6))
    if unit == "month":
        index = today.year * 12 + today.month - 1 + offset
        return month(index // 12, index % 12 + 1)
    if unit == "year":
        return Span(date(today.year + offset, 1, 1), date(today.year + offset, 12, 31))
    if unit == "quarter":
        index = today.year * 4 + (today.month - 1) // 3 + offset
        last = index % 4 * 3 + 3
        return Span(month(index // 4, last - 2).first, month(index // 4, last).last)
    around = today + timedelta(days=183 * offset)
    return Span(around - timedelta(days=183), around + timedelta(days=183))


def find_counted(anchors: Anchors) -> Iterator[Counted]:
    """Yield "in two weeks", "three years ago", "over the past month" and their like."""
    if anchors.has_any(_UNIT_WORDS):
        for found in anchors.matches(_AHEAD, _AHEAD_BEGINS):
            count, unit = found["count"] or found["later"], found["unit"] or found["later_unit"]
            yield _counted(found, "ahead", count, unit.casefold())
        for found in anchors.matches(_AGO, _COUNT_BEGINS):
            yield _counted(found, "ago", found["count"], found["unit"].casefold())
        for found in anchors.matches(_PAST, _PAST_BEGINS):
            yield _counted(found, "past", found["count"], found["unit"].casefold())
    for found in _foreign_ago(anchors):
        yield _counted(found, "ago", found["count"], UNITS[found["unit"].casefold()])


def _foreign_ago(anchors: Anchors) -> Iterator[re.Match[str]]:
    if anchors.has_any(_FOREIGN_UNIT_WORDS):
        yield from anchors.matches(_AGO_BEFORE, _AGO_BEFORE_BEGINS)
        yield from anchors.matches(_AGO_AFTER, _COUNT_BEGINS)
    if anchors.has_unspaced and any(word in anchors.text for word in AGO_UNSPACED):
        yield from _UNSPACED_AGO.finditer(anchors.text)


def _found(
    anchors: Anchors, spaced: re.Pattern[str], begins: Collection[str], unspaced: re.Pattern[str]
) -> Iterator[re.Match[str]]:
    """Yield what is written with spaces, then what is written without."""
    yield from anchors.matches(spaced, begins)
    if anchors.has_unspaced:
        yield from unspaced.finditer(anchors.text)


def _counted(found: re.Match[str], direction: Direction, count: str, unit: str) -> Counted:
    number = int(count) if count.isdecimal() else COUNTS[count.casefold()]
    return Counted(found.start(), found.end(), direction, number * UNIT_DAYS[unit], unit)
