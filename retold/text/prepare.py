"""The one preparation that text goes through before FTS5 tokenises it.

Documents and queries use the same function, so what is written is found as it is read. The result
is for the index alone: it holds n-grams and private-use letters and is never shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from retold.text.scripts import INVISIBLE_JOINERS, UNSPACED_RUN, is_unspaced

FTS_PREPARE_VERSION: Final = 1
"""Rises when the same text would be prepared differently: the store then rebuilds its index."""

_JOINERS: Final = re.compile(f"[{INVISIBLE_JOINERS}]+")
_PRIVATE_PLANE: Final = 0x100000
_LAST_OF_BASIC_PLANE: Final = "\uffff"
# The last two are the Hebrew signs of abbreviation, which stand inside a word.
_APOSTROPHES: Final = "\u2018\u2019\u201b\u02bc\u2032\uff07\u05f3\u05f4"
_HYPHENS: Final = "\u2010\u2011"
# Marks that say how a letter sounds and that most people leave out: accents that NFKC could not
# compose, Arabic vowels, Hebrew points. Besides them the Arabic stretching letter and the soft
# hyphen, which are typography.
_OPTIONAL_MARKS: Final = (
    (0x00AD, 0x00AD),
    (0x0300, 0x036F),
    (0x0591, 0x05BD),
    (0x05BF, 0x05C7),
    (0x0610, 0x061A),
    (0x0640, 0x0640),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06DC),
    (0x06DF, 0x06E8),
    (0x06EA, 0x06ED),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE00, 0xFE0F),
    (0xFE20, 0xFE2F),
    (0xE0100, 0xE01EF),
)


class _CharacterMap(dict[int, str]):
    """A table for ``str.translate`` that asks ``rule`` once per code point."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> str:
        answer = self[code] = self._rule(chr(code))
        return answer


def _clean_character(char: str) -> str:
    """Spell out what unicode61 would glue to a neighbouring word.

    Its Unicode tables are old: bidirectional isolates, younger punctuation and most emoji count
    as letters there. Symbols become words of their own, other separators a space. Lone surrogates
    cannot be written to UTF-8 at all.
    """
    if any(start <= ord(char) <= end for start, end in _OPTIONAL_MARKS):
        return ""
    if char in _APOSTROPHES:
        return "'"
    if char in _HYPHENS:
        return "-"
    if char.isascii():
        return " " if char == "\x00" else char
    category = unicodedata.category(char)
    if category in ("So", "Sk"):
        return f" {char} "
    return " " if category[0] in "SPZ" or category in ("Cc", "Cf", "Cs") else char


def _spell_character(char: str) -> str:
    """Move a mark to the private plane, where unicode61 keeps it inside the word.

    It separates at vowel signs and tone marks, so a Thai or Hindi word would fall apart into
    consonants. Plane 16 has one place for each mark of the basic plane.
    """
    if char <= _LAST_OF_BASIC_PLANE and unicodedata.category(char) in ("Mn", "Mc"):
        return chr(_PRIVATE_PLANE + ord(char))
    return char


_CLEAN: Final = _CharacterMap(_clean_character)
_SPELL: Final = _CharacterMap(_spell_character)


def clean(text: str) -> str:
    """Return the readable half of the preparation, from which n-grams are cut.

    NFKC, typographic apostrophes folded, invisible characters gone, symbols set apart by spaces.
    Case, accents and order stay.
    """
    if text.isascii():
        return text.replace("\x00", " ")
    composed = unicodedata.normalize("NFKC", text)
    return _JOINERS.sub(_without_joiners, composed).translate(_CLEAN)


def _without_joiners(match: re.Match[str]) -> str:
    """Drop joiners between two unspaced characters, which are one word for the reader."""
    text, start, end = match.string, match.start(), match.end()
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    inside_run = before and after and is_unspaced(before) and is_unspaced(after)
    return "" if inside_run else match.group()


def spell(text: str) -> str:
    """Return cleaned text with its combining marks written as letters that unicode61 keeps."""
    return text if text.isascii() else text.translate(_SPELL)


def run_grams(run: str) -> tuple[str, ...]:
    """Return the index words of one unspaced run, in reading order.

    Han, Kana and Hangul give unigrams and bigrams (``ab`` is ``a ab b``); Thai, Lao, Khmer and
    Burmese, whose letters are too few to tell words apart, bigrams and trigrams (``abc`` is
    ``ab abc bc``), a single letter itself. In both a run is contained in another exactly when its
    index words stand contiguously among the other's.
    """
    if is_alphabetic(run):
        if len(run) == 1:
            return (run,)
        short, long = 2, 3
    else:
        short, long = 1, 2
    grams: list[str] = []
    for start in range(len(run) - short + 1):
        grams.append(run[start : start + short])
        if start + long <= len(run):
            grams.append(run[start : start + long])
    return tuple(grams)


def is_alphabetic(run: str) -> bool:
    """Tell whether an unspaced run is of a script with letters: Thai, Lao, Khmer or Burmese."""
    match = UNSPACED_RUN.match(run)
    return match is not None and match.lastgroup != "east_asian"


def prepare_fts(text: str) -> str:
    """Return what FTS5's `porter unicode61 remove_diacritics 2` is given for ``text``.

    Works on any string, lone surrogates and NUL included. Letters of spaced scripts are left to
    the tokenizer.
    """
    cleaned = clean(text)
    if cleaned.isascii():
        return cleaned
    return spell(UNSPACED_RUN.sub(lambda match: f" {' '.join(run_grams(match.group()))} ", cleaned))
