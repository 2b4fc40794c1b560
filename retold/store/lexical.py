"""The full-text index: FTS5 over prepared text, one row per searchable record."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import apsw

from retold.store.codec import to_json
from retold.store.queries import load_queries
from retold.store.tokenizer import tokens
from retold.text import prepare_fts

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("lexical")

OVERFETCH = 4
"""A caller of at least every fourth row finds enough among so many times the best rows of all,
which beats binding all eligible ones."""


class RowFilter(Protocol):
    """The rows a search may see."""

    @property
    def count(self) -> int:
        """Return how many rows are eligible."""
        ...

    @property
    def total(self) -> int:
        """Return how many rows there are, ineligible ones included."""
        ...

    def seqs(self) -> Iterable[int]:
        """Return the eligible integer keys in ascending order."""
        ...

    def contains_all(self, seqs: Sequence[int]) -> Iterable[bool]:
        """Return for each key, in order, whether the row is eligible."""
        ...


class LexicalRepository:
    """Rows of ``records_fts``. Texts are prepared here, so callers pass what people wrote."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def insert(self, seq: int, content: str, subject: str, aliases: str) -> int:
        """Index a record and return the number of its index tokens in all three columns."""
        prepared = [prepare_fts(text) for text in (content, subject, aliases)]
        names = ("content", "subject", "aliases")
        bindings = {"seq": seq, **dict(zip(names, prepared, strict=True))}
        self._tx.run(QUERIES["insert"], bindings)
        return sum(len(tokens(text)) for text in prepared)

    def replace(self, seq: int, content: str, subject: str, aliases: str) -> int:
        """Index a record again; return as ``insert`` does."""
        self.delete(seq)
        return self.insert(seq, content, subject, aliases)

    def delete(self, seq: int) -> None:
        """Take a record out of the index; absent rows are fine."""
        self._tx.run(QUERIES["delete"], {"seq": seq})

    def search(self, match: str, rows: RowFilter | None, limit: int) -> list[tuple[int, float]]:
        """Return up to ``limit`` eligible (key, score), best first, ties by key ascending.

        ``match`` is an FTS5 expression; ``score`` is FTS5's bm25 with weights 1, 2, 3 for content,
        subject and aliases, negated so that higher is better. ``rows`` None means every row. The
        limit applies after eligibility: ineligible rows never crowd out eligible ones.
        """
        if rows is None:
            return list(self._all(match, limit))
        if rows.count == 0:
            return []
        if rows.count * OVERFETCH >= rows.total:
            best = list(self._all(match, limit * OVERFETCH))
            eligible = rows.contains_all([hit[0] for hit in best])
            kept = [hit for hit, is_eligible in zip(best, eligible, strict=True) if is_eligible]
            if len(kept) >= limit or len(best) < limit * OVERFETCH:
                return kept[:limit]
        return list(self._within(match, rows.seqs(), limit))

    def fields(self, seqs: Iterable[int]) -> dict[int, tuple[str, str, str]]:
        """Return the prepared (content, subject, aliases) of those rows that are indexed."""
        wanted = to_json([int(seq) for seq in seqs])
        return {row[0]: row[1:] for row in self._tx.run(QUERIES["fields"], {"seqs": wanted})}

    @staticmethod
    def tokens(prepared: str) -> tuple[str, ...]:
        """Return the tokens FTS5 would index for a prepared text, in order."""
        return tokens(prepared)

    def row_keys(self) -> Iterator[int]:
        """Yield the key of every indexed row, ascending."""
        return (row[0] for row in self._tx.run(QUERIES["row_keys"]))

    def _all(self, match: str, limit: int) -> Iterator[tuple[int, float]]:
        bindings = {"match": match, "limit": limit}
        return ((row[0], -row[1]) for row in self._tx.run(QUERIES["search_all"], bindings))

    def _within(
        self, match: str, seqs: Iterable[int] | Sequence[int], limit: int
    ) -> Iterator[tuple[int, float]]:
        bindings = {"match": match, "seqs": apsw.carray(array("q", seqs)), "limit": limit}
        return ((row[0], -row[1]) for row in self._tx.run(QUERIES["search_within"], bindings))
