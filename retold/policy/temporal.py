"""Statements that end by themselves, and when they say they do; pure.

The phrases are the temporary forms of the activation policy (completions 5), with the same class
in the languages that the evidence rules know. "through" alone is none: "walk me through it". A
statement taken for temporary leaves retrieval, so every doubt keeps it: "until" and "this week"
count only in an instruction or a present state, and nothing said in the past tense counts.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from retold.models import MemoryType
from retold.policy.tense import is_instruction, is_past, is_present_state

_PERIOD: Final = r"(?:week|weekend|month|quarter|sprint|year|semester|term)"
_MONTHS: Final = (
    "january february march april may june july august september october november december"
).split()
_MONTH: Final = rf"(?:{'|'.join(_MONTHS)})"
_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"

_PRESENT: Final = re.compile(
    r"\bfor now\b|\bfor the time being\b|\bpour l'instant\b|\bvorerst\b|\bbis auf weiteres\b"
    r"|\bpor ahora\b",
    re.IGNORECASE,
)
"""Forms that speak of the moment they are said in."""

_BOUNDED: Final = re.compile(
    r"\b(?:for|during) (?:the )?(?:next|coming|rest of)\b|\btemporarily\b"
    r"|\btoday only\b|\bonly today\b|\bjust (?:for )?today\b|\bfor today\b"
    r"|\bcette (?:semaine|année)\b|\bce (?:mois|trimestre)\b|\bjusqu'(?:à|au)\b"
    r"|\bdiese[rsn]? (?:woche|monat|jahr|quartal)\b|\bvorübergehend\b|\bbis (?:ende|zum)\b"
    r"|\besta semana\b|\beste mes\b|\bhasta (?:el|la|que|fin)\b",
    re.IGNORECASE,
)
"""Forms that count wherever no past tense stands beside them."""

_BOUNDED_UNSPACED: Final = re.compile(
    r"暂时|暫時|目前先|这周|這週|本周|本週|这个星期|這個星期|这个月|這個月|本月|今天只"
    r"|直到(?!今|现在|現在|如今)|为止|為止"
    r"|当面|とりあえず|今週|今月|しばらく|まで(?:は|の)|이번 ?주|이번 ?달|당분간"
    r"|까지만|สัปดาห์นี้|เดือนนี้|ชั่วคราว|จนถึง"
)
_UNTIL_TIME: Final = re.compile(
    rf"\b(?:until|till) (?:(?:the )?(?:end of|next)\b|further notice\b|tomorrow\b|tonight\b"
    rf"|(?:(?:early|late|mid)[ -])?(?:{_MONTH}|{_WEEKDAY})\b|(?:19|20)\d\d\b"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of)? {_MONTH}\b|the \d{{1,2}}(?:st|nd|rd|th)\b)",
    re.IGNORECASE,
)
_UNTIL_PERSON: Final = re.compile(
    r"\b(?:until|till) (?:i|we|the user)(?:'m|'ve|'re|\b)(?! (?:was|were|had|did)\b)", re.IGNORECASE
)
_UNTIL_EVENT: Final = re.compile(
    r"\b(?:until|till) (?:the|my|our) [\w'-]+(?: [\w'-]+)?(?=\s*(?:$|,))", re.IGNORECASE
)
_THIS_PERIOD: Final = re.compile(
    rf"(?<!of )(?<!from )(?<!by )(?<!earlier )(?<!later )(?<!before )(?<!after )"
    rf"\bthis {_PERIOD}\b(?!'s)",
    re.IGNORECASE,
)
_HABIT: Final = re.compile(
    r"\b(?:every|each) (?:other )?(?:day|morning|afternoon|evening|night|week|weekend|month|quarter"
    rf"|year|{_WEEKDAY})\b|\b(?:usually|normally|often)\b|\bon {_WEEKDAY}s\b",
    re.IGNORECASE,
)
_CLAUSES: Final = re.compile(
    r"[.!?;]+(?:\s+|$)|[\u3002\uff01\uff1f\uff1b]|\b(?:because|since|but)\b"
)
_YEAR: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")

_ISO_DATE: Final = re.compile(r"\b(?:until|till) (\d{4})-(\d{2})-(\d{2})\b", re.IGNORECASE)
_UNTIL_YEAR: Final = re.compile(
    rf"\b(?:until|till) (?:the )?(?:end of |early |late )?(?:({_MONTH}),? )?(\d{{4}})\b(?!-)",
    re.IGNORECASE,
)
_UNTIL_MONTH: Final = re.compile(
    rf"\b(?:until|till) (?:the )?(?:end of |early |late )?({_MONTH})\b(?! \d)", re.IGNORECASE
)
_NEXT: Final = re.compile(
    r"\b(?:for|during) (?:the )?(?:next|coming) (?:(\d{1,3}|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve) )?(day|week|month|year)s?\b",
    re.IGNORECASE,
)
_NUMBERS: Final = "two three four five six seven eight nine ten eleven twelve".split()
_DAYS: Final = {"day": 1, "week": 7, "month": 31, "year": 366}
_TODAY: Final = re.compile(
    r"\b(?:today only|only today|just (?:for )?today|for today)\b", re.IGNORECASE
)
_THIS_WEEK: Final = re.compile(r"\bthis week(?:end)?\b|cette semaine|diese woche", re.IGNORECASE)
_THIS_MONTH: Final = re.compile(r"\bthis month\b|\bce mois\b|diesen monat", re.IGNORECASE)
_THIS_QUARTER: Final = re.compile(r"\bthis quarter\b|\bce trimestre\b", re.IGNORECASE)
_THIS_YEAR: Final = re.compile(r"\bthis year\b|\bcette année\b", re.IGNORECASE)


def is_temporary(
    text: str, type_: MemoryType = "semantic", said_at: datetime | None = None
) -> bool:
    """Return whether a statement says that it holds only for a while from when it was said.

    A statement about a year gone by, or whose end had passed by ``said_at``, is a fact about the
    past and stays. In a procedure "until" names the condition of a step unless a date follows.
    """
    folded = text.replace("’", "'")
    return any(
        _is_bounded(clause, type_) and not _is_over(clause, said_at)
        for clause in _CLAUSES.split(folded)
    )


def _is_bounded(clause: str, type_: MemoryType) -> bool:
    if _PRESENT.search(clause):
        return True
    if is_past(clause):
        return False
    if _BOUNDED.search(clause) or _BOUNDED_UNSPACED.search(clause):
        return True
    instructs = is_instruction(clause)
    if not (instructs or is_present_state(clause)) or _HABIT.search(clause):
        return False
    if _THIS_PERIOD.search(clause) or _UNTIL_TIME.search(clause):
        return True
    if type_ == "procedural":
        return False
    return bool(instructs and (_UNTIL_PERSON.search(clause) or _UNTIL_EVENT.search(clause)))


def _is_over(clause: str, said_at: datetime | None) -> bool:
    if said_at is None:
        return False
    if any(int(year) < said_at.year for year in _YEAR.findall(clause)):
        return True
    named = _ISO_DATE.search(clause) and _named_end(clause, said_at)
    return named is not None and named <= said_at


def stated_end(text: str, said_at: datetime) -> datetime | None:
    """Return the end that a temporary statement names, in UTC; None when it cannot be parsed.

    Knows after "until" an ISO date (its first moment), a year and a month (their last), "for the
    next" days to years, today, this week (to Sunday), month, quarter and year. Otherwise the end
    is the first moment after the named period. An end that had passed by ``said_at`` is None.
    """
    end = _named_end(text, said_at)
    return None if end is None or end <= said_at else end


def _named_end(text: str, said_at: datetime) -> datetime | None:
    day = said_at.astimezone(UTC).date()
    try:
        last = _end_after_until(text, day) or _end_of_period(text, day)
    except ValueError:
        return None
    return None if last is None else datetime.combine(last, time(), UTC)


def _end_after_until(text: str, day: date) -> date | None:
    """Return the first day that no longer counts. Raises ValueError for a day that is none."""
    if iso := _ISO_DATE.search(text):
        return date(int(iso[1]), int(iso[2]), int(iso[3]))
    if year := _UNTIL_YEAR.search(text):
        month = 12 if year[1] is None else _MONTHS.index(year[1].lower()) + 1
        return _month_after(date(int(year[2]), month, 1), 1)
    if named := _UNTIL_MONTH.search(text):
        month = _MONTHS.index(named[1].lower()) + 1
        return _month_after(date(day.year + (month < day.month), month, 1), 1)
    return None


def _end_of_period(text: str, day: date) -> date | None:
    if ahead := _NEXT.search(text):
        count = ahead[1] or "1"
        number = int(count) if count.isdigit() else _NUMBERS.index(count.lower()) + 2
        return day + timedelta(days=number * _DAYS[ahead[2].lower()] + 1)
    if _TODAY.search(text):
        return day + timedelta(days=1)
    if _THIS_WEEK.search(text):
        return day + timedelta(days=7 - day.weekday())
    if _THIS_MONTH.search(text):
        return _month_after(day, 1)
    if _THIS_QUARTER.search(text):
        return _month_after(day, 3 - (day.month - 1) % 3)
    return date(day.year + 1, 1, 1) if _THIS_YEAR.search(text) else None


def _month_after(day: date, months: int) -> date:
    """Return the first day of the month that many months later."""
    later = day.month - 1 + months
    return date(day.year + later // 12, later % 12 + 1, 1)
