"""What is kept for a while only: transcripts, logs of searches and decisions, event payloads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from retold.store.codec import to_json, to_text
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("retention")

RetainedTable = Literal["rejections", "searches", "decisions", "payloads"]


class DueRow(NamedTuple):
    """One row that has outlived its time: its key, and how many bytes go with it."""

    key: tuple[int | str, ...]
    size: int


class TranscriptCounts(NamedTuple):
    """How many turns have words to lose, and in how many segments."""

    turns: int
    segments: int


class RetentionRepository:
    """Find what is old, and remove it.

    Rows are found in a read transaction and removed in a write transaction, which looks again: a
    segment that is to be extracted again has left the list by then.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def due_turns(self, before: datetime, after: tuple[int, int], limit: int) -> list[DueRow]:
        """Return (segment, turn) keys after such a key, of extracted segments ended before.

        A segment that is to be extracted again, or whose second run was set aside, has none.
        """
        bindings = {
            "before": to_text(before),
            "after_session": after[0],
            "after_turn": after[1],
            "limit": limit,
        }
        rows = self._tx.run(QUERIES["due_turns"], bindings)
        return [DueRow((session, turn), size) for session, turn, size in rows]

    def count_turns(self, before: datetime) -> TranscriptCounts:
        """Return how much ``due_turns`` would find in all."""
        row = self._tx.one(QUERIES["count_turns"], {"before": to_text(before)})
        return TranscriptCounts(0, 0) if row is None else TranscriptCounts(*row)

    def blank_turns(self, keys: Sequence[tuple[int | str, ...]], before: datetime) -> int:
        """Take the words of turns away and return of how many. The rows stay."""
        bindings = {
            "keys": to_json([list(key) for key in keys]),
            "before": to_text(before),
            "now": to_text(self._tx.now),
        }
        self._tx.run(QUERIES["blank_turns"], bindings)
        return self._tx.changes()

    def count_waiting(self, before: datetime) -> int:
        """Return how many segments ended before and keep their words as nobody extracted them."""
        return self._count("count_waiting", before)

    def due(self, table: RetainedTable, before: datetime, after: int, limit: int) -> list[DueRow]:
        """Return the due rows of a table after a key, in order."""
        bindings = {"before": to_text(before), "after_seq": after, "limit": limit}
        rows = self._tx.run(QUERIES[f"due_{table}"], bindings)
        return [DueRow((seq,), size) for seq, size in rows]

    def count(self, table: RetainedTable, before: datetime) -> int:
        """Return how many rows of a table are due."""
        return self._count(f"count_{table}", before)

    def remove(self, table: RetainedTable, seqs: Sequence[int], before: datetime) -> int:
        """Remove rows, of events only the payloads, and return how many were due still.

        The chain of events stays whole: it covers the digest of a payload, not the payload.
        """
        verb = "blank" if table == "payloads" else "delete"
        bindings = {"seqs": to_json(list(seqs)), "before": to_text(before)}
        self._tx.run(QUERIES[f"{verb}_{table}"], bindings)
        return self._tx.changes()

    def _count(self, name: str, before: datetime) -> int:
        row = self._tx.one(QUERIES[name], {"before": to_text(before)})
        return 0 if row is None else int(row[0])
