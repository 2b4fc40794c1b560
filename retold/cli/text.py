"""Lines for a terminal: measured by display width, wrapped on purpose, never cut silently."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

import click

LEAST_COLUMNS: Final = 60
MOST_COLUMNS: Final = 100
_LEAST_CELL: Final = 16
_NEXT_UNIT: Final = 1000
_BLANK_CATEGORIES: Final = ("Cc", "Zl", "Zp")
_DROPPED_CATEGORIES: Final = ("Cf", "Co")
_PLAIN: Final = re.compile("[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027]*")
"""Latin letters and punctuation, one column each; loading the tables of wcwidth takes a while."""
_JOINERS: Final = "\u200c\u200d"


def columns() -> int:
    """Return the width to lay out for: the terminal's or COLUMNS, 80 where there is neither."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, LEAST_COLUMNS), MOST_COLUMNS)


def clean(text: str) -> str:
    """Return the text on one line without characters that steer a terminal or reorder a line."""
    return " ".join("".join(map(_harmless, text)).split())


def _harmless(char: str) -> str:
    if char.isascii():
        return char if char.isprintable() else " "
    category = unicodedata.category(char)
    if category == "Cs":
        return "\ufffd"
    if category in _DROPPED_CATEGORIES and char not in _JOINERS:
        return ""
    return " " if category in _BLANK_CATEGORIES else char


def display_width(text: str) -> int:
    """Return how many columns the text takes; East Asian characters take two."""
    if _PLAIN.fullmatch(text):
        return len(text)
    from wcwidth import wcswidth

    width = wcswidth(text)
    return width if width >= 0 else len(text)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return the text filled with blanks to a display width; longer text stays as it is."""
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


def wrapped(text: str, width: int) -> list[str]:
    """Return the text in lines of at most ``width`` columns, broken at blanks where there are any.

    A word that is longer than a line is broken between characters, and a path after a slash.
    """
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if display_width(joined) <= width:
            lines[-1] = joined
            continue
        if _breaks_inside(word, width):
            first, *rest = _chopped(f"{lines[-1]} {word}" if lines[-1] else word, width)
            lines[-1:] = [first, *rest]
            continue
        lines.append(word)
    return lines


def _breaks_inside(word: str, width: int) -> bool:
    return display_width(word) > width or (not word.isascii() and display_width(word) > width // 2)


def _chopped(text: str, width: int) -> list[str]:
    """Break between characters, a path after a slash; a mark stays with the letter before it."""
    lines = [""]
    for char in text:
        # Measured with what stands before it: a selector widens the sign that it follows.
        if display_width(lines[-1] + char) > width:
            lines[-1:] = _parted(lines[-1], width)
        lines[-1] += char
    return [line.strip() for line in lines]


def _parted(line: str, width: int) -> tuple[str, str]:
    """Return a full line and how the next one begins; a slash in the first half parts nothing."""
    kept, slash, rest = line.rpartition("/")
    if not kept or len(kept) < width // 2 or " " in rest:
        return line, ""
    return kept + slash, rest


def labelled(label: str, text: str, *, indent: int = 11, width: int | None = None) -> list[str]:
    """Return a label and its text, further lines under the text; a longer label keeps one blank."""
    head = padded(label, indent - 1) + " "
    room = (width or columns()) - display_width(head)
    first, *rest = wrapped(text, room)
    return [(head + first).rstrip(), *(" " * display_width(head) + line for line in rest)]


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()
) -> list[str]:
    """Return a table; the columns in ``right`` are aligned right. The last column may wrap.

    Where the others leave it no room, its cells stand in lines of their own below.
    """
    cells = [tuple(headings), *(tuple(row) for row in rows)]
    widths = [max(display_width(row[at]) for row in cells) for at in range(len(headings))]
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = columns() - before
    lines = []
    for row in cells:
        start = "".join(
            padded(cell, widths[at], right=at in right) + "  " for at, cell in enumerate(row[:-1])
        )
        if display_width(row[-1]) <= room or room >= _LEAST_CELL:
            first, *rest = wrapped(row[-1], room)
            lines += [(start + first).rstrip(), *(" " * before + line for line in rest)]
        else:
            lines += wrapped(start.rstrip(), columns())
            lines += ["    " + line for line in wrapped(row[-1], columns() - 4)]
    return lines


def heading(text: str) -> str:
    """Return the text in bold on a terminal that wants colour."""
    if "NO_COLOR" in os.environ or sys.stdout is None or not sys.stdout.isatty():
        return text
    return click.style(text, bold=True)


def count(number: int, noun: str) -> str:
    """Return ``1 record`` or ``2 records``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(count_of_bytes: int) -> str:
    """Return a size in the unit that keeps it short."""
    amount = float(count_of_bytes)
    for unit in ("B", "kB", "MB"):
        if amount < _NEXT_UNIT:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= _NEXT_UNIT
    return f"{amount:.1f} GB"
