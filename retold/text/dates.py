"""The dates a text names outright, as spans of days; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from retold.text.anchors import NUMBER, Anchors, Taken
from retold.text.calendar_words import AMBIGUOUS_MONTHS, MONTHS

_NAMES: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_MONTH: Final = rf"(?<![^\W\d_])(?P<month>{_NAMES})(?![^\W\d_])\.?"
_DAY: Final = r"(?<![\d.:/-])(?P<day>\d{1,2})(?!\d)(?:st|nd|rd|th|er|\.|º|ª)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_OF: Final = r"(?:,? (?:of |de |del |d'|the )?)"
_TO: Final = r"(?: ?[-\u2010-\u2015~] ?| (?:to|and|till|until|bis|und|al?|au|et|y|e|t/m|tot|по) )"
_FIRST_DAY: Final = _DAY.replace("day", "first_day") + _TO
_LAST_DAY: Final = _DAY.replace("day", "last_day").removeprefix(r"(?<![\d.:/-])")

_NUMBERS: Final = frozenset({NUMBER})
_FORMS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), begins)
    for pattern, begins in (
        (r"(?<!\d)(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", _NUMBERS),
        (
            r"(?:(?P<year>\d{4})\s*[年년]\s*)?(?<!\d)(?P<month>\d{1,2})\s*[月월]"
            r"(?:\s*(?P<day>\d{1,2})\s*[日号號일])?",
            _NUMBERS,
        ),
        (r"(?<!\d)(?P<year>(?:19|20)\d\d)\s*[年년](?!\s*\d)", _NUMBERS),
        (rf"{_FIRST_DAY}{_LAST_DAY}{_OF}{_MONTH}(?:{_OF}{_YEAR})?", _NUMBERS),
        (rf"{_MONTH}{_OF}{_FIRST_DAY}{_LAST_DAY}(?:{_OF}{_YEAR})?", MONTHS.keys()),
        (rf"{_DAY}{_OF}{_MONTH}(?:{_OF}{_YEAR})?", _NUMBERS),
        (rf"{_MONTH}{_OF}{_DAY}(?:{_OF}{_YEAR})?", MONTHS.keys()),
        (rf"{_MONTH}{_OF}{_YEAR}", MONTHS.keys()),
        (r"(?<!\d)(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])(?![\d-])", _NUMBERS),
        (r"\bq(?P<quarter>[1-4])(?:[ /-]*(?P<year>(?:19|20)\d\d))?\b", frozenset("q")),
        (rf"{_MONTH}", MONTHS.keys()),
        (
            r"(?<![\d.,:/$€£#-])(?P<year>(?:19|20)\d\d)"
            r"(?![\da-zA-Z:%]|[.,/-]\d|\s*(?:km|kg|m|g|euros?|dollars?)\b)",
            _NUMBERS,
        ),
        (
            r"(?<![\d/.])(?P<one>\d{1,2})(?:/(?P<two>\d{1,2})(?:/(?P<year>\d{4}|\d\d))?(?![\d/])"
            r"|\.(?P<dotted>\d{1,2})\.(?P<dotted_year>\d{4}|\d\d)?(?![\d.]))",
            _NUMBERS,
        ),
    )
)
"""The forms of a date, the fullest first, and the words that each begins with."""
_BEGINS: Final = frozenset({NUMBER, "q", *MONTHS})
_BEFORE_CHARS: Final = 40
"""Characters before a word that tell whether it opens a sentence."""
_CENTURY: Final = 2000


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Days from ``first`` to ``last``, both included."""

    first: date
    last: date

    @property
    def days(self) -> int:
        """Return the number of days, at least 1."""
        return (self.last - self.first).days + 1

    def overlaps(self, other: Span) -> bool:
        """Return whether the two share a day."""
        return self.first <= other.last and other.first <= self.last

    def nears(self, other: Span) -> bool:
        """Return whether the two share a day or lie a day apart, as time zones may have it."""
        return (
            self.first.toordinal() - 1 <= other.last.toordinal()
            and other.first.toordinal() - 1 <= self.last.toordinal()
        )


def day(moment: date) -> Span:
    """Return the span of one day."""
    return Span(moment, moment)


def month(year: int, number: int) -> Span:
    """Return the span of one month. Raises ValueError for one that is none."""
    first = date(year, number, 1)
    after = date(year + number // 12, number % 12 + 1, 1)
    return Span(first, after - timedelta(days=1))


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date that a text names between two places, and what it may mean, earliest first.

    ``has_year`` says that its year is written; ``is_slashed`` that it is all numbers, like 3/4;
    ``is_word`` that nothing but the name of a month stands there.
    """

    start: int
    end: int
    spans: tuple[Span, ...]
    has_year: bool
    is_slashed: bool
    is_word: bool


def named_dates(text: str, said_on: date) -> tuple[tuple[Span, ...], ...]:
    """Return for each date in the text the spans it may mean, in reading order of the forms.

    A date without a year may lie in the year before ``said_on``, in it or in the one after; a
    slashed one is read both ways. What is no date of the calendar is left out.
    """
    return tuple(named.spans for named in find_dates(Anchors(text), said_on))


def find_dates(anchors: Anchors, said_on: date) -> tuple[NamedDate, ...]:
    """Return what ``named_dates`` does, with the place and the form of each date."""
    if not anchors.has_any(_BEGINS):
        return ()
    found: list[NamedDate] = []
    taken = Taken(anchors.text)
    for pattern, begins in _FORMS:
        for match in anchors.matches(pattern, begins):
            if taken.meets(*match.span()):
                continue
            spans = tuple(_spans(match, said_on))
            if spans:
                found.append(_named(match, spans))
                taken.take(*match.span())
    return tuple(found)


def _named(match: re.Match[str], spans: tuple[Span, ...]) -> NamedDate:
    groups = match.groupdict()
    written = {name for name, value in groups.items() if value}
    return NamedDate(
        match.start(),
        match.end(),
        tuple(sorted(spans)),
        has_year=bool(written & {"year", "dotted_year"}),
        is_slashed="one" in groups,
        is_word=written == {"month"} and not (groups["month"] or "").isdecimal(),
    )


def _spans(match: re.Match[str], said_on: date) -> Iterator[Span]:
    groups = match.groupdict()
    if "one" in groups:
        yield from _slashed(groups, said_on)
        return
    if _is_another_word(match, groups):
        return
    number = _month_number(groups.get("month"))
    for year in _years(groups.get("year"), said_on):
        span = _span(year, number, groups)
        if span is not None:
            yield span


def _span(year: int, number: int | None, groups: dict[str, str | None]) -> Span | None:
    try:
        if groups.get("quarter"):
            last = int(groups["quarter"] or "") * 3
            return Span(month(year, last - 2).first, month(year, last).last)
        if number is None:
            return Span(date(year, 1, 1), date(year, 12, 31))
        if groups.get("day"):
            return day(date(year, number, int(groups["day"] or "")))
        if groups.get("first_day"):
            begin = date(year, number, int(groups["first_day"] or ""))
            end = date(year, number, int(groups["last_day"] or ""))
            return Span(begin, end) if begin <= end else None
        return month(year, number)
    except (ValueError, OverflowError):
        return None


def _years(written: str | None, said_on: date) -> tuple[int, ...]:
    if written:
        return (int(written),)
    return (said_on.year - 1, said_on.year, said_on.year + 1)


def _month_number(written: str | None) -> int | None:
    if written is None:
        return None
    return int(written) if written.isdecimal() else MONTHS[written.casefold()]


def _slashed(groups: dict[str, str | None], said_on: date) -> Iterator[Span]:
    one, two = int(groups["one"] or ""), int(groups["two"] or groups["dotted"] or "")
    year = groups["year"] or groups["dotted_year"]
    full = str(int(year) + _CENTURY) if year and len(year) == len("26") else year
    for candidate in _years(full, said_on):
        for number, day_number in {(one, two), (two, one)}:
            try:
                yield day(date(candidate, number, day_number))
            except ValueError:
                continue


def _is_another_word(match: re.Match[str], groups: dict[str, str | None]) -> bool:
    """Return whether a lone month is "may", "march" or the like in its other meaning."""
    name = groups.get("month")
    if name is None or any(groups.get(other) for other in ("day", "first_day", "year")):
        return False
    if name.lower() not in AMBIGUOUS_MONTHS:
        return False
    before_it = match.string[max(match.start() - _BEFORE_CHARS, 0) : match.start()]
    starts_sentence = not before_it.rstrip(" \"'([")[-1:].strip(".!?\n")
    before = before_it.split()[-1:]
    after_preposition = before and before[0].lower() in ("in", "by", "until", "till", "since", "of")
    return not after_preposition and (name[0].islower() or starts_sentence)
