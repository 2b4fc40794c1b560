"""The segments of a conversation: what a silence does to one, and what the audit trail is told."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from retold.config import IngestionConfig
from retold.ingest.doorbell import Doorbell
from retold.models import Session
from retold.store import Transaction

SegmentEvent = Literal["session.started", "session.split", "session.ended", "session.imported"]


class Silence:
    """End a segment that was silent too long, for everything that adds a turn to a conversation."""

    def __init__(self, cfg: IngestionConfig, doorbell: Doorbell) -> None:
        """Take the settings, and whom to tell that a segment waits for extraction."""
        self._longest = timedelta(minutes=cfg.session_idle_timeout_minutes)
        self._asks_for_extraction = cfg.extract_on_session_end
        self._doorbell = doorbell

    def end(self, tx: Transaction, segment: Session) -> None:
        """End the segment if it is open and silent beyond the timeout, by the store's own clock.

        ``segment`` is as the transaction read it; call this before the turn is added. With
        ``ingestion.extract_on_session_end`` the segment then waits for extraction, and the queue is
        rung after the commit.
        """
        last = segment.last_turn_at
        if segment.ended_at is not None or last is None or tx.now - last <= self._longest:
            return
        tx.sessions.end(segment.id, "idle")
        note_segment(tx, "session.split", segment)
        if self._asks_for_extraction:
            tx.sessions.request_extraction(segment.id)
            tx.on_commit(lambda version: self._doorbell.ring(segment.id))


def note_segment(
    tx: Transaction,
    kind: SegmentEvent,
    segment: Session,
    *,
    actor: str | None = None,
    **counts: int,
) -> None:
    """Append the event of a segment; ``actor`` None is its agent."""
    tx.events.append(
        kind,
        actor or segment.agent_id,
        session_id=segment.id,
        user_id=segment.user_id,
        payload={"segment": segment.segment, **counts},
    )
