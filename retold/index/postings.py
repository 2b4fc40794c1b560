"""Which rows hold a token, and how often, as arrays that never change."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from retold.index.columns import Rows

Tokens = npt.NDArray[np.int32]
"""Tokens in reading order: the number of the word times four, plus that of its column.

The columns are content, subject and names; an occurrence counts once, twice and three times.
"""
Counts = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]

_BITS = 2
_COLUMN = (1 << _BITS) - 1


class Vocabulary(dict[str, int]):
    """Words and their numbers; looking up an unknown word by index gives it the next one.

    Two loads of an index share one and may read at the same time.
    """

    __slots__ = ("_numbering",)

    def __init__(self) -> None:
        """Begin without words."""
        super().__init__()
        self._numbering = threading.Lock()

    def __missing__(self, word: str) -> int:
        with self._numbering:
            return self.setdefault(word, len(self))

    def numbers(self, phrase: Sequence[str]) -> list[int] | None:
        """Return the numbers of a phrase; None when one of its words was never seen."""
        found = [number for word in phrase if (number := self.get(word)) is not None]
        return found if len(found) == len(phrase) > 0 else None


class Occurrences(NamedTuple):
    """Rows that hold a phrase, each once, and the weighted number of times."""

    rows: Rows
    times: Places


NOWHERE: Final = Occurrences(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))


def encoded(numbers: npt.ArrayLike, columns: npt.ArrayLike) -> Tokens:
    """Return words with their columns as ``Tokens``."""
    words = np.asarray(numbers, dtype=np.int32)
    return (words << _BITS) | np.asarray(columns, dtype=np.int32)


def occurrences(tokens: Tokens, owners: Rows, numbers: Sequence[int]) -> Occurrences:
    """Return where the words of a phrase stand one after the other in one column of a row.

    ``owners`` has the row of every token; the tokens of a row stand together.
    """
    first = numbers[0]
    at = np.flatnonzero((tokens >> _BITS) == first)
    if len(at) == 0:
        return NOWHERE
    at = at[at + len(numbers) <= len(tokens)]
    for step, number in enumerate(numbers[1:], start=1):
        # The same distance in number and column at once: columns differ by less than four.
        at = at[tokens[at + step] - tokens[at] == (number - first) << _BITS]
    at = at[owners[at] == owners[at + len(numbers) - 1]]
    rows, times = owners[at], (tokens[at] & _COLUMN).astype(np.int64) + 1
    heads = _heads(rows)
    return Occurrences(rows[heads], np.add.reduceat(times, heads) if len(heads) else times)


class Postings:
    """The rows of every word, ascending, with a code for how often and in how long a record.

    Rows that hold the same number of words and the same weighted count share a code, so that a
    score is worked out once per code rather than once per row.
    """

    __slots__ = ("_codes", "_ends", "_offsets", "_rows", "code_lengths", "code_times", "tokens")

    def __init__(self, tokens: Tokens, owners: Rows, words: int) -> None:
        """Take all tokens and their rows, those of one row together; ``words`` counts words."""
        if np.any(owners[1:] < owners[:-1]):
            order = np.argsort(owners, kind="stable")
            tokens, owners = tokens[order], owners[order]
        lengths = np.bincount(owners) if len(owners) else np.zeros(0, dtype=np.int64)
        self.tokens = tokens
        self._offsets = np.concatenate([[0], np.cumsum(lengths)])
        row_bits = max(1, len(lengths)).bit_length()
        # One sort of single numbers puts equal words together, their rows ascending.
        keys = (tokens >> _BITS).astype(np.int64) << (row_bits + _BITS)
        keys |= (owners.astype(np.int64) << _BITS) | (tokens & _COLUMN)
        keys.sort()
        held = keys >> _BITS
        heads = _heads(held)
        times = (keys & _COLUMN) + 1
        times = np.add.reduceat(times, heads) if len(heads) else times
        held = held[heads]
        self._rows: Rows = (held & ((1 << row_bits) - 1)).astype(np.int32)
        self._ends: list[int] = np.searchsorted(
            held, np.arange(1, words + 1, dtype=np.int64) << row_bits
        ).tolist()
        longest = int(lengths.max(initial=0)) + 1
        kinds, codes = np.unique(times * longest + lengths[self._rows], return_inverse=True)
        self._codes: Counts = codes.astype(np.int32)
        self.code_times: Places = kinds // longest
        self.code_lengths: Places = kinds % longest

    def __len__(self) -> int:
        """Return the number of pairs of a word and a row."""
        return len(self._rows)

    def __repr__(self) -> str:
        return f"Postings(words={len(self._ends)}, pairs={len(self)})"

    @property
    def owners(self) -> Rows:
        """Return the row of every token."""
        rows = np.arange(len(self._offsets) - 1, dtype=np.int32)
        return np.repeat(rows, np.diff(self._offsets))

    @property
    def nbytes(self) -> int:
        """Return the memory of the arrays."""
        arrays = (self.tokens, self._offsets, self._rows, self._codes)
        return sum(array.nbytes for array in arrays) + 8 * len(self._ends)

    def of(self, number: int) -> tuple[Rows, Counts]:
        """Return the ascending rows of a word and their codes."""
        if number >= len(self._ends):
            return self._rows[:0], self._codes[:0]
        where = slice(self._ends[number - 1] if number else 0, self._ends[number])
        return self._rows[where], self._codes[where]

    def tokens_of(self, row: int) -> Tokens:
        """Return the tokens of a row; empty for one that has none here."""
        if row + 1 >= len(self._offsets):
            return self.tokens[:0]
        return self.tokens[self._offsets[row] : self._offsets[row + 1]]

    def within(self, rows: Rows, numbers: Sequence[int]) -> Occurrences:
        """Return where a phrase stands in some rows, which must all hold its words."""
        starts, ends = self._offsets[rows], self._offsets[rows.astype(np.int64) + 1]
        lengths = ends - starts
        owners = np.repeat(rows, lengths)
        before = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        at = np.arange(len(owners)) + np.repeat(starts - before, lengths)
        return occurrences(self.tokens[at], owners, numbers)


def _heads(values: npt.NDArray[np.signedinteger]) -> Places:
    """Return where each stretch of equal values begins."""
    if len(values) == 0:
        return np.empty(0, dtype=np.int64)
    heads: Places = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return heads
