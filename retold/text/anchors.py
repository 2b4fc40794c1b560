"""The places of a text where a pattern may begin, so that it is tried at few of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from retold.text.scripts import UNSPACED_RUN, is_unspaced

_WORD: Final = re.compile(r"[^\W\d_]+|\d+")
NUMBER: Final = "0"
"""Stands for every number among the words of ``Anchors.places``."""


class Anchors:
    """The words of a text case folded, with where each begins.

    ``has_unspaced`` says that a part is written without spaces, where a word may begin anywhere.
    """

    __slots__ = ("has_unspaced", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: dict[str, list[int]] = {}
        for found in _WORD.finditer(text):
            word = found[0]
            key = NUMBER if word.isdecimal() else word.casefold()
            self.words.setdefault(key, []).append(found.start())
        self.has_unspaced = not text.isascii() and UNSPACED_RUN.search(text) is not None

    def has_any(self, words: AbstractSet[str]) -> bool:
        """Return whether any of the words stands in the text."""
        return not self.words.keys().isdisjoint(words)

    def places(self, words: Collection[str]) -> list[int]:
        """Return where any of the words begins, ascending."""
        if len(words) > len(self.words):
            found = [starts for word, starts in self.words.items() if word in words]
        else:
            found = [self.words[word] for word in words if word in self.words]
        return sorted(start for starts in found for start in starts)

    def matches(self, pattern: re.Pattern[str], words: Collection[str]) -> Iterator[re.Match[str]]:
        """Yield what ``finditer`` would, for a pattern that begins with one of the words."""
        end = 0
        for start in self.places(words):
            found = pattern.match(self.text, start) if start >= end else None
            if found is not None:
                end = found.end()
                yield found


class Taken:
    """Which parts of a text something has been found in; asking costs the length of the part."""

    __slots__ = ("_marks",)

    def __init__(self, text: str) -> None:
        self._marks = bytearray(len(text))

    def take(self, start: int, end: int) -> None:
        """Mark the characters from ``start`` to before ``end``."""
        self._marks[start:end] = b"\x01" * (end - start)

    def meets(self, start: int, end: int) -> bool:
        """Return whether any character from ``start`` to before ``end`` is marked."""
        return self._marks.find(1, start, end) >= 0


def first_words(names: Iterable[str]) -> frozenset[str]:
    """Return the lower-case words that names of spaced scripts begin with."""
    return frozenset(
        found[0].casefold()
        for name in names
        if not is_unspaced(name[0]) and (found := _WORD.match(name)) is not None
    )


def any_of(names: Iterable[str], *, unspaced: bool) -> str:
    """Return a pattern of those names that are written with or without spaces; the longest wins."""
    ordered = sorted(names, key=len, reverse=True)
    return "|".join(re.escape(name) for name in ordered if is_unspaced(name[0]) == unspaced)
