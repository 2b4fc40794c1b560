"""What an operator sees and does of the extractor's list: what waits, is lost or was set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from retold.config import RetoldConfig
from retold.errors import InvalidInput, NotFound
from retold.models import Event
from retold.operations.requests import make_due, note_again
from retold.operations.steps import claim_policy, free
from retold.policy.claims import ClaimPolicy, Standing, standing_of
from retold.store import Store, Transaction
from retold.store.claims import ClaimState, Mode, Stage
from retold.text import require_limit

Selection = Literal["pending", "stale", "failed"]

BATCH: Final = 100
"""Rows of one transaction: a conversation beside it waits for some milliseconds."""

_CHOICES: Final = 10
"""Most sessions that the refusal of an ambiguous name lists."""

_ABSENT: Final = {
    "pending": "does not wait for extraction",
    "stale": "is not held by a worker that was lost",
    "failed": "was not set aside",
}


@dataclass(frozen=True, slots=True)
class WaitingSession:
    """One segment on the list.

    ``attempts`` counts those of the present ``stage``; ``error`` is the code of the last failure.
    ``claimed_at`` is when its worker was last heard of, ``next_at`` when it is tried again.
    """

    session_id: str
    external_id: str
    agent_id: str
    user_id: str
    standing: Standing
    stage: Stage
    mode: Mode
    attempts: int
    error: str | None
    requested_at: datetime | None
    claimed_at: datetime | None
    next_at: datetime | None
    failed_at: datetime | None


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """One page of a selection; ``next`` continues it, None at the end."""

    sessions: tuple[WaitingSession, ...]
    next: str | None


def list_selected(
    store: Store,
    config: RetoldConfig,
    selection: Selection,
    *,
    after: str | None = None,
    limit: int = 20,
) -> WaitingPage:
    """Return a page of what waits (worked on or not), of what is lost, or of what was set aside.

    Raises InvalidInput for a limit out of 1 to 1000.
    """
    require_limit(limit)
    policy = claim_policy(config)
    with store.read() as tx:
        states = _page(tx, selection, policy, after, limit + 1)
        rows = [_row(state, tx.now, policy) for state in states[:limit]]
    return WaitingPage(tuple(rows), rows[-1].session_id if len(states) > limit else None)


def show_selected(
    store: Store, config: RetoldConfig, selection: Selection, session: str
) -> tuple[WaitingSession, tuple[Event, ...]]:
    """Return one segment of a selection with its events, oldest first.

    ``session`` is its id, or the host's own id of its conversation. Raises NotFound for an unknown
    one, InvalidInput for one that the selection lacks and, with the choices, for one that names
    several segments.
    """
    policy = claim_policy(config)
    with store.read() as tx:
        states = _named(tx, selection, policy, session)
        if len(states) > 1:
            raise _ambiguous(tx, session, states)
        (state,) = states
        return _row(state, tx.now, policy), tuple(tx.events.list_for_session(state.session_id))


def retry_selected(
    store: Store,
    config: RetoldConfig,
    selection: Selection,
    sessions: Sequence[str] = (),
    *,
    actor: str,
) -> tuple[WaitingSession, ...]:
    """Make segments of a selection due at once, all of it when none is named; return them.

    A host's own id names those of its conversation that the selection has. What was set aside gets
    all its attempts again, what is lost is taken from its worker, and what waits after a failure
    waits no longer; what is being worked on is left alone. Raises NotFound and InvalidInput,
    before anything is changed, for a name that is not of the selection or is of several
    conversations.
    """
    policy = claim_policy(config)

    def retry(tx: Transaction, state: ClaimState) -> None:
        if selection == "failed":
            tx.claims.revive(state.session_id)
            note_again(tx, state, "put_back", actor=actor)
        elif selection == "stale":
            free(tx, state, policy)
        else:
            make_due(tx, state)

    return tuple(_changed(store, selection, policy, sessions, retry))


def drop_selected(
    store: Store,
    config: RetoldConfig,
    selection: Selection,
    sessions: Sequence[str],
    *,
    actor: str,
) -> tuple[WaitingSession, ...]:
    """Take the named segments off the list, with what was staged of them; return them.

    Nothing that was said or stored is touched, and whoever works on one can no longer commit.
    Raises what ``retry_selected`` raises.
    """

    def drop(tx: Transaction, state: ClaimState) -> None:
        tx.claims.withdraw(state.session_id)
        tx.extraction.unstage(state.session_id)
        tx.events.append(
            "extraction.dropped",
            actor,
            session_id=state.session_id,
            user_id=state.user_id,
            payload={"stage": state.stage, "error": state.error},
        )

    policy = claim_policy(config)
    return tuple(_changed(store, selection, policy, sessions, drop)) if sessions else ()


def _changed(
    store: Store,
    selection: Selection,
    policy: ClaimPolicy,
    sessions: Sequence[str],
    change: Callable[[Transaction, ClaimState], None],
) -> Iterator[WaitingSession]:
    """Change the named segments or all of the selection, a batch a time; yield them as they are."""
    with store.read() as tx:
        named = [_of_one_conversation(tx, selection, policy, each) for each in sessions]
        wanted = list(dict.fromkeys(state.session_id for states in named for state in states))
        if not sessions:
            wanted = _all(tx, selection, policy)
    for first in range(0, len(wanted), BATCH):
        with store.write() as tx:
            states = [tx.claims.require(each) for each in wanted[first : first + BATCH]]
            found = [state for state in states if _is_of(state, selection, tx.now, policy)]
            for state in found:
                change(tx, state)
            rows = [_row(tx.claims.require(each.session_id), tx.now, policy) for each in found]
        yield from rows


def _all(tx: Transaction, selection: Selection, policy: ClaimPolicy) -> list[str]:
    ids: list[str] = []
    while True:
        page = _page(tx, selection, policy, ids[-1] if ids else None, BATCH)
        ids += [state.session_id for state in page]
        if len(page) < BATCH or selection == "stale":
            return ids


def _page(
    tx: Transaction, selection: Selection, policy: ClaimPolicy, after: str | None, limit: int
) -> list[ClaimState]:
    if selection == "failed":
        return tx.claims.list_failed(after=after, limit=limit)
    if selection == "pending":
        return tx.claims.list_waiting(after=after, limit=limit)
    # No more than there are workers, so that there is one page.
    lost = tx.claims.list_stale(policy.limits(tx.now), limit=limit)
    return [tx.claims.require(each) for each in lost]


def _named(
    tx: Transaction, selection: Selection, policy: ClaimPolicy, session: str
) -> list[ClaimState]:
    """Return the segment with that id, or what the selection has of the host's own id, in order."""
    one = tx.claims.get(session)
    ids = [each.session.id for each in tx.sessions.overviews(external_id=session)]
    states = [one] if one is not None else [tx.claims.require(each) for each in ids]
    if not states:
        raise NotFound(f"no session {session!r}; `retold extract --{selection}` lists them")
    found = [state for state in states if _is_of(state, selection, tx.now, policy)]
    if not found:
        raise InvalidInput(
            f"session {session!r} {_ABSENT[selection]}; `retold extract --{selection}` lists "
            "those there are"
        )
    return found


def _of_one_conversation(
    tx: Transaction, selection: Selection, policy: ClaimPolicy, session: str
) -> list[ClaimState]:
    states = _named(tx, selection, policy, session)
    if len({state.conversation_id for state in states}) > 1:
        raise _ambiguous(tx, session, states)
    return states


def _ambiguous(tx: Transaction, session: str, states: Sequence[ClaimState]) -> InvalidInput:
    """Return the refusal of a name of several segments, for an operator, who may see them all."""
    shown = [
        f"{state.session_id} (segment {tx.sessions.require(state.session_id).segment} of "
        f"{state.user_id!r} with {state.agent_id!r})"
        for state in states[:_CHOICES]
    ]
    more = f" and {len(states) - _CHOICES} more" if len(states) > _CHOICES else ""
    return InvalidInput(
        f"{len(states)} sessions of the list have the id {session!r}; name one by its own: "
        f"{', '.join(shown)}{more}"
    )


def _is_of(state: ClaimState, selection: Selection, now: datetime, policy: ClaimPolicy) -> bool:
    standing = standing_of(state, now, policy)
    if selection != "pending":
        return standing == ("lost" if selection == "stale" else "set_aside")
    is_done = state.extracted_at is not None and state.mode == "run"
    return state.requested_at is not None and state.failed_at is None and not is_done


def _row(state: ClaimState, now: datetime, policy: ClaimPolicy) -> WaitingSession:
    return WaitingSession(
        state.session_id,
        state.external_id,
        state.agent_id,
        state.user_id,
        standing_of(state, now, policy),
        state.stage,
        state.mode,
        state.attempts,
        state.error,
        state.requested_at,
        state.started_at,
        state.next_at,
        state.failed_at,
    )
