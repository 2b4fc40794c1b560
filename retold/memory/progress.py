"""How far the extraction of a conversation is, read from the store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from retold.models import Session
from retold.results import ExtractionHandle, ExtractionState
from retold.store import Store
from retold.store.claims import ClaimState

_UNSETTLED_FIRST: Final[tuple[ExtractionState, ...]] = (
    "extracting",
    "reviewing",
    "waiting",
    "failed",
    "done",
    "not_requested",
)


def handle_of(
    store: Store, session: Session, first_segment: int | None, *, requested: bool
) -> ExtractionHandle:
    """Return the handle of a conversation that ended with ``session``."""
    if not requested:
        return ExtractionHandle(session.id)
    first = session.segment if first_segment is None else first_segment

    def look() -> ExtractionState:
        with store.read() as tx:
            segments = tx.sessions.segments(session.conversation_id)
            states = [
                tx.claims.require(one.id)
                for one in segments
                if first <= one.segment <= session.segment
            ]
        return state_of(states)

    return ExtractionHandle(session.id, requested=True, look=look)


def state_of(states: Iterable[ClaimState]) -> ExtractionState:
    """Return where segments stand together: what is still to be done comes before what is over."""
    found = {_state(one) for one in states}
    return next((state for state in _UNSETTLED_FIRST if state in found), "not_requested")


def _state(state: ClaimState) -> ExtractionState:
    if state.requested_at is None:
        return "not_requested"
    if state.failed_at is not None:
        return "failed"
    if state.extracted_at is not None and state.mode != "rerun":
        return "done"
    if state.token is None:
        return "waiting"
    return "extracting" if state.stage == "extract" else "reviewing"
