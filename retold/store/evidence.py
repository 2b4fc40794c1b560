"""The observations behind records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retold.models import EvidenceRow, EvidenceSource
from retold.store.codec import from_text, to_text
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("evidence")


class EvidenceRepository:
    """Rows of ``record_evidence`` and ``suppressed_evidence``."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def insert(self, record_seq: int, row: EvidenceRow, *, session_id: str | None = None) -> None:
        """Add an observation; ``session_id`` is the internal id of the segment it was found in."""
        start, end = row.span or (None, None)
        self._tx.run(
            QUERIES["insert"],
            {
                "record_seq": record_seq,
                "source_type": row.source_type,
                "source_id": row.source_id,
                "session_id": session_id,
                "locator": row.locator,
                "span_start": start,
                "span_end": end,
                "quote": row.quote,
                "source_kind": row.source_kind,
                "score": row.score,
                "judge": row.judge,
                "noted_at": to_text(row.noted_at),
                "counted": int(row.counted),
                "user_id": row.user_id,
            },
        )

    def list_for(self, record_seq: int) -> list[EvidenceRow]:
        """Return the observations of a record, oldest first."""
        return [
            EvidenceRow(
                source_type=row[0],
                source_id=row[1],
                locator=row[2],
                span=None if row[3] is None else (row[3], row[4]),
                quote=row[5],
                source_kind=row[6],
                score=row[7],
                judge=row[8],
                noted_at=from_text(row[9]),
                counted=bool(row[10]),
                user_id=row[11],
            )
            for row in self._tx.run(QUERIES["list_for"], {"record_seq": record_seq})
        ]

    def count_counted_sources(self, record_seq: int) -> int:
        """Return how many independent sources count towards confirmation."""
        row = self._tx.one(QUERIES["count_counted_sources"], {"record_seq": record_seq})
        return 0 if row is None else int(row[0])

    def has_counted_source(
        self, record_seq: int, source_type: EvidenceSource, source_id: str
    ) -> bool:
        """Return whether a source already counts towards the record."""
        bindings = {"record_seq": record_seq, "source_type": source_type, "source_id": source_id}
        row = self._tx.one(QUERIES["has_counted_source"], bindings)
        return bool(row and row[0])

    def suppress(self, record_seq: int) -> None:
        """Remember the transcript spans behind a forgotten record."""
        bindings = {"record_seq": record_seq, "noted_at": to_text(self._tx.now)}
        self._tx.run(QUERIES["suppress"], bindings)

    def list_suppressed(self, conversation_id: str) -> list[tuple[str, int, tuple[int, int]]]:
        """Return (internal session id, turn, span) of the conversation's forgotten words."""
        rows = self._tx.run(QUERIES["list_suppressed"], {"conversation_id": conversation_id})
        return [(session_id, turn, (start, end)) for session_id, turn, start, end in rows]

    def is_suppressed(self, session_id: str, turn: int, span: tuple[int, int]) -> bool:
        """Return whether a span overlaps one that backed a forgotten record."""
        row = self._tx.one(
            QUERIES["is_suppressed"],
            {
                "session_id": session_id,
                "turn": turn,
                "span_start": span[0],
                "span_end": span[1],
            },
        )
        return bool(row and row[0])

    def seqs_told_by(self, session_id: str, turn: int, span: tuple[int, int]) -> list[int]:
        """Return the records that an overlapping span backed, forgotten ones left out, in order."""
        bindings = {
            "session_id": session_id,
            "turn": turn,
            "span_start": span[0],
            "span_end": span[1],
        }
        return [row[0] for row in self._tx.run(QUERIES["seqs_told_by"], bindings)]
