"""Names, numbers and dates that a text has and its sources have not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from retold.text.normalise import normalize_alias
from retold.text.scripts import UNSPACED_RUN, unspaced_runs

_WORD: Final = re.compile(r"[^\W_]+(?:[-'’._@/][^\W_]+)*")
_PIECE: Final = re.compile(r"[^\W_]+")
_KATAKANA: Final = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_POSSESSIVE: Final = re.compile(r"['’]s?$", re.IGNORECASE)
_CALENDAR: Final = frozenset(
    "january february march april may june july august september october november december monday"
    " tuesday wednesday thursday friday saturday sunday yesterday today tomorrow".split()
)


def invented_words(
    text: str, sources: Iterable[str], *, counts_first: bool = False
) -> tuple[str, ...]:
    """Return the words of a text that name or count something its sources do not, in order.

    Looked at are words with a capital (the first of several only when it is a possessive, has a
    capital inside or ``counts_first``), with a digit, names of months and days, and runs of
    Katakana, in which Japanese writes foreign names. Case, diacritics and a possessive ending do
    not matter.
    """
    everything = " ".join(sources)
    known = {_key(word) for word in _words(everything)}
    known |= {_key(piece) for word in _words(everything) for piece in _PIECE.findall(word)}
    named = tuple(word for word in _telling_words(text, counts_first) if not _is_known(word, known))
    foreign = (name for run in unspaced_runs(text) for name in _KATAKANA.findall(run))
    return (*named, *(name for name in foreign if name not in everything))


def _is_known(word: str, known: set[str]) -> bool:
    return _key(word) in known or all(_key(piece) in known for piece in _PIECE.findall(word))


def _telling_words(text: str, counts_first: bool) -> Iterator[str]:
    words = _words(text)
    for place, word in enumerate(words):
        bare = _POSSESSIVE.sub("", word)
        opens_sentence = place == 0 and len(words) > 1 and bare == word and not counts_first
        is_number = any(unicodedata.category(char) == "Nd" for char in word)
        is_named = any(char.isupper() for char in (bare[1:] if opens_sentence else bare))
        if is_number or is_named or bare.lower() in _CALENDAR:
            yield word


def _words(text: str) -> list[str]:
    """Return the words of spaced scripts; what is written without spaces parts them."""
    return _WORD.findall(UNSPACED_RUN.sub(" ", text))


def _key(word: str) -> str:
    return normalize_alias(_POSSESSIVE.sub("", word))
