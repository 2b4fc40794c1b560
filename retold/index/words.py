"""The words of every row, kept current with the store's full-text rows."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from retold.index.columns import Mask, Rows
from retold.index.postings import (
    NOWHERE,
    Counts,
    Occurrences,
    Postings,
    Tokens,
    Vocabulary,
    encoded,
    occurrences,
)
from retold.store import Transaction
from retold.store.meta import Clocks

MERGE_ABOVE = 16_384
"""Recent tokens that are read through per word of a query, about 4 us, before they get postings."""
MERGE_PART = 32
"""Besides, a part of all tokens, so that merging costs each token a bounded number of times."""
CATCH_UP_PART = 4
"""Reading everything anew is as quick as following changes of a quarter of the rows."""
_CATCH_UP_ROWS = 4_096

_NO_TOKENS: Tokens = np.empty(0, dtype=np.int32)

_Column = TypeVar("_Column", bound=np.generic)
RowsNow = Callable[[Sequence[int]], tuple[Rows, Mask]]
"""Return the rows of records, -1 for one that is gone, and which rows stand for a record."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Words:
    """The words of all rows at one moment; a change makes another one.

    ``lengths`` counts the tokens of each row. ``recent`` and ``recent_owners`` hold rows that
    changed since ``postings`` was made; of the rows in ``replaced``, which may be None, what
    ``postings`` says no longer counts.
    """

    vocabulary: Vocabulary = field(repr=False)
    postings: Postings
    lengths: Counts = field(repr=False)
    recent: Tokens = field(repr=False)
    recent_owners: Rows = field(repr=False)
    replaced: Mask | None = field(repr=False)

    @classmethod
    def of(cls, vocabulary: Vocabulary, tokens: Tokens, owners: Rows, size: int) -> Words:
        """Make postings of all tokens; ``size`` counts rows, those without words included."""
        lengths = np.bincount(owners, minlength=size).astype(np.int32)
        postings = Postings(tokens, owners, len(vocabulary))
        return cls(vocabulary, postings, lengths, _NO_TOKENS, _NO_TOKENS, None)

    def tokens_of(self, row: int) -> Tokens:
        """Return the tokens of a row; empty for an unknown one."""
        if row >= len(self.lengths) or self.lengths[row] == 0:
            return _NO_TOKENS
        if self.replaced is None or not self.replaced[row]:
            held = self.postings.tokens_of(row)
            if len(held) > 0:
                return held
        recent: Tokens = self.recent[self.recent_owners == row]
        return recent

    def recently(self, numbers: Sequence[int]) -> Occurrences:
        """Return where a phrase stands in rows that changed since ``postings`` was made."""
        if len(self.recent) == 0:
            return NOWHERE
        return occurrences(self.recent, self.recent_owners, numbers)

    def with_rows(self, changed: dict[int, Tokens]) -> Words:
        """Return the words after some rows got others; no tokens mean that a row has none."""
        news = {
            row: tokens
            for row, tokens in changed.items()
            if not np.array_equal(tokens, self.tokens_of(row))
        }
        if not news:
            return self
        rows, counts = list(news), list(map(len, news.values()))
        had_words = [row for row in rows if row < len(self.lengths) and self.lengths[row] > 0]
        size = max(len(self.lengths), max(rows) + 1)
        lengths = _grown(self.lengths, size)
        lengths[rows] = counts
        recent, owners, replaced = self.recent, self.recent_owners, self.replaced
        if had_words:
            still = np.isin(owners, had_words, invert=True)
            recent, owners = recent[still], owners[still]
        if had_words or replaced is not None:
            replaced = _grown(np.zeros(0, np.bool_) if replaced is None else replaced, size)
            replaced[had_words] = True
        return Words(
            self.vocabulary,
            self.postings,
            lengths,
            np.concatenate([recent, *news.values()]),
            np.concatenate([owners, np.repeat(np.array(rows, dtype=np.int32), counts)]),
            replaced,
        )

    def renumbered(self, new_rows: Rows, size: int) -> Words:
        """Return the words of rows under other numbers, -1 for one to leave out."""
        owners = new_rows[self.postings.owners]
        if self.replaced is not None:
            owners[self.replaced[self.postings.owners]] = -1
        owners = np.concatenate([owners, new_rows[self.recent_owners]])
        tokens = np.concatenate([self.postings.tokens, self.recent])
        kept = owners >= 0
        return Words.of(self.vocabulary, tokens[kept], owners[kept], size)

    @property
    def wants_merge(self) -> bool:
        """Return whether recent rows should get postings."""
        return len(self.recent) > MERGE_ABOVE + len(self.postings.tokens) // MERGE_PART

    def merged(self, live: Mask) -> Words:
        """Return the same words with postings for all rows, without rows that are gone."""
        size = len(self.lengths)
        rows = np.arange(size, dtype=np.int32)
        rows[~_grown(live[:size], size)] = -1
        return self.renumbered(rows, size)


class _Held(NamedTuple):
    """Words with the snapshot they are of and the preparation their texts went through."""

    words: Words
    clocks: Clocks
    prepared_by: int | None

    def covers(self, clocks: Clocks) -> bool:
        """Return whether a snapshot holds nothing that these words lack."""
        return (
            clocks.store_epoch == self.clocks.store_epoch
            and clocks.records_version <= self.clocks.records_version
        )


class LexicalIndex:
    """Words of the rows of one generation, read at the first lexical search of the process.

    ``follow`` is all it needs: it reads what changed between the last snapshot and the given one.
    The words only move forward. A search holds on to one ``Words`` and needs no lock. The words of
    a record that left stay in memory, out of every search's reach, until the next merge or reload;
    the vocabulary keeps its spellings, without saying who used them, as long as the process lives.
    """

    def __init__(self, earlier: LexicalIndex | None = None, new_rows: Rows | None = None) -> None:
        """Begin without words, or with those of an earlier load whose rows have other numbers.

        ``new_rows`` has the row of every row of the earlier load, -1 for one that is gone.
        """
        self._following = threading.Lock()
        self._held: _Held | None = None
        self._earlier = None if earlier is None else earlier._held
        self._new_rows = new_rows

    def __repr__(self) -> str:
        return f"LexicalIndex({self._held})"

    def follow(self, tx: Transaction, rows_now: RowsNow) -> Words:
        """Return the words at least at the snapshot of a read transaction."""
        clocks = tx.meta.clocks()
        held = self._held
        if held is not None and held.covers(clocks):
            return held.words
        with self._following:
            held = self._held or self._renumbered(rows_now)
            if held is None or not held.covers(clocks):
                held = _followed(held, tx, clocks, rows_now)
            self._held = held
            return held.words

    def _renumbered(self, rows_now: RowsNow) -> _Held | None:
        earlier, new_rows, self._earlier, self._new_rows = self._earlier, self._new_rows, None, None
        if earlier is None or new_rows is None:
            return None
        size = len(rows_now(())[1])
        return earlier._replace(words=earlier.words.renumbered(new_rows, size))


def _followed(held: _Held | None, tx: Transaction, clocks: Clocks, rows_now: RowsNow) -> _Held:
    """Return the words of a snapshot, from those of an earlier one as far as that is quicker."""
    prepared_by = tx.meta.get_int("fts_prepare_version")
    if held is not None and (held.clocks.store_epoch, held.prepared_by) == (
        clocks.store_epoch,
        prepared_by,
    ):
        most = max(_CATCH_UP_ROWS, len(held.words.lengths) // CATCH_UP_PART)
        changes = tx.projection.changes_since(held.clocks.records_version, most)
        if changes is not None:
            return _Held(_caught_up(held.words, tx, changes, rows_now), clocks, prepared_by)
    return _Held(_loaded(tx, rows_now), clocks, prepared_by)


def _loaded(tx: Transaction, rows_now: RowsNow) -> Words:
    vocabulary = Vocabulary()
    seqs, tokens, counts = _read(tx, tx.lexical.all_fields(), vocabulary)
    rows, live = rows_now(seqs)
    owners = np.repeat(rows, counts)
    here = owners >= 0
    return Words.of(vocabulary, tokens[here], owners[here], len(live))


def _caught_up(words: Words, tx: Transaction, changes: Iterable[int], rows_now: RowsNow) -> Words:
    seqs = list(changes)
    held = tx.lexical.fields(seqs)
    found, tokens, counts = _read(
        tx, ((seq, *held.get(seq, ("", "", ""))) for seq in seqs), words.vocabulary
    )
    rows, live = rows_now(found)
    starts = accumulate(counts, initial=0)
    each = (tokens[start : start + count] for start, count in zip(starts, counts, strict=False))
    words = words.with_rows(
        {row: own for row, own in zip(rows.tolist(), each, strict=True) if row >= 0}
    )
    return words.merged(live) if words.wants_merge else words


def _read(
    tx: Transaction, fields: Iterable[tuple[int, str, str, str]], vocabulary: Vocabulary
) -> tuple[list[int], Tokens, array[int]]:
    """Return the keys, all their tokens and how many each of them has."""
    seqs: list[int] = []
    numbers, columns, counts = array("i"), array("b"), array("i")
    tokens, number = tx.lexical.tokens, vocabulary.__getitem__
    for seq, *texts in fields:
        before = len(numbers)
        for column, text in enumerate(texts):
            words = tokens(text) if text else ()
            numbers.extend(map(number, words))
            columns.extend([column] * len(words))
        seqs.append(seq)
        counts.append(len(numbers) - before)
    return seqs, encoded(numbers, columns), counts


def _grown(column: npt.NDArray[_Column], size: int) -> npt.NDArray[_Column]:
    """Return a copy with zeros for more rows."""
    grown = np.zeros(size, dtype=column.dtype)
    grown[: len(column)] = column
    return grown
