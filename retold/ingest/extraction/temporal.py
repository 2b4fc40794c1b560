"""Whether a quote speaks of a time, and of which one; pure.

A fixed list: what it misses supports nothing, it is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from retold.ingest.extraction.calendar_words import DAYS_NEAR, PERIODS, WEEKDAYS
from retold.ingest.extraction.dates import Span, day, month, named_dates
from retold.policy.tense import is_past

_UNITS: Final = {"day": 1, "week": 7, "fortnight": 14, "month": 31, "quarter": 92, "year": 366}
_COUNTS: Final = (
    "a an one two three four five six seven eight nine ten eleven twelve couple few".split()
)
_VALUES: Final = dict(
    zip(_COUNTS, (1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 2, 5), strict=True)
)
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)})(?: of)?"
_UNIT: Final = rf"(?P<unit>{'|'.join(_UNITS)})s?\b"
_AHEAD: Final = re.compile(
    rf"\b(?:in|within|for|after|over|during)(?: the)?(?: next| coming| about| another)? {_COUNT}"
    rf"[ -]{_UNIT}|\b{_COUNT.replace('count', 'later')} {_UNIT.replace('unit', 'later_unit')}"
    r" from now",
    re.IGNORECASE,
)
_AGO: Final = re.compile(
    rf"\b{_COUNT} {_UNIT} (?:ago|back|earlier|before)\b"
    rf"|\b(?:for|over|in)(?: the)? (?:last|past) {_COUNT.replace('count', 'past')}"
    rf" {_UNIT.replace('unit', 'past_unit')}",
    re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    r"\b(?P<which>next|this|last|coming|past|previous|upcoming) "
    r"(?P<period>day|week|weekend|fortnight|month|quarter|year|semester|term|sprint|spring|summer"
    r"|autumn|fall|winter)\b",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:by|until|till|before|at|towards?) (?:the )?end of\b|\bend of (?:the )?(?:day|week|month"
    r"|quarter|year|sprint|semester|term)\b|\b(?:eod|eow|eom|eoy)\b",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(
    r"(?<![^\W\d_])(?:"
    + "|".join(name for name in WEEKDAYS if name.isascii() or name[0].isascii())
    + r")s?(?![^\W\d_])|"
    + "|".join(name for name in WEEKDAYS if not name[0].isascii()),
    re.IGNORECASE,
)
_NEAR: Final = re.compile(
    r"(?<![^\W\d_])(?:"
    + "|".join(name for name in DAYS_NEAR if ord(name[0]) < ord("\u0250"))
    + r")(?![^\W\d_])|"
    + "|".join(name for name in DAYS_NEAR if ord(name[0]) >= ord("\u0250")),
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
    spans += _guarded(quote, today)
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
    return source.overlaps(wanted) and source.days <= max(wanted.days + 2, _UNITS["week"])


def _guarded(quote: str, today: date) -> Iterator[Span]:
    for finder in (_near_days, _weekdays, _periods, _counted):
        try:
            yield from finder(quote, today)
        except (ValueError, OverflowError):  # beyond the calendar
            continue


def _near_days(quote: str, today: date) -> Iterator[Span]:
    for found in _NEAR.finditer(quote):
        yield day(today + timedelta(days=DAYS_NEAR[found[0].lower()]))


def _weekdays(quote: str, today: date) -> Iterator[Span]:
    """Yield the two days before and the two after today that a weekday may mean."""
    for found in _WEEKDAY.finditer(quote):
        name = found[0].lower()
        number = WEEKDAYS[name] if name in WEEKDAYS else WEEKDAYS[name.removesuffix("s")]
        ahead = (number - today.weekday()) % 7
        for weeks in (-2, -1, 0, 1):
            yield day(today + timedelta(days=ahead + 7 * weeks))


def _periods(quote: str, today: date) -> Iterator[Span]:
    for found in _PERIOD.finditer(quote):
        offset = {"next": 1, "coming": 1, "upcoming": 1, "this": 0}.get(found["which"].lower(), -1)
        yield _period(found["period"].lower(), offset, today)
    folded = quote.lower()
    for phrase, (unit, offset) in PERIODS.items():
        if phrase in folded:
            yield _period(unit, offset, today)


def _period(unit: str, offset: int, today: date) -> Span:
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


def _counted(quote: str, today: date) -> Iterator[Span]:
    for found in _AHEAD.finditer(quote):
        days = _days(found["count"] or found["later"], found["unit"] or found["later_unit"])
        yield Span(today, today + timedelta(days=days + days // 7 + 1))
    for found in _AGO.finditer(quote):
        count = found["count"] or found["past"]
        unit = (found["unit"] or found["past_unit"]).lower()
        days = _days(count, unit)
        slack = max(_SPREAD_DAYS, _UNITS[unit])
        back = today - timedelta(days=days)
        yield Span(back - timedelta(days=slack), back + timedelta(days=slack))


def _days(count: str, unit: str) -> int:
    number = int(count) if count.isdecimal() else _VALUES[count.lower()]
    return number * _UNITS[unit.lower()]
