"""Statements that end by themselves, and when they say they do; pure.

The phrases are the temporary forms of the activation policy (completions 5), with the same class
in the languages that the evidence rules know. "through" alone is none: "walk me through it".
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import Final

_PERIOD: Final = r"(?:day|week|weekend|month|quarter|sprint|year|semester|term)"
_TEMPORARY: Final = re.compile(
    r"\b(?:until|till)\b"
    rf"|\b(?:for|during) (?:the )?(?:next|coming|rest of)\b"
    rf"|\bthis {_PERIOD}\b"
    r"|\btoday only\b|\bonly today\b|\bjust (?:for )?today\b|\bfor today\b"
    r"|\bfor now\b|\btemporarily\b|\bfor the time being\b"
    r"|\bcette (?:semaine|année)\b|\bce (?:mois|trimestre)\b|\bpour l'instant\b"
    r"|\bjusqu'(?:à|au)\b|\bdiese[rsn]? (?:woche|monat|jahr|quartal)\b|\bvorerst\b"
    r"|\bvorübergehend\b|\bbis (?:ende|zum|auf weiteres)\b|\besta semana\b|\beste mes\b"
    r"|\bpor ahora\b|\bhasta (?:el|la|que|fin)\b",
    re.IGNORECASE,
)
_TEMPORARY_UNSPACED: Final = re.compile(
    r"暂时|暫時|目前先|这周|這週|本周|本週|这个星期|這個星期|这个月|這個月|本月|今天只|直到|为止|為止"
    r"|当面|とりあえず|今週|今月|しばらく|まで(?:は|の)|이번 ?주|이번 ?달|당분간"
    r"|까지만|สัปดาห์นี้|เดือนนี้|ชั่วคราว|จนถึง"
)
_ISO_DATE: Final = re.compile(r"\b(?:until|till) (\d{4})-(\d{2})-(\d{2})\b", re.IGNORECASE)
_TODAY: Final = re.compile(
    r"\b(?:today only|only today|just (?:for )?today|for today)\b", re.IGNORECASE
)
_THIS_WEEK: Final = re.compile(r"\bthis week(?:end)?\b|cette semaine|diese woche", re.IGNORECASE)
_THIS_MONTH: Final = re.compile(r"\bthis month\b|\bce mois\b|diesen monat", re.IGNORECASE)


def is_temporary(text: str) -> bool:
    """Return whether a statement says that it holds only for a while."""
    return bool(_TEMPORARY.search(text) or _TEMPORARY_UNSPACED.search(text))


def stated_end(text: str, said_at: datetime) -> datetime | None:
    """Return the end that a temporary statement names, in UTC; None when it cannot be parsed.

    Knows an ISO date after "until", today, this week (to Sunday) and this month. The end is the
    first moment after the named period.
    """
    day = said_at.astimezone(UTC).date()
    iso = _ISO_DATE.search(text)
    if iso is not None:
        try:
            last = day.replace(year=int(iso[1]), month=int(iso[2]), day=int(iso[3]))
        except ValueError:
            return None
        return datetime.combine(last, time(), UTC)
    if _TODAY.search(text):
        return datetime.combine(day + timedelta(days=1), time(), UTC)
    if _THIS_WEEK.search(text):
        return datetime.combine(day + timedelta(days=7 - day.weekday()), time(), UTC)
    if _THIS_MONTH.search(text):
        first_of_next = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
        return datetime.combine(first_of_next, time(), UTC)
    return None
