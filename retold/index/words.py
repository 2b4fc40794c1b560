"""The words of every row, kept current with the store's full-text rows."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from retold.index.columns import Mask, Rows
from retold.index.postings import COLUMNS, Counts, Postings, Tokens, Vocabulary, encoded
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

    def with_rows(self, changed: dict[int, Tokens]) -> Words:
        """Return the words after some rows got others; no tokens mean that a row has none."""
        news = {
            row: tokens
            for row, tokens in changed.items()
            if not np.array_equal(tokens, self.tokens_of(row))
        }
        if not news:
            return self
        rows = np.fromiter(news, np.int32, len(news))
        size = max(len(self.lengths), int(rows.max()) + 1)
        lengths = _grown(self.lengths, size)
        had_words = rows[lengths[rows] > 0]
        lengths[rows] = [len(tokens) for tokens in news.values()]
        recent, owners, replaced = self.recent, self.recent_owners, self.replaced
        if len(had_words) > 0:
            still = np.isin(owners, had_words, invert=True)
            recent, owners = recent[still], owners[still]
        if len(had_words) > 0 or replaced is not None:
            replaced = _grown(np.zeros(0, np.bool_) if replaced is None else replaced, size)
            replaced[had_words] = True
        return Words(
            self.vocabulary,
            self.postings,
            lengths,
            np.concatenate([recent, *news.values()]),
            np.concatenate([owners, np.repeat(rows, lengths[rows])]),
            replaced,
        )

    @property
    def wants_merge(self) -> bool:
        """Return whether recent rows should get postings."""
        return len(self.recent) > MERGE_ABOVE + len(self.postings.tokens) // MERGE_PART

    def merged(self, live: Mask) -> Words:
        """Return the same words with postings for all rows, without rows that are gone."""
        keep = np.zeros(len(self.lengths), dtype=np.bool_)
        keep[: len(live)] = live[: len(keep)]
        owners = self.postings.owners
        kept = keep[owners] if self.replaced is None else (keep & ~self.replaced)[owners]
        recent = keep[self.recent_owners]
        tokens = np.concatenate([self.postings.tokens[kept], self.recent[recent]])
        owners = np.concatenate([owners[kept], self.recent_owners[recent]])
        return Words.of(self.vocabulary, tokens, owners, len(keep))


class LexicalIndex:
    """Words of the rows of one generation, read at the first lexical search of the process.

    ``follow`` is all it needs: it reads what changed between the last snapshot and the given one.
    The words only move forward. A search holds on to one ``Words`` and needs no lock. The words of
    a record that left stay in memory, out of every search's reach, until the next merge or load.
    """

    def __init__(self) -> None:
        self._following = threading.Lock()
        self._words: Words | None = None
        self._clocks = Clocks(0, "", 0)
        self._prepared_by: int | None = None

    def __repr__(self) -> str:
        return f"LexicalIndex(words={self._words}, version={self._clocks.records_version})"

    def follow(self, tx: Transaction, rows_now: RowsNow) -> Words:
        """Return the words at least at the snapshot of a read transaction."""
        clocks = tx.meta.clocks()
        words = self._words
        if words is not None and self._covers(clocks):
            return words
        with self._following:
            words = self._words
            if words is not None and self._covers(clocks):
                return words
            prepared_by = tx.meta.get_int("fts_prepare_version")
            changes = None
            if words is not None and self._is_after(clocks, prepared_by):
                most = max(_CATCH_UP_ROWS, len(words.lengths) // CATCH_UP_PART)
                changes = tx.projection.changes_since(self._clocks.records_version, most)
            if words is None or changes is None:
                words = _loaded(tx, rows_now)
            else:
                words = _caught_up(words, tx, changes, rows_now)
            self._words, self._clocks, self._prepared_by = words, clocks, prepared_by
            return words

    def _covers(self, clocks: Clocks) -> bool:
        held = self._clocks
        return (
            clocks.store_epoch == held.store_epoch
            and clocks.records_version <= held.records_version
        )

    def _is_after(self, clocks: Clocks, prepared_by: int | None) -> bool:
        """Return whether following changes is enough to get from the last snapshot to this one."""
        return clocks.store_epoch == self._clocks.store_epoch and prepared_by == self._prepared_by


def _loaded(tx: Transaction, rows_now: RowsNow) -> Words:
    vocabulary = Vocabulary()
    seqs, tokens, lengths = _read(tx, tx.lexical.all_fields(), vocabulary)
    rows, live = rows_now(seqs)
    owners = np.repeat(rows, lengths)
    here = owners >= 0
    return Words.of(vocabulary, tokens[here], owners[here], len(live))


def _caught_up(words: Words, tx: Transaction, changes: Iterable[int], rows_now: RowsNow) -> Words:
    seqs = list(changes)
    held = tx.lexical.fields(seqs)
    found, tokens, lengths = _read(
        tx, ((seq, *held.get(seq, ("", "", ""))) for seq in seqs), words.vocabulary
    )
    rows, live = rows_now(found)
    each = np.split(tokens, np.cumsum(lengths))
    words = words.with_rows(
        {row: own for row, own in zip(rows.tolist(), each, strict=False) if row >= 0}
    )
    return words.merged(live) if words.wants_merge else words


def _read(
    tx: Transaction, fields: Iterable[tuple[int, str, str, str]], vocabulary: Vocabulary
) -> tuple[list[int], Tokens, Counts]:
    """Return the keys, all their tokens and how many each of them has."""
    seqs: list[int] = []
    numbers, lengths = array("i"), array("i")
    tokens, number = tx.lexical.tokens, vocabulary.__getitem__
    for seq, *texts in fields:
        seqs.append(seq)
        for text in texts:
            words = tokens(text) if text else ()
            lengths.append(len(words))
            numbers.extend(map(number, words))
    by_column = np.array(lengths, dtype=np.int32).reshape(-1, COLUMNS)
    columns = np.tile(np.arange(COLUMNS, dtype=np.int32), len(seqs))
    return seqs, encoded(numbers, np.repeat(columns, by_column.ravel())), by_column.sum(axis=1)


def _grown(column: npt.NDArray[_Column], size: int) -> npt.NDArray[_Column]:
    """Return a copy with zeros for more rows."""
    grown = np.zeros(size, dtype=column.dtype)
    grown[: len(column)] = column
    return grown
