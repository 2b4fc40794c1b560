"""Names, numbers and dates that a text has and its sources have not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from retold.text.normalise import normalize_alias
from retold.text.scripts import UNSPACED_RUN

_WORD: Final = re.compile(r"[^\W_]+(?:[-'’._@/][^\W_]+)*")
_PIECE: Final = re.compile(r"[^\W_]+")
_KATAKANA: Final = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_POSSESSIVE: Final = re.compile(r"['’]s?$", re.IGNORECASE)
_CALENDAR: Final = frozenset(
    "january february march april may june july august september october november december monday"
    " tuesday wednesday thursday friday saturday sunday yesterday today tomorrow".split()
)


def invented_words(text: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a text that name or count something its sources do not, in order.

    Looked at are words with a capital (the first one of the text only when it is a possessive or
    has a capital inside), with a digit, names of months and days, and runs of Katakana, in which
    Japanese writes foreign names. Case, diacritics and a possessive ending do not matter.
    """
    known = set()
    everything = " ".join(sources)
    for word in _WORD.findall(everything):
        known |= {_key(word), *map(_key, _PIECE.findall(word))}
    return tuple(
        word
        for word in _telling_words(text)
        if _key(word) not in known
        and not all(_key(piece) in known for piece in _PIECE.findall(word))
        and not (_KATAKANA.fullmatch(word) and word in everything)
    )


def _telling_words(text: str) -> Iterator[str]:
    spaced = UNSPACED_RUN.sub(" ", text)
    for place, word in enumerate(_WORD.findall(spaced)):
        bare = _POSSESSIVE.sub("", word)
        is_number = any(unicodedata.category(char) == "Nd" for char in word)
        is_named = any(char.isupper() for char in (bare if place or bare != word else bare[1:]))
        if is_number or is_named or bare.lower() in _CALENDAR:
            yield word
    for run in UNSPACED_RUN.findall(text):
        yield from _KATAKANA.findall(run)


def _key(word: str) -> str:
    return normalize_alias(_POSSESSIVE.sub("", word))
