"""Who may work on a step of an extraction, and what becomes of it when it fails; pure rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from retold.errors import (
    BudgetExhausted,
    ConfigError,
    EmbeddingProfileMismatch,
    FailureKind,
    HostedNotAllowed,
    ProviderNotConfigured,
    RetoldSetupError,
)
from retold.policy.circuit import LONGEST_ASKED_FOR
from retold.store.claims import ClaimState, Limits

Refusal = Literal[
    "not_requested", "not_ended", "extracted", "set_aside", "not_before", "claimed_by_another"
]

Standing = Literal["open", "due", "later", "worked_on", "lost", "set_aside"]
"""Where a segment on the list stands: ``open`` until its conversation ends, ``later`` after a
failure, ``lost`` when whoever works on it was not heard of for too long."""

ATTEMPTS_EXHAUSTED = "attempts_exhausted"
"""The code of a segment whose workers died, or were lost, every time."""

FIRST_DELAY = timedelta(seconds=30)
LONGEST_DELAY = timedelta(minutes=30)
"""Waits between two attempts double from the first to the longest; with five attempts that spans
some ten minutes, more than a provider's usual outage."""

WAITED_PART = 8
"""A session whose calls alone get no answer, while the provider answers others, waits for this
part of the time that it has waited already, up to the longest delay: a transcript that no model
reads in time would else be sent every minute for ever."""

LONGEST_WAIT = LONGEST_ASKED_FOR + LONGEST_DELAY
"""No wait that begins now ends later, not even one that a provider asked for."""

COUNTED: frozenset[FailureKind] = frozenset({"content", "bug"})
"""Failures of the session itself; what is wrong with the world around it uses up no attempt."""

SETTINGS: frozenset[str] = frozenset({BudgetExhausted.code, HostedNotAllowed.code})
"""Failures that come back until somebody changes a setting, or the day is over: trying again soon
would spend tokens on the same end."""


LACKING: frozenset[str] = frozenset(
    {RetoldSetupError.code, ConfigError.code, EmbeddingProfileMismatch.code, HostedNotAllowed.code}
)
"""Failures that a worker can foresee before it is given a session."""

FOR_SOMEBODY: frozenset[str] = LACKING | SETTINGS | {ProviderNotConfigured.code}
"""Failures after which a session waits for a person, not for a better moment."""


@dataclass(frozen=True, slots=True)
class ClaimPolicy:
    """The configured limits: when a claim is stale, and after how many attempts a stage is over."""

    timeout: timedelta
    max_attempts: int

    def limits(self, now: datetime) -> Limits:
        """Return what is live and what waits, seen from now."""
        return Limits(now - self.timeout, now + self.timeout, now + LONGEST_WAIT)


@dataclass(frozen=True, slots=True)
class Take:
    """Claim it: ``attempts`` with this one; ``reclaimed`` when a worker was lost on it before."""

    attempts: int
    reclaimed: bool


@dataclass(frozen=True, slots=True)
class Bury:
    """Set it aside for a person, under this code."""

    error: str


@dataclass(frozen=True, slots=True)
class Leave:
    """Do nothing; ``reason`` says why."""

    reason: Refusal


@dataclass(frozen=True, slots=True)
class Postpone:
    """Leave it due, from ``next_at`` on (None: at once), with so many attempts counted."""

    attempts: int
    next_at: datetime | None


def decide_claim(state: ClaimState, now: datetime, policy: ClaimPolicy) -> Take | Bury | Leave:
    """Decide what becomes of a worker's wish to do the next step of a segment."""
    refusal = _refusal(state, now, policy)
    if refusal is not None:
        return Leave(refusal)
    if state.attempts >= policy.max_attempts:
        return Bury(state.error or ATTEMPTS_EXHAUSTED)
    return Take(state.attempts + 1, reclaimed=state.token is not None)


def decide_stale(state: ClaimState, policy: ClaimPolicy) -> Postpone | Bury:
    """Decide what becomes of a segment whose worker was not heard of for too long."""
    if state.attempts >= policy.max_attempts:
        return Bury(state.error or ATTEMPTS_EXHAUSTED)
    return Postpone(state.attempts, None)


def decide_failure(
    attempt: int,
    kind: FailureKind,
    code: str,
    *,
    now: datetime,
    policy: ClaimPolicy,
    jitter: float = 1.0,
    resumes_at: datetime | None = None,
    waited: timedelta = timedelta(0),
) -> Postpone | Bury:
    """Decide what becomes of a step that failed on its ``attempt``, counted from 1.

    ``jitter`` in (0, 1] shortens the wait, so that sessions which failed together do not come
    back together. ``resumes_at`` is when the provider may be asked again, None when it may be now:
    an outage uses up no attempt, so its wait grows with the rests of its provider, or where that
    has none with the time that the session has ``waited``.
    """
    counted = attempt if kind in COUNTED else attempt - 1
    if kind in COUNTED and attempt >= policy.max_attempts:
        return Bury(code)
    doubled = FIRST_DELAY * 2 ** min(attempt - 1, 16)
    if kind == "outage" and resumes_at is None:
        doubled = max(doubled, waited / WAITED_PART)
    is_for_somebody = kind == "config" or code in SETTINGS
    delay = LONGEST_DELAY if is_for_somebody else min(doubled, LONGEST_DELAY)
    return Postpone(counted, max(now, resumes_at or now) + delay * jitter)


def waited(state: ClaimState, now: datetime) -> timedelta:
    """Return how long a segment has been waiting for its memories since it ended."""
    since = [moment for moment in (state.requested_at, state.ended_at) if moment is not None]
    return max(now - max(since), timedelta(0)) if since else timedelta(0)


def _refusal(state: ClaimState, now: datetime, policy: ClaimPolicy) -> Refusal | None:
    if state.requested_at is None:
        return "not_requested"
    if state.ended_at is None:
        return "not_ended"
    if state.extracted_at is not None and state.mode != "rerun":
        return "extracted"
    if state.failed_at is not None:
        return "set_aside"
    if _waits(state, now, policy):
        return "not_before"
    if is_live(state, now, policy):
        return "claimed_by_another"
    return None


def standing_of(state: ClaimState, now: datetime, policy: ClaimPolicy) -> Standing:
    """Return where a segment on the list stands."""
    if state.failed_at is not None:
        return "set_aside"
    if state.token is not None:
        return "worked_on" if is_live(state, now, policy) else "lost"
    if state.ended_at is None:
        return "open"
    return "later" if _waits(state, now, policy) else "due"


def is_live(state: ClaimState, now: datetime, policy: ClaimPolicy) -> bool:
    """Return whether somebody works on the segment and was heard of lately."""
    if state.token is None or state.started_at is None:
        return False
    limits = policy.limits(now)
    return limits.live_from <= state.started_at <= limits.live_until


def _waits(state: ClaimState, now: datetime, policy: ClaimPolicy) -> bool:
    return state.next_at is not None and now < state.next_at <= policy.limits(now).waits_until
