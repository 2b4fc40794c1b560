"""Every time that a text names, with its place and what it may mean; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from retold.text.anchors import Anchors, Taken
from retold.text.calendar_words import UNIT_DAYS
from retold.text.dates import NamedDate, Span, day, find_dates, month
from retold.text.landmarks import find_landmarks, nearest
from retold.text.relative_dates import (
    Counted,
    find_counted,
    find_near_days,
    find_periods,
    find_weekdays,
    period_span,
)

_SPREAD_DAYS: Final = 3
_SLACK_DAYS: Final = 2
_WEEKS_APART_DAYS: Final = 4
"""What is said to be some weeks away is so by half a week more or less: no day is fixed."""
_BEFORE_CHARS: Final = 12
_NEXT: Final = re.compile(
    r"(?:next|following|coming|nächste[nrm]?|próximo|prochain|下|来) ?$", re.I
)
_HABIT: Final = re.compile(
    r"(?:every|each|jeden|jede|cada|todos los|tous les|chaque|ogni|每|毎) ?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """Words between two places of a text that name a time.

    ``spans`` are the days they may mean at most. ``fixed`` are those that they are commonly
    counted out as, about as exact as they are said; none for a habit such as "every Friday".
    """

    start: int
    end: int
    spans: tuple[Span, ...]
    fixed: tuple[Span, ...]

    def gives(self, wanted: Span) -> bool:
        """Return whether these words mean a date that is no more exact than they are."""
        return any(
            source.overlaps(wanted)
            and source.days <= max(wanted.days + _SLACK_DAYS, UNIT_DAYS["week"])
            for source in self.fixed
        )


def time_phrases(text: str, said_on: date) -> tuple[TimePhrase, ...]:
    """Return the times a text names, seen from the day it was said, in no order.

    What lies beyond the calendar is left out. "For now" names none.
    """
    anchors = Anchors(text)
    dates = tuple(_named(named, said_on) for named in find_dates(anchors, said_on))
    found, taken = list(dates), Taken(text)
    for known in dates:
        taken.take(known.start, known.end)
    for finder in (_near_days, _weekdays, _periods, _counted, _landmarks):
        try:
            found.extend(
                one for one in finder(anchors, said_on) if not taken.meets(one.start, one.end)
            )
        except (ValueError, OverflowError):  # beyond the calendar
            continue
    return tuple(found)


def _named(named: NamedDate, said_on: date) -> TimePhrase:
    """Return a date; without a year it is the latest such date, the present one or the next."""
    fixed = named.spans
    if not named.has_year:
        fixed = nearest(named.spans, said_on)
        if named.is_slashed:
            fixed = named.spans
    return TimePhrase(named.start, named.end, named.spans, fixed)


def _near_days(anchors: Anchors, said_on: date) -> Iterator[TimePhrase]:
    for found in find_near_days(anchors, said_on):
        yield TimePhrase(found.start, found.end, (found.span,), (found.span,))


def _weekdays(anchors: Anchors, said_on: date) -> Iterator[TimePhrase]:
    """Yield for a weekday the two such days before and the two after today."""
    for found in find_weekdays(anchors):
        before = anchors.text[max(found.start - _BEFORE_CHARS, 0) : found.start]
        ahead = (found.number - said_on.weekday()) % 7
        days = {weeks: day(said_on + timedelta(ahead + 7 * weeks)) for weeks in (-2, -1, 0, 1)}
        fixed = [days[-1], days[0]]
        if ahead == 0 or _NEXT.search(before):
            fixed.append(days[1])
        if found.is_plural or _HABIT.search(before):
            fixed = []
        yield TimePhrase(found.start, found.end, tuple(days.values()), tuple(fixed))


def _periods(anchors: Anchors, said_on: date) -> Iterator[TimePhrase]:
    for found in find_periods(anchors):
        span = period_span(found.unit, found.offset, said_on)
        yield TimePhrase(found.start, found.end, (span,), (span,))


def _counted(anchors: Anchors, said_on: date) -> Iterator[TimePhrase]:
    for found in find_counted(anchors):
        days = found.days
        slack = max(_SPREAD_DAYS, UNIT_DAYS[found.unit])
        back = said_on - timedelta(days=days)
        span = (
            Span(said_on, said_on + timedelta(days=days + days // 7 + 1))
            if found.direction == "ahead"
            else Span(back - timedelta(days=slack), back + timedelta(days=slack))
        )
        yield TimePhrase(found.start, found.end, (span,), (_counted_out(found, said_on),))


def _counted_out(found: Counted, said_on: date) -> Span:
    """Return the day, month or year that lies a number of them away; of weeks, the days around."""
    count = found.days // UNIT_DAYS[found.unit]
    offset = count if found.direction == "ahead" else -count
    if found.unit in ("month", "year"):
        return period_span(found.unit, offset, said_on)
    if found.unit == "quarter":
        index = said_on.year * 12 + said_on.month - 1 + 3 * offset
        return month(index // 12, index % 12 + 1)
    there = said_on + timedelta(days=offset * UNIT_DAYS[found.unit])
    spread = timedelta(days=0 if found.unit == "day" else _WEEKS_APART_DAYS)
    return Span(there - spread, there + spread)


def _landmarks(anchors: Anchors, said_on: date) -> Iterator[TimePhrase]:
    for found in find_landmarks(anchors.text, said_on):
        yield TimePhrase(found.start, found.end, found.spans, found.spans)
