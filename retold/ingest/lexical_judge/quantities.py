"""Numbers, dates, times of day as values that compare across spellings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.normalise import Token

_ISO: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})$")
_DOTTED: Final = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})$")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d{2})$")
_ORDINAL: Final = re.compile(r"(\d+)(?:st|nd|rd|th)$")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?$")
_DECIMAL_COMMA: Final = re.compile(r"\d+,\d{1,2}$")
_SUFFIXED: Final = {"k": 1_000, "m": 1_000_000}
_NOT_COUNTING: Final = frozenset(
    "the this that which no any every another each some such last next other".split()
)
_NOT_COUNTED: Final = frozenset("of who that another is was can should must thing".split())
_WHOLE_CLOCK: Final = {"noon": 12 * 60, "midday": 12 * 60, "midnight": 0}
_NOON: Final = 12 * 60
_HOURS: Final = 12
_HALF_DAYS: Final = {"morning": 0, "afternoon": 1, "evening": 1}
_PART_CLOCK: Final = {"half": 30, "quarter": 15}
_CLOCK_WORDS: Final = _WHOLE_CLOCK.keys() | _PART_CLOCK.keys()
_SPELLED: Final = (
    _CLOCK_WORDS
    | lexicon.NUMBER_WORDS.keys()
    | lexicon.TENS.keys()
    | lexicon.SCALES.keys()
    | lexicon.GROUP_NUMBERS.keys()
    | lexicon.ORDINALS.keys()
)
LAST_DAY: Final = 31
LAST_MONTH: Final = 12
_FIRST_YEAR, _LAST_YEAR = 1900, 2199


@dataclass(frozen=True, slots=True)
class Number:
    """One quantity: ``value`` is canonical, ``unit`` the counted noun or unit, "" when none."""

    value: str = field(repr=False)
    unit: str = ""
    before: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Date:
    """A calendar point; a part that the text does not say is 0."""

    year: int = 0
    month: int = 0
    day: int = 0
    weekday: int = 0

    def clashes(self, other: Date) -> bool:
        """Tell whether both name a part of the date, differently."""
        pairs = (
            (self.year, other.year),
            (self.month, other.month),
            (self.day, other.day),
            (self.weekday, other.weekday),
        )
        return any(mine and theirs and mine != theirs for mine, theirs in pairs)

    def shares(self, other: Date) -> bool:
        """Tell whether both name at least one same part besides the year."""
        return bool(
            (self.month and other.month) or (self.weekday and other.weekday),
        ) or bool(self.year and other.year and not (self.month or other.month))


@dataclass(frozen=True, slots=True)
class Quantities:
    """What one text says in numbers; ``used`` are the token positions that were read as such."""

    numbers: tuple[Number, ...]
    ordinals: frozenset[int]
    dates: tuple[Date, ...]
    used: frozenset[int]


class _Reader:
    """Reads the tokens of one text from left to right."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.numbers: list[Number] = []
        self.ordinals: set[int] = set()
        self.dates: list[Date] = []
        self.used: set[int] = set()

    def read(self) -> Quantities:
        """Return everything found; dates win over plain numbers."""
        self._calendar()
        position = 0
        while position < len(self.tokens):
            if position in self.used:
                position += 1
                continue
            position += self._number(position)
        return Quantities(
            tuple(self.numbers), frozenset(self.ordinals), tuple(self.dates), frozenset(self.used)
        )

    def _word(self, position: int) -> str:
        return self.tokens[position].word if 0 <= position < len(self.tokens) else ""

    def _day(self, position: int) -> int:
        word = self._word(position)
        match = _ORDINAL.match(word)
        digits = match.group(1) if match else word
        if digits.isascii() and digits.isdigit() and 1 <= int(digits[:4]) <= LAST_DAY:
            return int(digits[:4])
        return 0

    def _year(self, position: int) -> int:
        if self._word(position) == ",":
            position += 1
        word = self._word(position)
        if len(word) == len("2000") and word.isascii() and word.isdigit():
            return int(word) if _FIRST_YEAR <= int(word) <= _LAST_YEAR else 0
        return 0

    def _calendar(self) -> None:
        for position, token in enumerate(self.tokens):
            if match := _ISO.match(token.word):
                year, month, day = (int(part) for part in match.groups())
                self._found(Date(year, month, day), position, position + 1)
            elif "/" in token.word:
                self._slashed(token.word, position)
            elif match := _DOTTED.match(token.word):
                day, month, year = (int(part) for part in match.groups())
                if 1 <= month <= LAST_MONTH and 1 <= day <= LAST_DAY:
                    self._found(Date(year, month, day), position, position + 1)
            elif token.word in lexicon.MONTHS:
                self._month(position)
            elif token.word in lexicon.WEEKDAYS and self._is_calendar(position):
                self._found(Date(weekday=lexicon.WEEKDAYS[token.word]), position, position + 1)

    def _is_calendar(self, position: int) -> bool:
        """Tell calendar words from their everyday doubles ("may", "sat") by the capital letter."""
        token = self.tokens[position]
        if token.word not in lexicon.AMBIGUOUS_CALENDAR:
            return True
        beside = self._day(position - 1) or self._day(position + 1) or self._year(position + 1)
        led = self._word(position - 1) in {"in", "on", "of", "until", "since", "by", "next", "last"}
        return bool(beside) or (token.surface[:1].isupper() and (position > 0 and led))

    def _slashed(self, word: str, position: int) -> None:
        parts = [int(part) for part in word.split("/") if part.isascii() and part.isdigit()]
        if len(parts) not in {2, 3} or not all(1 <= part <= LAST_DAY for part in parts[:2]):
            return
        first, second = parts[:2]
        day, month = (first, second) if second <= LAST_MONTH else (second, first)
        year = parts[2] if len(parts) == len("dmy") else 0
        if month <= LAST_MONTH:
            century = 2000 if 0 < year < 100 else 0  # noqa: PLR2004 - two-digit years
            self._found(Date(year + century, month, day), position, position + 1)

    def _month(self, position: int) -> None:
        if not self._is_calendar(position):
            return
        start = end = position
        day = 0
        before = position - 1 if self._word(position - 1) != "of" else position - 2
        if (found := self._day(before)) and before not in self.used:
            day, start = found, before
        else:
            after = position + 1 if self._word(position + 1) != "the" else position + 2
            if found := self._day(after):
                day, end = found, after
        year = self._year(end + 1)
        if year:
            end += 2 if self._word(end + 1) == "," else 1
        self._found(Date(year, lexicon.MONTHS[self._word(position)], day), start, end + 1)

    def _found(self, date: Date, start: int, end: int) -> None:
        self.dates.append(date)
        self.used.update(range(start, end))

    def _number(self, position: int) -> int:
        """Read a number at the position; return how many tokens were consumed, at least one."""
        word = self._word(position)
        if not word[:1].isdigit() and word not in _SPELLED:
            return 1
        if word in lexicon.ORDINALS or _ORDINAL.match(word):
            match = _ORDINAL.match(word)
            self.ordinals.add(lexicon.ORDINALS[word] if match is None else int(match.group(1)[:9]))
            self.used.add(position)
            return 1
        if word[:1].isdigit():
            value, length = self._digits(word, position)
        elif word in _CLOCK_WORDS:
            value, length = self._spelled_clock(position)
        else:
            value, length = self._spelled(position)
        if not length:
            return 1
        value, spoken = self._part_of_day(value, position + length)
        length += spoken
        unit, extra = self._unit(position, length)
        before = self.tokens[position - 1].stem if position else ""
        self.numbers.append(Number(value, unit, before))
        self.used.update(range(position, position + length + extra))
        return length + extra

    def _digits(self, word: str, position: int) -> tuple[str, int]:
        following = self._word(position + 1)
        if match := _CLOCK.match(word):
            minutes = int(match.group(1)) * 60 + int(match.group(2))
            return self._clock(minutes, following)
        if following in {"am", "pm"} and word.isascii() and word.isdigit() and len(word) < 3:  # noqa: PLR2004 - an hour has two digits
            return self._clock(int(word) * 60, following)
        text = word.replace(",", "") if _GROUPED.match(word) else word
        if _DECIMAL_COMMA.match(text):
            text = text.replace(",", ".")
        try:
            value = float(text)
        except ValueError:
            return text, 1
        if following in _SUFFIXED and len(following) == 1:
            return f"{value * _SUFFIXED[following]:g}", 2
        return (f"{value:.0f}" if value.is_integer() else f"{value:g}"), 1

    @staticmethod
    def _clock(minutes: int, following: str, length: int = 1) -> tuple[str, int]:
        half_day = 12 * 60
        if following in {"am", "pm"}:
            minutes = minutes % half_day + (half_day if following == "pm" else 0)
            return f"t{minutes}", length + 1
        return f"t{minutes}", length

    def _spelled_clock(self, position: int) -> tuple[str, int]:
        """Read "half past seven", "quarter to ten", "noon"; length 0 when it is none of them."""
        word = self._word(position)
        if word in _WHOLE_CLOCK:
            return f"t{_WHOLE_CLOCK[word]}", 1
        link = self._word(position + 1)
        hour = self._hour(position + 2)
        if link not in {"past", "to"} or hour is None:
            return "", 0
        minutes = _PART_CLOCK[word] if link == "past" else -_PART_CLOCK[word]
        return self._clock(hour * 60 + minutes, self._word(position + 3), length=3)

    def _part_of_day(self, value: str, position: int) -> tuple[str, int]:
        """Return the value as a time when "o'clock", "in the evening" follows; tokens read."""
        words = [self._word(position + n) for n in range(3)]
        if words[0] in {"o'clock", "oclock"}:
            following, length = self._part_of_day(value, position + 1)
            return (following, length + 1) if length else (_as_clock(value, 0), 1)
        if words[:2] == ["in", "the"] and words[2] in _HALF_DAYS:
            return _as_clock(value, _HALF_DAYS[words[2]]), 3
        return (_as_clock(value, 1), 2) if words[:2] == ["at", "night"] else (value, 0)

    def _hour(self, position: int) -> int | None:
        word = self._word(position)
        if word in lexicon.NUMBER_WORDS:
            return lexicon.NUMBER_WORDS[word]
        return int(word) if word.isascii() and word.isdigit() and len(word) < 3 else None  # noqa: PLR2004 - an hour has two digits

    def _spelled(self, position: int) -> tuple[str, int]:
        total, current, length = 0, 0, 0
        while True:
            word = self._word(position + length)
            if word == "one" and not length and not self._counts(position):
                break
            if word in lexicon.NUMBER_WORDS or word in lexicon.TENS:
                current += lexicon.NUMBER_WORDS.get(word, lexicon.TENS.get(word, 0))
            elif word in lexicon.SCALES or word in lexicon.GROUP_NUMBERS:
                scale = lexicon.SCALES.get(word) or lexicon.GROUP_NUMBERS[word]
                total, current = total + (current or 1) * scale, 0
            else:
                break
            length += 1
        return f"{total + current}", length

    def _counts(self, position: int) -> bool:
        return (
            self._word(position - 1) not in _NOT_COUNTING
            and self._word(position + 1) not in _NOT_COUNTED
            and self._word(position + 1).isalpha()
        )

    def _unit(self, position: int, length: int) -> tuple[str, int]:
        """Return the unit beside a number, the count of further tokens that belong to it."""
        if self._word(position - 1) in {"$", "€", "£", "¥"}:
            self.used.add(position - 1)
            return lexicon.UNITS[self._word(position - 1)], 0
        following = self._word(position + length)
        if following in lexicon.UNITS:
            return lexicon.UNITS[following], 1
        if following and following.isalpha() and following not in lexicon.FUNCTION_WORDS:
            return self.tokens[position + length].stem, 0
        return "", 0


def _as_clock(value: str, half: int) -> str:
    """Return a whole hour or a time of day in the given half of the day; other values as are."""
    minutes = (
        int(value[1:]) if value.startswith("t") else int(value) * 60 if _is_hour(value) else -1
    )
    if minutes < 0:
        return value
    late = half and minutes < _NOON
    return f"t{minutes + (_NOON if late else 0)}"


def _is_hour(value: str) -> bool:
    return value.isdigit() and 0 <= int(value) <= _HOURS


def read_quantities(tokens: Sequence[Token]) -> Quantities:
    """Return the numbers and dates that the tokens of one text spell."""
    return _Reader(tokens).read()
