"""Days that a text names by a landmark: a holiday, the end of the month, "the 21st"; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from retold.text.anchors import any_of
from retold.text.dates import Span, day
from retold.text.relative_dates import period_span

_HOLIDAYS: Final = {
    (1, 1, 1, 1): "new year, new year's, new years, new year's day, año nuevo, ano novo, nouvel an"
    ", neujahr, neuen jahr, capodanno, nieuwjaar, nový rok, нового года, 元旦, 元日",
    (12, 31, 12, 31): "new year's eve, silvester, nochevieja, saint-sylvestre, 大晦日",
    (12, 24, 12, 26): "christmas, xmas, navidad, natal, noël, weihnachten, natale, kerst, kerstmis"
    ", 圣诞节, 圣诞, 聖誕節, 聖誕, クリスマス, 크리스마스, 성탄절",
    (12, 24, 12, 24): "christmas eve, nochebuena, heiligabend, 平安夜, クリスマスイブ",
    (10, 31, 10, 31): "halloween, ハロウィン",
    (2, 14, 2, 14): "valentine's day, valentine's, valentinstag, saint-valentin, 情人节, 情人節",
}
"""First and last (month, day) of holidays that return on the same date everywhere."""

_UNITS: Final = {
    "week": "week, semaine, woche, semana, settimana",
    "month": "month, mois, monats, mes, mês, mese, maand",
    "quarter": "quarter, trimestre, quartals, kwartaal",
    "year": "year, année, jahres, año, ano, anno, jaar",
}
_UNIT_OF: Final = {word: unit for unit, words in _UNITS.items() for word in words.split(", ")}
_PART: Final = re.compile(
    r"\b(?:beginning|start|middle|mid|end|turn|début|milieu|fin|anfang|beginn|mitte|ende|ab anfang"
    r"|principios?|comienzos?|mediados|finales|início|meados|fim|inizio|metà|fine|begin|midden"
    r"|einde|eind)"
    r" (?:of the |of |du |de la |de l'|de |des |der |del |do |da |della |dell'|van de |van het )?"
    rf"(?P<unit>{'|'.join(_UNIT_OF)})\b",
    re.IGNORECASE,
)
_ABBREVIATED: Final = re.compile(r"\beo(?P<letter>[dwmy])\b", re.IGNORECASE)
_LETTERS: Final = {"w": "week", "m": "month", "y": "year"}
_UNSPACED_PART: Final = re.compile(
    "(?<![0-9一二三四五六七八九十])(?P<unit>[月年])(?:初|中旬|末|底)"
)
_UNSPACED_UNITS: Final = {"月": "month", "年": "year"}

_FROM_NOW: Final = re.compile(
    r"\b(?:from now on(?:wards?)?|from now onwards?|from today|starting (?:now|today|immediately)"
    r"|as of (?:now|today)|effective immediately|henceforth|ab sofort|ab jetzt|ab heute|von nun an"
    r"|désormais|dorénavant|à partir de maintenant|a partir de ahora|desde ahora"
    r"|de ahora en adelante|a partir de agora|de agora em diante|d'ora in poi|vanaf nu"
    r"|с этого момента)\b|从现在起|从现在开始|從現在起|即日起|今から|本日から|지금부터|오늘부터",
    re.IGNORECASE,
)

_ORDINAL_DAY: Final = re.compile(
    r"\b(?:on|by|until|till|before|since|from|after|for|to|between|and) the"
    r" (?P<day>\d{1,2})(?:st|nd|rd|th)"
    r"(?=\s*(?:[.,;:!?)\"'-]|$)"
    r"|\s+(?:and|or|at|in|to|but|so|because|until|till|of (?:this|next|last|the) month|we|i|he|she"
    r"|they|with|for|my|our|if|when)\b)",
    re.IGNORECASE,
)
_DAY_NUMBER: Final = re.compile(
    r"(?:\b(?:el|hasta el|desde el|o dia|le|am|vom|bis zum|ab dem|zum|seit dem|il|op de)"
    r" (?:día |dia |giorno )?(?P<day>\d{1,2})(?:\.|er\b)?(?=\s*(?:[,;:!?)]|$)))"
    r"|(?<![月0-9/.:-])(?P<cjk>\d{1,2})[号號日]"
    r"(?=[\s，。、！？,.!?]|$|[到前后後之晚早上下出开開去来來回是にまでからはの])",
    re.IGNORECASE,
)
_GREETINGS: Final = ("happy ", "merry ")
_GREETING_CHARS: Final = 6
_DAYS_OF: Final = {name: days for days, names in _HOLIDAYS.items() for name in names.split(", ")}
_HOLIDAY: Final = re.compile(
    rf"(?<!\w)(?:{any_of(_DAYS_OF, unspaced=False)})(?!\w)|{any_of(_DAYS_OF, unspaced=True)}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Landmark:
    """Days named between two places of a text: what they may mean, ascending.

    Each span is at most as exact as the words: "the end of the month" is the whole month.
    """

    start: int
    end: int
    spans: tuple[Span, ...]


def find_landmarks(text: str, said_on: date) -> Iterator[Landmark]:
    """Yield the landmarks of a text, seen from the day it was said.

    A holiday, and a day of which only the number is said, is the last one, today or the next.
    Raises ValueError or OverflowError beyond the calendar.
    """
    text = text.replace("\u2019", "'")
    for found in _FROM_NOW.finditer(text):
        yield Landmark(found.start(), found.end(), (day(said_on),))
    yield from _parts(text, said_on)
    yield from _numbered(text, said_on)
    yield from _holidays(text, said_on)


def _parts(text: str, said_on: date) -> Iterator[Landmark]:
    for found in _PART.finditer(text):
        unit = _UNIT_OF[found["unit"].lower()]
        yield Landmark(found.start(), found.end(), (period_span(unit, 0, said_on),))
    for found in _UNSPACED_PART.finditer(text):
        unit = _UNSPACED_UNITS[found["unit"]]
        yield Landmark(found.start(), found.end(), (period_span(unit, 0, said_on),))
    for found in _ABBREVIATED.finditer(text):
        letter = found["letter"].lower()
        span = day(said_on) if letter == "d" else period_span(_LETTERS[letter], 0, said_on)
        yield Landmark(found.start(), found.end(), (span,))


def _numbered(text: str, said_on: date) -> Iterator[Landmark]:
    for pattern in (_ORDINAL_DAY, _DAY_NUMBER):
        for found in pattern.finditer(text):
            groups = found.groupdict()
            number = int(groups["day"] or groups.get("cjk") or "")
            spans = nearest(_days_of_months(number, said_on), said_on)
            if spans:
                yield Landmark(found.start(), found.end(), spans)


def _days_of_months(number: int, said_on: date) -> Iterator[Span]:
    """Yield that day of the three months around the present one that have it, and of two more."""
    index = said_on.year * 12 + said_on.month - 1
    for month_index in range(index - 2, index + 3):
        try:
            yield day(date(month_index // 12, month_index % 12 + 1, number))
        except ValueError:  # such as 31 February
            continue


def _holidays(text: str, said_on: date) -> Iterator[Landmark]:
    for found in _HOLIDAY.finditer(text):
        start, end = found.span()
        if text[max(start - _GREETING_CHARS, 0) : start].lower() in _GREETINGS:
            continue
        first_month, first_day, last_month, last_day = _DAYS_OF[found[0].lower()]
        years = (said_on.year - 1, said_on.year, said_on.year + 1)
        spans = (
            Span(date(year, first_month, first_day), date(year, last_month, last_day))
            for year in years
        )
        yield Landmark(start, end, nearest(spans, said_on))


def nearest(spans: Iterable[Span], said_on: date) -> tuple[Span, ...]:
    """Return the latest of some spans that is over, the present one and the first to come."""
    ordered = sorted(spans)
    over = [span for span in ordered if span.last < said_on]
    present = [span for span in ordered if span.first <= said_on <= span.last]
    ahead = [span for span in ordered if span.first > said_on]
    return (*over[-1:], *present, *ahead[:1])
