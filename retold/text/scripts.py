"""Which script a character is written in, above all whether it separates words by spaces."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from typing import Final, Literal

LetterScript = Literal[
    "latin",
    "greek",
    "cyrillic",
    "hebrew",
    "arabic",
    "devanagari",
    "thai",
    "lao",
    "khmer",
    "burmese",
    "han",
    "kana",
    "hangul",
    "other",
]
"""A script by its letters; ``other`` is any without a name here."""
Script = Literal[LetterScript, "common"]
"""The script of any character; ``common`` belongs to none."""
Family = Literal["east_asian", "thai", "lao", "khmer", "burmese"]

# Letters and marks of the unspaced scripts, without their punctuation and digits: those separate.
_UNSPACED_RANGES: Final[dict[Script, tuple[tuple[int, int], ...]]] = {
    "thai": ((0x0E01, 0x0E3A), (0x0E40, 0x0E4E)),
    "lao": ((0x0E81, 0x0EBD), (0x0EC0, 0x0ECE), (0x0EDC, 0x0EDF)),
    "burmese": (
        (0x1000, 0x103F),
        (0x1050, 0x108F),
        (0x109A, 0x109D),
        (0xA9E0, 0xA9EF),
        (0xA9FA, 0xA9FE),
        (0xAA60, 0xAA76),
        (0xAA7A, 0xAA7F),
    ),
    "khmer": ((0x1780, 0x17D3), (0x17D7, 0x17D7), (0x17DC, 0x17DD)),
    "hangul": (
        (0x1100, 0x11FF),
        (0x3131, 0x318E),
        (0xA960, 0xA97C),
        (0xAC00, 0xD7A3),
        (0xD7B0, 0xD7C6),
        (0xD7CB, 0xD7FB),
        (0xFFA0, 0xFFDC),
    ),
    "kana": (
        (0x3041, 0x3096),
        (0x3099, 0x309A),
        (0x309D, 0x309F),
        (0x30A1, 0x30FA),
        (0x30FC, 0x30FF),
        (0x31F0, 0x31FF),
        (0xFF66, 0xFF9F),
        (0x1AFF0, 0x1AFFE),
        (0x1B000, 0x1B167),
    ),
    "han": (
        (0x3005, 0x3007),
        (0x3021, 0x3029),
        (0x3038, 0x303B),
        (0x3400, 0x4DBF),
        (0x4E00, 0x9FFF),
        (0xF900, 0xFAFF),
        (0x20000, 0x3FFFD),
    ),
}
# Blocks; a character counts only when it is a letter or a mark.
_SPACED_RANGES: Final[dict[Script, tuple[tuple[int, int], ...]]] = {
    "latin": (
        (0x0041, 0x02AF),
        (0x1D00, 0x1D25),
        (0x1E00, 0x1EFF),
        (0x2C60, 0x2C7F),
        (0xA722, 0xA7FF),
        (0xAB30, 0xAB64),
        (0xFB00, 0xFB06),
        (0xFF21, 0xFF5A),
    ),
    "greek": ((0x0370, 0x03FF), (0x1F00, 0x1FFF)),
    "cyrillic": ((0x0400, 0x052F), (0x1C80, 0x1C8F), (0x2DE0, 0x2DFF), (0xA640, 0xA69F)),
    "hebrew": ((0x0590, 0x05FF), (0xFB1D, 0xFB4F)),
    "arabic": (
        (0x0600, 0x06FF),
        (0x0750, 0x077F),
        (0x0870, 0x08FF),
        (0xFB50, 0xFDFF),
        (0xFE70, 0xFEFE),
    ),
    "devanagari": ((0x0900, 0x097F), (0xA8E0, 0xA8FF)),
}
UNSPACED_SCRIPTS: Final[frozenset[Script]] = frozenset(_UNSPACED_RANGES)

_TABLE: Final = sorted(
    (start, end, script)
    for ranges in (_UNSPACED_RANGES, _SPACED_RANGES)
    for script, spans in ranges.items()
    for start, end in spans
)
_STARTS: Final = [start for start, _, _ in _TABLE]
_COMBINING_FOR_ANY_SCRIPT: Final = ((0x0300, 0x036F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF))

# Invisible characters that may stand between two letters of one word: zero-width spaces and
# joiners, variation selectors.
INVISIBLE_JOINERS: Final = "\u200b-\u200d\u2060\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef"


def _character_class(*scripts: Script) -> str:
    return "".join(
        f"{chr(start)}-{chr(end)}" for script in scripts for start, end in _UNSPACED_RANGES[script]
    )


_FAMILY_CLASSES: Final[dict[Family, str]] = {
    "east_asian": _character_class("han", "kana", "hangul"),
    "thai": _character_class("thai"),
    "lao": _character_class("lao"),
    "khmer": _character_class("khmer"),
    "burmese": _character_class("burmese"),
}
# One named group per family; ``lastgroup`` tells which.
UNSPACED_RUN: Final = re.compile(
    "|".join(f"(?P<{family}>[{chars}]+)" for family, chars in _FAMILY_CLASSES.items())
)


def script_of(char: str) -> Script:
    """Return the script of one character.

    ``common`` is whatever any script may use: digits, punctuation, symbols, spaces, controls,
    free-standing Latin accents. ``other`` is a letter of a script without a name here.
    """
    code = ord(char)
    place = bisect_right(_STARTS, code) - 1
    script: Script | None = None
    if place >= 0 and code <= _TABLE[place][1]:
        script = _TABLE[place][2]
    if script in UNSPACED_SCRIPTS:
        return script
    if unicodedata.category(char)[0] not in "LM":
        return "common"
    if any(start <= code <= end for start, end in _COMBINING_FOR_ANY_SCRIPT):
        return "common"
    return script or "other"


def is_unspaced(char: str) -> bool:
    """Tell whether the character's script writes words without spaces between them.

    Hangul counts: Korean puts spaces between phrases, particles stay glued to their word.
    """
    return UNSPACED_RUN.match(char) is not None


def unspaced_runs(text: str) -> tuple[str, ...]:
    """Return the maximal runs of unspaced characters, in order.

    Han, Kana and Hangul share a run; Thai, Lao, Khmer and Burmese each have their own.
    """
    return tuple(match.group() for match in UNSPACED_RUN.finditer(text))


def clusters(run: str) -> tuple[str, ...]:
    """Return the run cut into base characters with the marks that follow them."""
    parts: list[str] = []
    for char in run:
        if parts and unicodedata.category(char)[0] == "M":
            parts[-1] += char
        else:
            parts.append(char)
    return tuple(parts)


def dominant_script(text: str) -> Script:
    """Return the script most letters belong to; the earliest wins a tie; ``common`` if none does.

    Japanese with more Han than Kana answers ``han``.
    """
    if text.isascii():
        return "latin" if any(map(str.isalpha, text)) else "common"
    counts = Counter(script for script in map(script_of, text) if script != "common")
    return counts.most_common(1)[0][0] if counts else "common"
