"""One step of one extraction: claim it, have it done, and note what became of it.

What the step does is handed in. It commits its own effects in one transaction whose first
statement is ``tx.claims.end(claim)``, so it happens once or not at all, whatever dies in between.
"""

from __future__ import annotations

import errno
import logging
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Protocol

from retold.config import RetoldConfig
from retold.errors import (
    ClaimLost,
    ConfigError,
    EmbeddingProfileMismatch,
    FailureKind,
    ForeignFile,
    HostedError,
    MigrationRequired,
    NotYetAvailable,
    RetoldError,
    RetoldSetupError,
    SchemaTooNew,
    StoreBusy,
    StoreCorrupt,
    StoreUnavailable,
    WriteContended,
)
from retold.models import Principal
from retold.operations.circuit import Circuits, doors_from_config
from retold.policy.claims import (
    FIRST_DELAY,
    Bury,
    ClaimPolicy,
    Leave,
    decide_claim,
    decide_failure,
    decide_stale,
    waited,
)
from retold.store import Store, Transaction
from retold.store.claims import Claim, ClaimState, Stage

logger = logging.getLogger(__name__)

ACTOR = "extractor"
"""Who the audit trail says did it."""

LEFT_OPEN = "step_left_open"
"""The code of a step that returned without ending its claim."""


AT_ONCE = 20
"""Sessions that one look for due ones brings; another look brings more."""

_SETTINGS = (
    RetoldSetupError,
    ConfigError,
    EmbeddingProfileMismatch,
    ForeignFile,
    MigrationRequired,
    SchemaTooNew,
)
"""Until somebody sets them right, no session fares better: a worker of another release or profile
must set none of them aside."""

_MACHINE = (StoreBusy, StoreUnavailable, StoreCorrupt, WriteContended, MemoryError)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)

Done = Literal["nothing", "extracted", "reviewed", "failed", "set_aside", "lost"]


class StepWork(Protocol):
    """Do one step of an extraction."""

    def __call__(self, claim: Claim, renew: Callable[[], None]) -> bool | None:
        """Do the claimed step and commit it; see the module for how.

        Call ``renew`` before each long call: it raises ClaimLost when the work went elsewhere.
        Whatever is raised leaves the step due, or sets the session aside after too many attempts.
        False says that no model was asked, so that a provider's silence is not over.
        """
        ...

    def require_ready(self) -> None:
        """Check models, packages and keys without sending anything.

        Raises RetoldSetupError naming what is missing, HostedNotAllowed.
        """
        ...

    def require_allowed(self, principal: Principal) -> None:
        """Check that what the principal says may go to the models. Raises HostedNotAllowed."""
        ...


class LateWork:
    """A step's work that is put together when it is first needed: opening a store stays quick."""

    def __init__(self, make: Callable[[], StepWork]) -> None:
        """Take what makes it; it is called once."""
        self._make = make
        self._lock = threading.Lock()
        self._made: StepWork | None = None

    def __call__(self, claim: Claim, renew: Callable[[], None]) -> bool | None:
        """Do the claimed step."""
        return self._work()(claim, renew)

    def require_ready(self) -> None:
        """Check models, packages and keys."""
        self._work().require_ready()

    def require_allowed(self, principal: Principal) -> None:
        """Check that what the principal says may go to the models."""
        self._work().require_allowed(principal)

    def _work(self) -> StepWork:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made


class StepLeftOpen(Exception):
    """The step returned without ending its claim."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What became of a request to work on a session.

    ``reason`` is a code: why nothing was done, or what failed; None after a success. ``says`` is
    what ``failure_sentence`` returns of a failure.
    """

    session_id: str
    done: Done
    reason: str | None = None
    says: str | None = None


class ExtractionSteps:
    """Work on requested sessions, one claimed step after the other. Safe across threads."""

    def __init__(
        self,
        store: Store,
        config: RetoldConfig,
        work: StepWork | None = None,
        *,
        circuits: Circuits | None = None,
    ) -> None:
        """Take the store and what a step does; None refuses to do any.

        ``circuits`` are those of the providers that the work asks, None for those of the
        configuration.
        """
        self._store = store
        self._policy = claim_policy(config)
        self._circuits = circuits or Circuits(doors_from_config(config))
        self.work = work

    def require_ready(self) -> None:
        """Check what steps need in this process, before anything is asked for or claimed.

        Raises RetoldSetupError naming what is missing, HostedNotAllowed when hosted models are
        switched off, NotYetAvailable when no work was handed in.
        """
        self._require_work().require_ready()

    def require_allowed(self, principal: Principal) -> None:
        """Check that settings let the principal's words go to the models, wherever they run.

        Raises HostedNotAllowed, NotYetAvailable when no work was handed in.
        """
        self._require_work().require_allowed(principal)

    def due(self) -> list[str]:
        """Return ids of sessions whose next step may be claimed now, longest waiting first."""
        with self._store.read() as tx:
            return tx.claims.list_due(self._policy.limits(tx.now), limit=AT_ONCE)

    def seconds_until_due(self) -> float | None:
        """Return how long until a session that waits is due; None when none will be by itself."""
        with self._store.read() as tx:
            moment = tx.claims.next_due_at()
            return None if moment is None else max((moment - tx.now).total_seconds(), 0.0)

    def _require_work(self) -> StepWork:
        if self.work is None:
            raise NotYetAvailable.named("extraction in the background")
        return self.work

    def run(self, session_id: str) -> StepOutcome:
        """Do the step that is due, and the review right after its extraction.

        An unknown, finished or claimed session does nothing. Raises NotYetAvailable without
        anything claimed when no work was handed in, and what the store raises.
        """
        work = self._require_work()
        outcome = self._run_step(session_id, work)
        if outcome.done == "extracted":
            outcome = self._run_step(session_id, work)
            if outcome.done == "nothing":
                return StepOutcome(session_id, "extracted")
        return outcome

    def _run_step(self, session_id: str, work: StepWork) -> StepOutcome:
        claim = self._claimed(session_id)
        if isinstance(claim, StepOutcome):
            return claim
        try:
            asked = work(claim, lambda: self._renew(claim)) is not False
        except ClaimLost:
            logger.warning("a claim was lost", extra={"session_id": session_id})
            return StepOutcome(session_id, "lost")
        except NotYetAvailable:
            self._hand_back(claim)
            raise
        except Exception as error:  # whatever failed, the session stays due or is set aside
            return self._failed(claim, error)
        except BaseException:  # the process is to stop: somebody else goes on at once
            self._hand_back(claim)
            raise
        return self._settled(claim, asked=asked)

    def _claimed(self, session_id: str) -> Claim | StepOutcome:
        self._circuits.prepare()
        with self._store.write() as tx:
            state = tx.claims.get(session_id)
            if state is None:
                return StepOutcome(session_id, "nothing", "unknown")
            decision = decide_claim(state, tx.now, self._policy)
            if isinstance(decision, Leave):
                return StepOutcome(session_id, "nothing", decision.reason)
            if isinstance(decision, Bury):
                bury(tx, state, decision.error)
                return StepOutcome(session_id, "set_aside", decision.error)
            refused = self._circuits.admit(tx, state.stage)
            if refused is not None:
                next_at = refused.until + FIRST_DELAY * spread(session_id)
                tx.claims.postpone(
                    session_id, attempts=state.attempts, next_at=next_at, error=state.error
                )
                return StepOutcome(session_id, "nothing", "provider_down")
            if decision.reclaimed:
                note(tx, "extraction.reclaimed", state, attempt=state.attempts)
            return tx.claims.take(state, attempts=decision.attempts)

    def _renew(self, claim: Claim) -> None:
        with self._store.write() as tx:
            tx.claims.renew(claim)

    def _settled(self, claim: Claim, *, asked: bool) -> StepOutcome:
        with self._store.read() as tx:
            state = tx.claims.get(claim.session_id)
            is_doubtful = self._circuits.is_doubtful(tx, claim.stage)
        if state is not None and state.token == claim.token:
            return self._failed(claim, StepLeftOpen())
        if is_doubtful:
            with self._store.write() as tx:
                self._circuits.note_success(tx, claim.stage, asked=asked)
        done: Done = "extracted" if claim.stage == "extract" else "reviewed"
        return StepOutcome(claim.session_id, done)

    def _failed(self, claim: Claim, error: Exception) -> StepOutcome:
        try:
            return self._note_failure(claim, error)
        except ClaimLost:
            return StepOutcome(claim.session_id, "lost")

    def _note_failure(self, claim: Claim, error: Exception) -> StepOutcome:
        kind, code, says = failure_kind(error), failure_code(error), failure_sentence(error)
        facts: dict[str, str | int] = {"code": code, "failure": kind, "attempt": claim.attempt}
        if says is not None:
            facts["says"] = says
        with self._store.write() as tx:
            tx.claims.end(claim)
            state = tx.claims.require(claim.session_id)
            circuit = self._circuits.note_failure(tx, claim.stage, kind, retry_after(error))
            note(tx, "extraction.failed", state, **facts)
            decision = decide_failure(
                claim.attempt,
                kind,
                code,
                now=tx.now,
                policy=self._policy,
                jitter=spread(claim.session_id),
                resumes_at=circuit.open_until,
                waited=waited(state, tx.now),
            )
            if isinstance(decision, Bury):
                bury(tx, state, decision.error)
                return StepOutcome(claim.session_id, "set_aside", code, says)
            tx.claims.postpone(
                claim.session_id,
                attempts=decision.attempts,
                next_at=decision.next_at,
                error=code,
            )
            return StepOutcome(claim.session_id, "failed", code, says)

    def _hand_back(self, claim: Claim) -> None:
        """Leave the step due as if it had never begun; a lost claim is nobody's to give back."""
        try:
            with self._store.write() as tx:
                tx.claims.end(claim)
                self._circuits.note_success(tx, claim.stage, asked=False)
                tx.claims.postpone(
                    claim.session_id, attempts=claim.attempt - 1, next_at=None, error=None
                )
        except RetoldError as error:
            logger.warning(
                "a claim was not handed back and ends by itself",
                extra={"session_id": claim.session_id, "error": error.code},
            )


def claim_policy(config: RetoldConfig) -> ClaimPolicy:
    """Return the limits that the configuration sets."""
    return ClaimPolicy(
        timedelta(minutes=config.ingestion.extraction_claim_timeout_minutes),
        config.queue.max_attempts,
    )


def failure_kind(error: Exception) -> FailureKind:
    """Return what a failed step calls for; what nobody foresaw is a bug."""
    if isinstance(error, HostedError):
        return error.kind
    if isinstance(error, _SETTINGS):
        return "config"
    if isinstance(error, _MACHINE):
        return "local"
    if isinstance(error, OSError) and error.errno in _FULL:
        return "local"
    return "bug"


def failure_code(error: Exception) -> str:
    """Return a word for the failure that holds nothing of what it was about."""
    if isinstance(error, StepLeftOpen):
        return LEFT_OPEN
    return error.code if isinstance(error, RetoldError) else type(error).__name__


def failure_sentence(error: Exception) -> str | None:
    """Return what an error of our own making tells an operator; None for any other.

    Settings, packages, codes and a host are named in it, and nothing that was asked or answered.
    """
    own_client = isinstance(error, HostedError) and "address" in error.details
    return str(error) if own_client or isinstance(error, _SETTINGS) else None


def retry_after(error: Exception) -> float | None:
    """Return how many seconds a provider asked to wait; None when it did not."""
    seconds = error.details.get("retry_after_seconds") if isinstance(error, HostedError) else None
    return seconds if isinstance(seconds, int | float) else None


def spread(session_id: str) -> float:
    """Return a factor from 0.5 to 1 that is the session's own, so that waits do not end at once."""
    return 0.5 + (zlib.crc32(session_id.encode()) % 1000) / 2000


def free(tx: Transaction, state: ClaimState, policy: ClaimPolicy) -> bool:
    """Take a claim from a lost worker; False when the session was set aside instead."""
    decision = decide_stale(state, policy)
    if isinstance(decision, Bury):
        bury(tx, state, decision.error)
        return False
    note(tx, "extraction.reclaimed", state, attempt=state.attempts)
    tx.claims.release(state.session_id)
    return True


def bury(tx: Transaction, state: ClaimState, error: str) -> None:
    """Set a session aside and tell the audit trail."""
    tx.claims.bury(state.session_id, error)
    note(tx, "extraction.dead", state, code=error, attempt=state.attempts)


ClaimEvent = Literal["extraction.reclaimed", "extraction.failed", "extraction.dead"]


def note(tx: Transaction, kind: ClaimEvent, state: ClaimState, **facts: str | int) -> None:
    """Append what happened to a step of a session."""
    stage: Stage = state.stage
    tx.events.append(
        kind,
        ACTOR,
        session_id=state.session_id,
        user_id=state.user_id,
        payload={"stage": stage, **facts},
    )
