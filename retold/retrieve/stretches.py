"""How much of what a run of an unspaced script says a record holds."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Final

from retold.text.prepare import clean, is_alphabetic, run_grams, spell
from retold.text.scripts import clusters, script_of
from retold.text.stopwords import UNSPACED_STOP_WORDS
from retold.text.token_text import token_text

WRITTEN_CHARACTERS: Final = 2
LETTERS: Final = 6
"""Length of a stretch: two written characters of East Asia, or as many letters of Thai, Lao, Khmer
or Burmese as stand in another text as seldom by chance. Measured on the paragraphs of XQuAD without
any question: a stretch stands in a paragraph about something else in .014 of all cases for two
Chinese characters, and in .056, .026, .015 and .007 for 4, 5, 6 and 7 Thai letters."""

_STOP_WORDS: Final = frozenset(map(clean, UNSPACED_STOP_WORDS))
_LONGEST_STOP_WORD: Final = max(len(clusters(word)) for word in _STOP_WORDS)

Tokenize = Callable[[str], Sequence[str]]
"""FTS5's own `porter unicode61 remove_diacritics 2` on text that is already prepared; returns the
tokens in order and must not prepare again."""


@dataclass(frozen=True, slots=True)
class RunStretches:
    """The stretches of one run, and which of its characters each covers, as bits.

    Characters of function words count for nothing, nor does a stretch of nothing else. Words of an
    unspaced script are as long as they like, so pairs of characters that no record holds are most
    often halves of two words: characters, each found as a part of any stretch, are what a run says.
    """

    needles: tuple[tuple[str, int], ...] = field(repr=False)
    content: int
    length: int

    @property
    def worth(self) -> float:
        """Return what the run says, in stretches; a word of a spaced script says one."""
        return self.content.bit_count() / self.length

    def found_in(self, held: Container[str]) -> float:
        """Return how much of it a record says that holds these ``needles``, in stretches."""
        found = 0
        for needle, covered_bits in self.needles:
            if needle in held:
                found |= covered_bits
        return (found & self.content).bit_count() / self.length


def stretches_of(run: str, tokenize: Tokenize) -> RunStretches:
    """Return the stretches of a run of one family of scripts, a shorter run as one."""
    units, silent = clusters(run), covered(clusters(run))
    length = WRITTEN_CHARACTERS
    if is_alphabetic(run):
        silent = [word for unit, word in zip(units, silent, strict=True) for _ in unit]
        units, length = tuple(run), LETTERS
    content = sum(1 << place for place, word in enumerate(silent) if not word)
    size = min(length, len(units))
    needles = {
        start: token_text(run_tokens("".join(units[start : start + size]), tokenize))
        for start in range(len(units) - size + 1)
        if not all(silent[start : start + size])
    }
    bits = (1 << size) - 1
    return RunStretches(
        tuple((needle, bits << start) for start, needle in needles.items()), content, length
    )


def run_tokens(run: str, tokenize: Tokenize) -> tuple[str, ...]:
    """Return the tokens that stand for a run, or a part of one, in the index."""
    return tuple(tokenize(run_phrase(run)))


def run_phrase(run: str) -> str:
    """Return a run as prepared text."""
    return spell(" ".join(run_grams(run)))


def covered(units: Sequence[str]) -> list[bool]:
    """Tell for each written character of a run whether a function word covers it."""
    found = [False] * len(units)
    for start in range(len(units)):
        for end in range(start + 1, min(start + _LONGEST_STOP_WORD, len(units)) + 1):
            word = "".join(units[start:end])
            if word in _STOP_WORDS and not (start == 0 and _is_postposition(word)):
                found[start:end] = [True] * (end - start)
    return found


def _is_postposition(word: str) -> bool:
    return len(word) == 1 and script_of(word) in ("kana", "hangul")
