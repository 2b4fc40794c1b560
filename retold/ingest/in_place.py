"""A quote and a claim read where the quote stands: its relative times, whom "she" means; pure.

"I quit last year" states that somebody quit in 2025 when it was said in 2026, and "She is deaf"
states it of an aunt when nobody else was spoken of. Both are settled by a rule, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date

from retold.ingest.antecedents import with_antecedents
from retold.models import Turn
from retold.text.anchors import Anchors
from retold.text.dates import find_dates
from retold.text.time_phrases import time_phrases


def read_in_place(
    quote: str, claim: str, *, turn: Turn, before: str, names: Sequence[str]
) -> tuple[str, str] | None:
    """Return the quote with its persons named and the claim with its dates as the quote has them.

    None when that changes neither. ``before`` is what was said up to the quote.
    """
    said_on = turn.at.astimezone(UTC).date()
    told = with_antecedents(quote, before, names), in_words_of(quote, claim, said_on)
    return None if told == (quote, claim) else told


def in_words_of(quote: str, claim: str, said_on: date) -> str:
    """Return the claim with each date that the quote gives said in the quote's own words.

    A date that the quote does not give, or gives less exactly, stays.
    """
    phrases = time_phrases(quote, said_on)
    said = claim
    for named in sorted(find_dates(Anchors(claim), said_on), key=lambda each: -each.start):
        giving = [
            phrase for phrase in phrases if any(phrase.gives(wanted) for wanted in named.spans)
        ]
        if giving:
            closest = min(giving, key=lambda phrase: min(span.days for span in phrase.fixed))
            said = said[: named.start] + quote[closest.start : closest.end] + said[named.end :]
    return said
