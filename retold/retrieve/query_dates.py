"""The dates a query asks about, as intervals of event time; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from retold.text.anchors import Anchors
from retold.text.calendar_words import UNIT_DAYS
from retold.text.dates import NamedDate, Span, day, find_dates
from retold.text.relative_dates import (
    Counted,
    Period,
    find_counted,
    find_near_days,
    find_periods,
    find_weekdays,
    period_span,
)

MAX_DATED_CHARS: Final = 2000
"""A longer query is a pasted page: its dates are what it tells, not what it asks about."""

DAYS_BEFORE_A_DAY: Final = 2
DAYS_AFTER: Final = 7
"""Margins as measured (retrieval_quality.md 2.5): what happened on a day is told a little earlier
or later, what happened in a month a week later at most; a year is exact."""
_SHORT_OF_A_MONTH: Final = 27
_LONGEST_WITH_MARGIN: Final = 92
_SPREAD_DAYS: Final = 3
_SATURDAY: Final = 5
_BEFORE_CHARS: Final = 32
_EVER: Final = Span(date.min, date.max)

_LEADS_TO_MONTH: Final = frozenset(
    """in during since of last by until till from to early late mid before after through
    between and the my our your his her their every each im am ab seit bis vom zum zwischen und ende
    anfang mitte letzten en de del desde hasta entre y au du depuis avant après dès
    et fin début a em do até e no di da dal nel entro fino tra fra van tot sinds tussen в с до за к
    между и""".split()
)
"""Words before a lone month, without which "April" or "May" may be somebody's name."""
_AHEAD: Final = frozenset(
    """next this coming nächsten nächster nächstes diesen dieser dieses kommenden próximo próxima
    este esta ce cet cette prochain prochaine prossimo prossima questo questa volgende deze
    следующий следующем этот этом""".split()
)
"""Words that make a date without a year one of the present or the future."""
_LEADS_TO_SLASHED: Final = frozenset("on since until by am vom bis seit le el il op".split())
_BETWEEN: Final = re.compile(
    r"(?:\bbetween|\bzwischen|\bentre|\btra|\bfra|\btussen|\bмежду|ระหว่าง|在)\s*(?:the )?$",
    re.IGNORECASE,
)
_AND: Final = re.compile(
    r"\s*(?:\band\b|\bund\b|\by\b|\bet\b|\be\b|\ben\b|\bи\b|和|与|與|と|와|과|และ|กับ)\s*(?:the )?",
    re.IGNORECASE,
)
_TO: Final = re.compile(
    r"\s*(?:[-\u2010-\u2015~\u301c]|\bto\b|\buntil\b|\btill\b|\bthrough\b|\bbis\b|\bhasta\b|\bau\b"
    r"|\bà\b|\bal?\b|\baté\b|\bfino a\b|\bt/m\b|\btot\b|\bпо\b|\bдо\b|到|至|から|부터|ถึง)\s*"
    r"(?:the |zum |en |le )?",
    re.IGNORECASE,
)
_SINCE: Final = re.compile(
    r"(?:\bsince|\bseit|\bdepuis|\bdesde|\bsinds|\bdal?|\bс|ตั้งแต่|自从|自)\s*$", re.IGNORECASE
)
_BEFORE: Final = re.compile(r"(?:\bbefore|\bvor|\bavant|\bantes de)\s*$", re.IGNORECASE)
_AFTER: Final = re.compile(r"(?:\bafter|\bnach|\baprès|\bdespués de)\s*$", re.IGNORECASE)
_LAST: Final = re.compile(
    r"(?:\b(?:last|past|previous|letzten?|letzter|vorigen?|vorige|прошл(?:ый|ую|ое))\s*"
    r"|上(?:个|個)?|先週の?|지난\s*(?:주\s*)?)$",
    re.IGNORECASE,
)
_LAST_BEHIND: Final = re.compile(
    r"\s*(?:(?:pasado|pasada|passado|passada|dernier|dernière|scorso|scorsa)\b|ที่แล้ว)",
    re.IGNORECASE,
)
_LAST_WORD: Final = re.compile(r"([^\W\d_]+)\W*$")


@dataclass(frozen=True, slots=True)
class Interval:
    """Event times from ``since`` to before ``until``, both aware; None is no bound."""

    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True)
class QueryDates:
    """The intervals that queries ask about, ascending; empty when they name no date.

    An event lies inside when it lies in any of them.
    """

    intervals: tuple[Interval, ...] = ()

    def __bool__(self) -> bool:
        """Return whether the queries name a date."""
        return bool(self.intervals)


@dataclass(frozen=True, slots=True)
class _Dated:
    """A date between two places of a query and the spans it may mean, ascending, margins aside.

    Without spans it has not come yet.
    """

    start: int
    end: int
    spans: tuple[Span, ...]
    named: NamedDate | None = None


def query_dates(queries: Sequence[str], now: datetime) -> QueryDates:
    """Return the intervals that the queries ask about, as seen at ``now``.

    ``now`` is aware; its zone is the one in which days begin. A date without a year means its
    latest occurrence. Words that name the present or the future from where one stands (today, next
    week, in two days, a bare weekday) tell of plans and mean none, nor does an interval that begins
    after ``now``: measured, 17 of 100 answers to them lie inside, and 86 for the past. Words that
    name a date only by chance ("May", "9/11", "March on") mean none. Never raises for any text.
    """
    zone = now.tzinfo or UTC
    today = now.date()
    spans = {
        _with_margin(span)
        for query in queries
        if len(query) <= MAX_DATED_CHARS
        for span in _spans(query, today)
        if span.first <= today
    }
    return QueryDates(tuple(_interval(span, zone) for span in _united(sorted(spans))))


def in_zone(now: datetime, zone: tzinfo) -> datetime:
    """Return an aware moment in a time zone; as it is where the calendar ends before."""
    try:
        return now.astimezone(zone)
    except OverflowError:
        return now


def _spans(query: str, today: date) -> Iterator[Span]:
    anchors = Anchors(query)
    found = [*_named(anchors, today), *_relative(anchors, today)]
    found.sort(key=lambda one: (one.start, -one.end))
    place = 0
    while place < len(found):
        one = found[place]
        place += 1
        while place < len(found) and found[place].start < one.end:
            place += 1  # the shorter reading of the same words
        joined = place < len(found) and _joined(query, one, found[place])
        if joined:
            place += 1
            yield joined
        else:
            yield from _bounded(query, one)


def _named(anchors: Anchors, today: date) -> Iterator[_Dated]:
    for named in find_dates(anchors, today):
        if _is_meant(anchors.text, named):
            yield _Dated(named.start, named.end, _likely(named, today), named)


def _is_meant(query: str, named: NamedDate) -> bool:
    """Return whether a form that is often something else is a date of the past here."""
    if not named.has_year and _word_before(query, named.start) in _AHEAD:
        return False
    if named.is_slashed and not named.has_year:
        return _word_before(query, named.start) in _LEADS_TO_SLASHED
    return not named.is_word or _word_before(query, named.start) in _LEADS_TO_MONTH


def _likely(named: NamedDate, today: date) -> tuple[Span, ...]:
    """Return what a date means: as written, or its latest occurrence."""
    if named.has_year:
        return named.spans
    begun = [span for span in named.spans if span.first <= today]
    return tuple(begun[-2 if named.is_slashed else -1 :])


def _relative(anchors: Anchors, today: date) -> Iterator[_Dated]:
    for finder in (_near_days, _weekdays, _periods, _counts):
        try:
            yield from (_Dated(start, end, (span,)) for start, end, span in finder(anchors, today))
        except (ValueError, OverflowError):  # beyond the calendar
            continue


_Place = tuple[int, int, Span]


def _near_days(anchors: Anchors, today: date) -> Iterator[_Place]:
    for near in find_near_days(anchors, today):
        if near.span.last < today:
            yield near.start, near.end, near.span


def _periods(anchors: Anchors, today: date) -> Iterator[_Place]:
    for found in find_periods(anchors):
        span = _period(found, today) if found.offset < 0 else None
        if span is not None:
            yield found.start, found.end, span


def _counts(anchors: Anchors, today: date) -> Iterator[_Place]:
    for found in find_counted(anchors):
        if found.direction != "ahead":
            yield found.start, found.end, _counted(found, today)


def _weekdays(anchors: Anchors, today: date) -> Iterator[_Place]:
    """Yield the latest such day before today where the query says that it is past."""
    for found in find_weekdays(anchors):
        before, after = _before(anchors.text, found.start), anchors.text[found.end :]
        if not found.is_plural and (_LAST.search(before) or _LAST_BEHIND.match(after)):
            back = (today.weekday() - found.number - 1) % 7 + 1
            yield found.start, found.end, day(today - timedelta(days=back))


def _period(period: Period, today: date) -> Span | None:
    """Return the days of a period; None for seasons and terms, which begin anywhere."""
    if period.unit not in ("week", "weekend", "fortnight", "month", "quarter", "year"):
        return None
    if period.unit == "fortnight":
        return Span(today - timedelta(days=UNIT_DAYS["fortnight"]), today)
    span = period_span(period.unit, period.offset, today)
    if period.is_rolling:
        return Span(today - timedelta(days=span.days), today)
    if period.unit == "weekend":
        return Span(span.first + timedelta(days=_SATURDAY), span.last)
    return span


def _counted(counted: Counted, today: date) -> Span:
    back = today - timedelta(days=counted.days)
    if counted.direction == "past":
        return Span(back, today)
    slack = timedelta(days=max(_SPREAD_DAYS, counted.days // 4))
    return Span(back - slack, back + slack)


def _joined(query: str, one: _Dated, other: _Dated) -> Span | None:
    """Return the time from one date to the next when the query joins the two."""
    link = query[one.end : other.start]
    is_range = _TO.fullmatch(link) or (
        _AND.fullmatch(link) and _BETWEEN.search(_before(query, one.start))
    )
    if not is_range:
        return None
    firsts, lasts = _same_year(query, one, other), _same_year(query, other, one)
    pairs = [
        Span(first.first, last.last)
        for first in firsts
        for last in lasts
        if first.first <= last.last
    ]
    return min(pairs, key=lambda span: (span.days, -span.first.toordinal()), default=None)


def _same_year(query: str, one: _Dated, other: _Dated) -> tuple[Span, ...]:
    """Return what one of two joined dates may mean, near the other one if only that has a year."""
    if one.named is None or one.named.has_year or other.named is None or not other.named.has_year:
        return one.spans
    again = find_dates(Anchors(query[one.start : one.end]), other.spans[0].first)
    return again[0].spans if again else one.spans


def _bounded(query: str, one: _Dated) -> Iterator[Span]:
    """Yield the spans of one date, open to a side when the query says since, before or after."""
    before = _before(query, one.start)
    if not one.spans:
        return
    if _SINCE.search(before):
        yield Span(one.spans[0].first, _EVER.last)
    elif _AFTER.search(before):
        yield Span(one.spans[0].last, _EVER.last)
    elif _BEFORE.search(before):
        yield Span(_EVER.first, one.spans[0].first)
    else:
        yield from one.spans


def _before(query: str, start: int) -> str:
    return query[max(start - _BEFORE_CHARS, 0) : start]


def _word_before(query: str, start: int) -> str:
    found = _LAST_WORD.search(_before(query, start))
    return "" if found is None else found[1].lower()


def _with_margin(span: Span) -> Span:
    """Widen a span by how loosely people tell when something was."""
    if _EVER.first == span.first or span.last == _EVER.last:
        return span
    if span.days > _LONGEST_WITH_MARGIN:
        return span
    before = DAYS_BEFORE_A_DAY if span.days < _SHORT_OF_A_MONTH else 0
    first = max(span.first.toordinal() - before, _EVER.first.toordinal())
    last = min(span.last.toordinal() + DAYS_AFTER, _EVER.last.toordinal())
    return Span(date.fromordinal(first), date.fromordinal(last))


def _united(spans: Sequence[Span]) -> list[Span]:
    """Return ascending spans with those that touch as one."""
    united: list[Span] = []
    for span in spans:
        if united and span.first.toordinal() <= united[-1].last.toordinal() + 1:
            united[-1] = Span(united[-1].first, max(united[-1].last, span.last))
        else:
            united.append(span)
    return united


def _interval(span: Span, zone: tzinfo) -> Interval:
    """Return the interval from the first day's midnight to the one after the last day."""
    return Interval(
        None if span.first == _EVER.first else _midnight(span.first.toordinal(), zone),
        None if span.last == _EVER.last else _midnight(span.last.toordinal() + 1, zone),
    )


def _midnight(ordinal: int, zone: tzinfo) -> datetime:
    """Return when a day begins, in UTC, at least two days within the calendar."""
    inside = min(max(ordinal, _EVER.first.toordinal() + 2), _EVER.last.toordinal() - 2)
    return datetime.combine(date.fromordinal(inside), time(), zone).astimezone(UTC)
