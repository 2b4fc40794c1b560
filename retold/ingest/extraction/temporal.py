"""Whether a quote speaks of a time, and of which one; pure.

A fixed list: what it misses supports nothing, it is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from retold.policy.tense import is_past
from retold.text.anchors import Anchors
from retold.text.calendar_words import UNIT_DAYS
from retold.text.dates import Span, day, named_dates
from retold.text.relative_dates import (
    find_counted,
    find_near_days,
    find_periods,
    find_weekdays,
    period_span,
)

_OPEN: Final = re.compile(
    r"\b(?:by|until|till|before|at|towards?) (?:the )?end of\b|\bend of (?:the )?(?:day|week|month"
    r"|quarter|year|sprint|semester|term)\b|\b(?:eod|eow|eom|eoy)\b",
    re.IGNORECASE,
)
_SPREAD_DAYS: Final = 3
_SCHEDULING: Final = re.compile(
    r"\b(?:moved|pushed|postponed|delayed|rescheduled|scheduled|booked|planned|decided|agreed|set"
    r"|fixed|arranged|promised|signed up|was told|got|accepted|confirmed|reserved|bought tickets"
    r"|extended|expires?|starts?|begins?|ends?)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL: Final = re.compile(
    r"\b(?:if|might|maybe|perhaps|would|could|wish|suppose|hypothetically|imagine|what if|unless"
    r"|thinking (?:about|of)|considering)\b|如果|也许|可能|もし|かもしれ|만약",
    re.IGNORECASE,
)
_CLAUSES: Final = re.compile(r"[.!?;。！？；]+(?:\s+|$)|, (?=but\b|and\b|so\b)|\b(?:but|because)\b")


@dataclass(frozen=True, slots=True)
class SpokenTimes:
    """The times a quote speaks of: what each may mean, and whether one has no dates of its own."""

    spans: tuple[Span, ...]
    is_open: bool

    def __bool__(self) -> bool:
        """Return whether the quote speaks of any time."""
        return bool(self.spans) or self.is_open

    def covers(self, moment: datetime) -> bool:
        """Return whether a moment lies in one of the times, give or take a day."""
        wanted = day(moment.astimezone(UTC).date())
        return self.is_open or any(span.nears(wanted) for span in self.spans)


def spoken_times(quote: str, said_at: datetime) -> SpokenTimes:
    """Return the times that a quote speaks of, seen from the moment it was said.

    "for now" is none.
    """
    today = said_at.astimezone(UTC).date()
    spans = [span for spans in named_dates(quote, today) for span in spans]
    spans += _guarded(Anchors(quote), today)
    return SpokenTimes(tuple(spans), _OPEN.search(quote) is not None)


def is_plan(quote: str, said_at: datetime) -> bool:
    """Return whether some clause that speaks of a time is neither past nor merely supposed.

    "We moved the release to 19 March" plans although it is in a past tense.
    """
    timed = [clause for clause in _CLAUSES.split(quote) if spoken_times(clause, said_at)]
    return any(
        not _HYPOTHETICAL.search(clause)
        and (not is_past(clause) or _SCHEDULING.search(clause) is not None)
        for clause in timed or [quote]
    )


def unsupported_dates(claim: str, quote: str, said_at: datetime) -> bool:
    """Return whether the claim names a date that neither the quote nor its moment gives.

    A date more precise than what was said is one: "next year" does not give 3 March.
    """
    today = said_at.astimezone(UTC).date()
    said = (*spoken_times(quote, said_at).spans, day(today))
    return any(
        not any(_gives(source, wanted) for wanted in meanings for source in said)
        for meanings in named_dates(claim, today)
    )


def _gives(source: Span, wanted: Span) -> bool:
    """Return whether what was said is at least about as precise as what is claimed."""
    return source.overlaps(wanted) and source.days <= max(wanted.days + 2, UNIT_DAYS["week"])


def _guarded(anchors: Anchors, today: date) -> Iterator[Span]:
    for finder in (_near_days, _weekdays, _periods, _counted):
        try:
            yield from finder(anchors, today)
        except (ValueError, OverflowError):  # beyond the calendar
            continue


def _near_days(anchors: Anchors, today: date) -> Iterator[Span]:
    return (found.span for found in find_near_days(anchors, today))


def _weekdays(anchors: Anchors, today: date) -> Iterator[Span]:
    """Yield the two days before and the two after today that a weekday may mean."""
    for found in find_weekdays(anchors):
        ahead = (found.number - today.weekday()) % 7
        for weeks in (-2, -1, 0, 1):
            yield day(today + timedelta(days=ahead + 7 * weeks))


def _periods(anchors: Anchors, today: date) -> Iterator[Span]:
    for found in find_periods(anchors):
        yield period_span(found.unit, found.offset, today)


def _counted(anchors: Anchors, today: date) -> Iterator[Span]:
    for found in find_counted(anchors):
        days = found.days
        if found.direction == "ahead":
            yield Span(today, today + timedelta(days=days + days // 7 + 1))
            continue
        slack = max(_SPREAD_DAYS, UNIT_DAYS[found.unit])
        back = today - timedelta(days=days)
        yield Span(back - timedelta(days=slack), back + timedelta(days=slack))
