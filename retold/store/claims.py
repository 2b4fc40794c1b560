"""The extractor's to-do list: who works on which step of which segment.

A claim is a token in the row of its segment. Every statement that ends a step compares the token
first, so a worker whose claim was taken away cannot commit, however late it wakes up.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from retold.errors import ClaimLost, NotFound
from retold.store.codec import from_text_or_none, to_text
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("claims")

Stage = Literal["extract", "review"]
Mode = Literal["run", "rerun"]


@dataclass(frozen=True, slots=True)
class ClaimState:
    """One segment as the to-do list sees it.

    ``attempts`` counts those of the present ``stage``. ``started_at`` and ``token`` are None while
    nobody works on it, ``next_at`` None when it need not wait, ``error`` the code of the last
    failure, None after a success.
    """

    session_id: str
    agent_id: str
    user_id: str
    project_id: str | None
    external_id: str
    conversation_id: str
    ended_at: datetime | None
    requested_at: datetime | None
    stage: Stage
    mode: Mode
    started_at: datetime | None
    token: str | None
    attempts: int
    next_at: datetime | None
    failed_at: datetime | None
    error: str | None
    extracted_at: datetime | None


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to do one step of one segment, until the token is no longer the row's.

    ``attempt`` counts from 1 within the stage. ``mode`` "rerun" extracts what was extracted.
    """

    session_id: str
    stage: Stage
    mode: Mode
    token: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Limits:
    """The moments that tell a live claim and a wait from what is over, seen from one moment.

    A claim is live when it was renewed from ``live_from`` to ``live_until``, and a wait counts
    when it ends by ``waits_until``. What lies later was noted by a clock that was set back since.
    """

    live_from: datetime
    live_until: datetime
    waits_until: datetime


@dataclass(frozen=True, slots=True)
class Backlog:
    """The whole list in numbers, reruns too; the moments are None when there is nothing to date."""

    waiting: int
    oldest_requested_at: datetime | None
    claimed: int
    oldest_claimed_at: datetime | None
    failed: int


@dataclass(frozen=True, slots=True)
class Blocked:
    """How many segments wait after failures of one code, and the one that failed last."""

    error: str
    count: int
    last_session_id: str


class ClaimRepository:
    """Claims and outcomes of the two steps of an extraction. It decides nothing by itself."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def get(self, session_id: str) -> ClaimState | None:
        """Return where the segment stands; None when there is none."""
        row = self._tx.one(QUERIES["get"], {"id": session_id})
        return None if row is None else _state(row)

    def require(self, session_id: str) -> ClaimState:
        """Return where the segment stands. Raises NotFound."""
        state = self.get(session_id)
        if state is None:
            raise NotFound(f"no session {session_id!r}")
        return state

    def take(self, state: ClaimState, *, attempts: int) -> Claim:
        """Claim the state's stage under a fresh token; decide with ``decide_claim`` before."""
        token = self._tx.new_id()
        self._run(
            "take",
            state.session_id,
            token=token,
            now=to_text(self._tx.now),
            stage=state.stage,
            attempts=attempts,
        )
        return Claim(state.session_id, state.stage, state.mode, token, attempts)

    def renew(self, claim: Claim) -> None:
        """Start the claim's time anew, before each long call. Raises ClaimLost."""
        self._run("renew", claim.session_id, token=claim.token, now=to_text(self._tx.now))
        self._require_changed(claim)

    def end(self, claim: Claim) -> None:
        """Prove the claim and give it back: the first statement of whatever ends a step.

        Everything after it in the transaction is done by the rightful holder. Raises ClaimLost,
        and the transaction must not commit.
        """
        self._run("hold", claim.session_id, token=claim.token)
        self._require_changed(claim)

    def advance(self, session_id: str) -> None:
        """Make the review the next step; call ``end`` first, in the same transaction."""
        self._run("advance", session_id)

    def finish(self, session_id: str) -> None:
        """Note the segment as extracted; call ``end`` first, in the same transaction."""
        self._run("finish", session_id, now=to_text(self._tx.now))

    def postpone(
        self, session_id: str, *, attempts: int, next_at: datetime | None, error: str | None
    ) -> None:
        """Leave the step due, at once when ``next_at`` is None; ``error`` is a code, no text."""
        self._run(
            "postpone",
            session_id,
            attempts=attempts,
            next_at=None if next_at is None else to_text(next_at),
            error=error,
        )

    def release(self, session_id: str) -> None:
        """Take the claim away, whoever has it; the attempt stays counted."""
        self._run("release", session_id)

    def bury(self, session_id: str, error: str) -> None:
        """Set the segment aside; ``error`` is a code. Nothing works on it until ``revive``."""
        self._run("bury", session_id, now=to_text(self._tx.now), error=error)

    def revive(self, session_id: str) -> bool:
        """Put a segment that was set aside back on the list; False when it was not aside."""
        self._run("revive", session_id)
        return self._tx.changes() > 0

    def withdraw(self, session_id: str) -> bool:
        """Take a segment off the list for good; False when it was not on it."""
        self._run("withdraw", session_id)
        return self._tx.changes() > 0

    def rerun(self, session_id: str) -> None:
        """Put a segment on the list although it was extracted; a running worker is fenced off."""
        self._run("rerun", session_id, now=to_text(self._tx.now))

    def list_due(self, limits: Limits, *, limit: int) -> list[str]:
        """Return ids of segments that may be claimed now, longest waiting first, reruns last."""
        bindings = {
            "now": to_text(self._tx.now),
            "live_from": to_text(limits.live_from),
            "live_until": to_text(limits.live_until),
            "waits_until": to_text(limits.waits_until),
            "limit": limit,
        }
        first = self._ids("list_due", bindings)
        again = self._ids("list_due_again", bindings | {"limit": limit - len(first)})
        return first + again

    def next_due_at(self) -> datetime | None:
        """Return when the next of the segments that wait after a failure is due; None for none."""
        row = self._tx.one(QUERIES["next_due_at"], {"now": to_text(self._tx.now)})
        return None if row is None else from_text_or_none(row[0])

    def list_stale(self, limits: Limits, *, limit: int) -> list[str]:
        """Return ids of segments whose claim is no longer live, oldest first."""
        bindings = {
            "live_from": to_text(limits.live_from),
            "live_until": to_text(limits.live_until),
            "limit": limit,
        }
        return self._ids("list_stale", bindings)

    def list_idle(self, silent_since: datetime, *, limit: int) -> list[str]:
        """Return ids of open segments with turns, but none since the moment."""
        return self._ids("list_idle", {"silent_since": to_text(silent_since), "limit": limit})

    def list_waiting(self, *, after: str | None = None, limit: int = 100) -> list[ClaimState]:
        """Return a page of the list, worked on or not, longest waiting first, after one id."""
        rows = self._tx.run(QUERIES["list_waiting"], {"after_id": after, "limit": limit})
        return [_state(row) for row in rows]

    def has_words(self, session_id: str) -> bool:
        """Return whether there is anything to extract: a turn that was not blanked."""
        row = self._tx.one(QUERIES["has_words"], {"id": session_id})
        return row is not None and bool(row[0])

    def list_failed(self, *, after: str | None = None, limit: int = 100) -> list[ClaimState]:
        """Return a page of the segments that were set aside, after the one with id ``after``."""
        rows = self._tx.run(QUERIES["list_failed"], {"after_id": after, "limit": limit})
        return [_state(row) for row in rows]

    def count_waiting(self, agent_id: str, user_id: str) -> int:
        """Return how many requested segments of the pair are not extracted and not set aside.

        A rerun hides nothing that was said and is not counted.
        """
        row = self._tx.one(QUERIES["count_waiting"], {"agent_id": agent_id, "user_id": user_id})
        return 0 if row is None else int(row[0])

    def list_blocked(self) -> list[Blocked]:
        """Return what waits after a failure, by the code of that."""
        rows = self._tx.run(QUERIES["list_blocked"])
        return [Blocked(error or "", count, last) for error, count, last, _ in rows]

    def end_waits(self, errors: Collection[str]) -> int:
        """Make due what waits after failures of these codes; return how many segments."""
        self._tx.run(QUERIES["end_waits"], {"codes": json.dumps(sorted(errors))})
        return self._tx.changes()

    def backlog(self) -> Backlog:
        """Return the whole list in numbers."""
        row = self._tx.one(QUERIES["backlog"]) or (0, None, 0, None, 0)
        return Backlog(
            waiting=row[0],
            oldest_requested_at=from_text_or_none(row[1]),
            claimed=row[2],
            oldest_claimed_at=from_text_or_none(row[3]),
            failed=row[4],
        )

    def _run(self, name: str, session_id: str, **bindings: object) -> None:
        self._tx.run(QUERIES[name], {"id": session_id, **bindings})

    def _ids(self, name: str, bindings: Mapping[str, object]) -> list[str]:
        return [row[0] for row in self._tx.run(QUERIES[name], bindings)]

    def _require_changed(self, claim: Claim) -> None:
        if self._tx.changes() != 1:
            raise ClaimLost(f"the claim on session {claim.session_id!r} is another worker's")


def _state(row: tuple[Any, ...]) -> ClaimState:
    return ClaimState(
        session_id=row[0],
        agent_id=row[1],
        user_id=row[2],
        project_id=row[3],
        external_id=row[4],
        conversation_id=row[5],
        ended_at=from_text_or_none(row[6]),
        requested_at=from_text_or_none(row[7]),
        stage=row[8] or "extract",
        mode=row[9] or "run",
        started_at=from_text_or_none(row[10]),
        token=row[11],
        attempts=row[12],
        next_at=from_text_or_none(row[13]),
        failed_at=from_text_or_none(row[14]),
        error=row[15],
        extracted_at=from_text_or_none(row[16]),
    )
