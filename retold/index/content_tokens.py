"""Which pieces of a text carry meaning, so that two texts are compared by those alone; pure.

Function words and punctuation are near their like in any text. Left out, the ranking gains twice
as much and the stored vectors take less than half of the room (retrieval_quality.md 2.7).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from retold.text.stopwords import ENGLISH_STOP_WORDS

UNKNOWN: Final = "[UNK]"
"""A piece of text that the vocabulary lacks: its vector says where it stood, not what it was."""
_CONTINUES: Final = "##"
_APOSTROPHES: Final = frozenset({"'", "\u2019"})
_BEHIND_AN_APOSTROPHE: Final = frozenset("s t d m re ve ll".split())


def content_places(pieces: Sequence[str], words: Sequence[int | None]) -> list[int]:
    """Return the places of the pieces that carry meaning, in order.

    ``pieces`` are lower-cased word pieces, ``words`` the number of the word that each belongs to,
    None for what the model adds itself. A text of nothing else keeps all its own pieces, and an
    empty one what the model adds, so that every text has a vector.
    """
    own = [at for at, word in enumerate(words) if word is not None]
    kept: list[int] = []
    before = ""
    for places in _by_word(own, words):
        word = "".join(pieces[at].removeprefix(_CONTINUES) for at in places)
        if not _is_function_word(word, before):
            kept += [at for at in places if pieces[at] != UNKNOWN]
        before = word
    return kept or own or list(range(len(pieces)))


def _by_word(own: Sequence[int], words: Sequence[int | None]) -> list[list[int]]:
    grouped: dict[int | None, list[int]] = {}
    for at in own:
        grouped.setdefault(words[at], []).append(at)
    return list(grouped.values())


def _is_function_word(word: str, before: str) -> bool:
    if word in ENGLISH_STOP_WORDS or not any(map(str.isalnum, word)):
        return True
    return before in _APOSTROPHES and word in _BEHIND_AN_APOSTROPHE
