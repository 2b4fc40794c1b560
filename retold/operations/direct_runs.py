"""Extractions that an operator's own process does while the operator waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retold.operations.steps import Done, ExtractionSteps
from retold.store import Store
from retold.store.claims import ClaimState


@dataclass(frozen=True, slots=True)
class DirectRun:
    """What one run did.

    ``reason`` is the code of what kept it from its end, None for an extracted session, and
    ``says`` the error's own sentence, None where it has none that may be shown. ``found`` is the
    payload of its event ``extraction.run``, empty without one. ``next_at`` is when workers try
    again, None when nothing has to be waited for.
    """

    session_id: str
    external_id: str
    done: Done
    reason: str | None
    says: str | None
    next_at: datetime | None
    found: Mapping[str, object]

    @property
    def is_done(self) -> bool:
        """Return whether the session is extracted now, by this run or another."""
        return self.done == "reviewed" or self.reason == "extracted"


def run_here(
    store: Store, steps: ExtractionSteps, session_ids: Sequence[str]
) -> Iterator[DirectRun]:
    """Extract sessions one after the other and yield what each run did.

    A session that somebody else works on, or that fails, is left to the list and costs only itself.
    Raises what the store raises; what was done until then stands.
    """
    for session_id in session_ids:
        outcome = steps.run(session_id)
        with store.read() as tx:
            state = tx.claims.require(session_id)
            runs = [
                event.payload
                for event in tx.events.list_for_session(session_id)
                if event.kind == "extraction.run"
            ]
        done = outcome.done == "reviewed"
        reason = None if done else outcome.reason or outcome.done
        yield DirectRun(
            session_id,
            state.external_id,
            outcome.done,
            reason,
            None if done else outcome.says,
            _next_at(state),
            runs[-1] if done and runs else {},
        )


def _next_at(state: ClaimState) -> datetime | None:
    return None if state.failed_at is not None else state.next_at
