"""The dates a text names outright, as spans of days; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from retold.ingest.extraction.calendar_words import AMBIGUOUS_MONTHS, MONTHS

_NAMES: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_MONTH: Final = rf"(?<![^\W\d_])(?P<month>{_NAMES})(?![^\W\d_])\.?"
_DAY: Final = r"(?<![\d.:/-])(?P<day>\d{1,2})(?!\d)(?:st|nd|rd|th|er|\.|º|ª)?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_OF: Final = r"(?:,? (?:of |de |del |d'|the )?)"

_PATTERNS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)",
        r"(?:(?P<year>\d{4})\s*[年년]\s*)?(?<!\d)(?P<month>\d{1,2})\s*[月월]"
        r"(?:\s*(?P<day>\d{1,2})\s*[日号號일])?",
        r"(?<!\d)(?P<year>(?:19|20)\d\d)\s*[年년](?!\s*\d)",
        rf"{_DAY}{_OF}{_MONTH}(?:{_OF}{_YEAR})?",
        rf"{_MONTH}{_OF}{_DAY}(?:{_OF}{_YEAR})?",
        rf"{_MONTH}{_OF}{_YEAR}",
        r"(?<!\d)(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])(?![\d-])",
        r"\bq(?P<quarter>[1-4])(?:[ /-]*(?P<year>(?:19|20)\d\d))?\b",
        rf"{_MONTH}",
        r"(?<![\d.,:/$€£#-])(?P<year>(?:19|20)\d\d)(?![\da-zA-Z:%]|[.,/-]\d|\s*(?:km|kg|m|g|euros?|dollars?)\b)",
    )
)
_SLASHED: Final = re.compile(
    r"(?<![\d/.])(?P<one>\d{1,2})(?:/(?P<two>\d{1,2})(?:/(?P<year>\d{4}|\d\d))?(?![\d/])"
    r"|\.(?P<dotted>\d{1,2})\.(?P<dotted_year>\d{4}|\d\d)?(?![\d.]))"
)
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


def named_dates(text: str, said_on: date) -> tuple[tuple[Span, ...], ...]:
    """Return for each date in the text the spans it may mean, in reading order of the forms.

    A date without a year may lie in the year before ``said_on``, in it or in the one after; a
    slashed one is read both ways. What is no date of the calendar is left out.
    """
    found: list[tuple[Span, ...]] = []
    taken: list[tuple[int, int]] = []
    for pattern in (*_PATTERNS, _SLASHED):
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            spans = tuple(_spans(match, text, said_on))
            if spans:
                taken.append(match.span())
                found.append(spans)
    return tuple(found)


def _spans(match: re.Match[str], text: str, said_on: date) -> Iterator[Span]:
    groups = match.groupdict()
    if "one" in groups:
        yield from _slashed(groups, said_on)
        return
    if _is_another_word(match, groups, text):
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
    return int(written) if written.isdecimal() else MONTHS[written.lower()]


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


def _is_another_word(match: re.Match[str], groups: dict[str, str | None], text: str) -> bool:
    """Return whether a lone month is "may", "march" or the like in its other meaning."""
    name = groups.get("month")
    if name is None or groups.get("day") or groups.get("year"):
        return False
    if name.lower() not in AMBIGUOUS_MONTHS:
        return False
    starts_sentence = not text[: match.start()].rstrip(" \"'([")[-1:].strip(".!?\n")
    before = text[: match.start()].split()[-1:]
    after_preposition = before and before[0].lower() in ("in", "by", "until", "till", "since", "of")
    return not after_preposition and (name[0].islower() or starts_sentence)
