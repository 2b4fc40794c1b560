"""Normal forms under which two spellings of one thing are equal."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from retold.text.prepare import clean

_LATIN_MARKS: Final = re.compile("[\u0300-\u036f]")
_CAMEL_BOUNDARY: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DASHES: Final = re.compile("[\u2010-\u2015\u2212\u2043\ufe58\ufe63\uff0d]")
_ELLIPSIS: Final = "…"


def normalize_ws(text: str) -> str:
    """Return the text with every run of white space as one space, none at the ends."""
    return " ".join(text.split())


def normalize_alias(text: str) -> str:
    """Return the key under which an entity's alias is stored and looked up.

    NFKC, case folded, white space collapsed, apostrophes and dashes of every kind alike, without
    diacritics, Arabic vowels or Hebrew points. Marks that make another letter (Kana voicing, Thai
    and Indic vowels) stay. Applying it twice changes nothing; the result may be empty.
    """
    cleaned = clean(_DASHES.sub("-", text)).casefold()
    if cleaned.isascii():
        return normalize_ws(cleaned)
    bare = _LATIN_MARKS.sub("", unicodedata.normalize("NFD", cleaned))
    return normalize_ws(unicodedata.normalize("NFKC", bare))


def normalize_attribute(hint: str) -> str:
    """Return an attribute hint as a lower-case snake_case key, ``""`` when nothing remains.

    Whatever stands before the last ``/`` is an entity prefix that models like to add. Letters,
    digits and marks of every script are kept, ``camelCase`` is split, all else becomes one ``_``.
    """
    name = unicodedata.normalize("NFKC", hint).rpartition("/")[2]
    spaced = _CAMEL_BOUNDARY.sub("_", name).casefold()
    kept = "".join(char if _belongs_to_word(char) else " " for char in spaced)
    return unicodedata.normalize("NFKC", "_".join(kept.split()))


def _belongs_to_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def excerpt(text: str, max_chars: int) -> str:
    """Return at most ``max_chars`` characters of one line that is safe to print.

    Control characters, bidirectional overrides and lone surrogates are gone, so that stored text
    can neither move a terminal's cursor nor reorder a line. A cut is marked by ``…``, falls
    between words where one ends in the last third, and never parts a letter from its marks.
    """
    line = normalize_ws("".join(" " if _is_unprintable(char) else char for char in text))
    if len(line) <= max_chars:
        return line
    if max_chars <= len(_ELLIPSIS):
        return _ELLIPSIS[: max(max_chars, 0)]
    end = max_chars - len(_ELLIPSIS)
    space = line.rfind(" ", 0, end + 1)
    if space >= end * 2 // 3 and space > 0:
        end = space
    while end > 0 and unicodedata.category(line[end])[0] == "M":
        end -= 1
    return line[:end].rstrip() + _ELLIPSIS


def _is_unprintable(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or (
        "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"
    )
