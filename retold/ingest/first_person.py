"""Whether a quote speaks of its speaker, and a claim with the speaker's names taken out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.languages import ENGLISH, guess
from retold.ingest.lexical_judge.names import usable_names
from retold.text import is_unspaced

THE_USER: Final = "the user"

_WORDS: Final = re.compile(r"[^\W\d_]+")
_UNSPACED: Final = re.compile(
    "我|咱|俺|本人|私|僕|わたし|わたくし|ぼく|おれ|ดิฉัน|ฉัน|กระผม|ผม|เรา|หนู|ข้าพเจ้า"
    "|(?<![가-힣])(?:저희|우리|저|나|내|제)(?=[는은도의를을가이]|에게|한테|[^가-힣]|$)"
)
_NOUNS: Final = (
    "user utilis utiliz nutzer benutzer anwender usuari usuár utent gebruiker пользовател"
).split()
"""How words for "the user" begin, which stand beside the pronouns in the tables of languages."""
_CASED: Final = lexicon.FUNCTION_WORDS | frozenset(lexicon.MONTHS)
"""Words that are names only when written like one: Will, May."""


def speaks_in_first_person(quote: str) -> bool:
    """Return whether the quote holds I, my, we or the like, in the language it is written in."""
    if _UNSPACED.search(quote):
        return True
    # US is a country.
    words = [word for word in _WORDS.findall(quote) if word != "US"]
    grammar, _ = guess(words, ENGLISH)
    pronouns = {word for word in grammar.principal if not word.startswith(tuple(_NOUNS))}
    return any(word.lower() in pronouns for word in words)


def with_the_user(claim: str, names: Sequence[str]) -> str:
    """Return the claim with every name of two characters or more replaced, the longest first."""
    for name in usable_names(names):
        # Nothing separates a name from its neighbours where words are written without spaces.
        before = "" if is_unspaced(name[0]) else r"(?<!\w)"
        after = "" if is_unspaced(name[-1]) else r"(?!\w)"
        common = name.lower() in _CASED
        pattern = before + re.escape(name.title() if common else name) + after
        claim = re.sub(pattern, THE_USER, claim, flags=re.NOFLAG if common else re.IGNORECASE)
    return claim
