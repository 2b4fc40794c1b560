"""Whether a quote speaks of a time, and of which one; pure.

A fixed list: what it misses supports nothing, it is not guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from retold.policy.tense import is_past
from retold.text.calendar_words import MONTHS
from retold.text.dates import Span, day, named_dates
from retold.text.time_phrases import TimePhrase, time_phrases

_OPEN: Final = re.compile(
    r"\b(?:by|until|till|before|at|towards?) (?:the )?end of(?! (?:the |this |next |last )?"
    rf"(?:{'|'.join(MONTHS)}|day|week|month|quarter|year)\b)"
    r"|\bend of (?:the )?(?:sprint|semester|term)\b",
    re.IGNORECASE,
)
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
_POLITE: Final = re.compile(
    r"\bif (?:you (?:can|could|want|like|don't mind)|possible|that's (?:ok|okay|fine))\b"
    r"|\b(?:could|would) (?:you|like)\b",
    re.IGNORECASE,
)
"""Suppositions in form only."""
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
    phrases = time_phrases(quote, said_at.astimezone(UTC).date())
    spans = tuple(span for phrase in phrases for span in phrase.spans)
    return SpokenTimes(spans, _OPEN.search(quote) is not None)


def is_plan(quote: str, said_at: datetime) -> bool:
    """Return whether some clause that speaks of a time is neither past nor merely supposed.

    "We moved the release to 19 March" plans although it is in a past tense.
    """
    timed = [clause for clause in _CLAUSES.split(quote) if spoken_times(clause, said_at)]
    return any(
        not _HYPOTHETICAL.search(_POLITE.sub(" ", clause))
        and (not is_past(clause) or _SCHEDULING.search(clause) is not None)
        for clause in timed or [quote]
    )


def unsupported_dates(claim: str, quote: str, said_at: datetime) -> bool:
    """Return whether the claim names a date that neither the quote nor its moment gives.

    A date more precise than what was said is one: "next year" does not give 3 March.
    """
    today = said_at.astimezone(UTC).date()
    own = day(today)
    said = (*time_phrases(quote, today), TimePhrase(0, 0, (own,), (own,)))
    return any(
        not any(phrase.gives(wanted) for wanted in meanings for phrase in said)
        for meanings in named_dates(claim, today)
    )
