"""Whether the work in the background goes on, and what to do where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from retold.config import RetoldConfig
from retold.errors import BudgetExhausted, HostedNotAllowed
from retold.operations.circuit import OWN, STAGES, doors_from_config
from retold.operations.heartbeat import Heartbeat, heartbeat_of
from retold.policy.claims import FOR_SOMEBODY, LACKING, SETTINGS
from retold.queue import QUEUES, QueueState, inspect_queue, queue_path
from retold.store import Store, Transaction
from retold.store.claims import Backlog, Blocked
from retold.store.providers import Circuit, Door

MISSED_BEATS: Final = 3
"""So many sweeps may pass without a sign of life: one may wait behind a long session."""

LONGEST_WAIT: Final = timedelta(minutes=15)
"""A session that waits longer is not merely next in line."""


_OF_A_SESSION: Final = {
    BudgetExhausted.code: "hosted.tokens_per_run or hosted.tokens_per_day is used up",
    HostedNotAllowed.code: "hosted.enabled or hosted.allow_scopes keeps the words on this machine",
}
"""What to look for after failures whose own sentence names a user or a sum."""
_LISTED: Final = "`retold extract --pending` lists them"


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """One queue: its file, and its consumer's last sign of life, None when there was none."""

    state: QueueState
    heartbeat: Heartbeat | None


@dataclass(frozen=True, slots=True)
class WorkersHealth:
    """The queues in order, the to-do list, and what is wrong in sentences.

    ``problems`` need somebody now; ``notices`` do not stop the work.
    """

    at: datetime
    queues: tuple[QueueHealth, ...]
    backlog: Backlog
    problems: tuple[str, ...]
    notices: tuple[str, ...]


def workers_health(store: Store, config: RetoldConfig) -> WorkersHealth:
    """Look at queue files, signs of life and the to-do list; nothing is changed.

    Raises what the store raises.
    """
    with store.read() as tx:
        now, backlog = tx.now, tx.claims.backlog()
        beats = {name: heartbeat_of(tx, name) for name in QUEUES}
        down = tx.providers.list_down()
        blocked = {
            each.error: _blocked(tx, each)
            for each in tx.claims.list_blocked()
            if each.error in FOR_SOMEBODY
        }
    queues = tuple(
        QueueHealth(
            inspect_queue(name, queue_path(store.path, config.queue.directory, name)), beats[name]
        )
        for name in QUEUES
    )
    patience = MISSED_BEATS * timedelta(seconds=config.queue.sweep_seconds)
    problems = [text for each in queues for text in _queue_problems(each, now, patience)]
    notices = [*_foreign(queues), *_backlog_notices(backlog, now)]
    if backlog.waiting:
        notices += _providers_down(down, config)
    beat = beats["extraction"]
    if beat is not None and beat.lacks is not None:
        (problems if backlog.waiting else notices).append(_lacking(beat.lacks, backlog.waiting))
        blocked = {code: text for code, text in blocked.items() if code not in LACKING}
    for code, text in blocked.items():
        (notices if code in SETTINGS else problems).append(text)
    return WorkersHealth(now, queues, backlog, tuple(problems), tuple(notices))


def _queue_problems(health: QueueHealth, now: datetime, patience: timedelta) -> Iterator[str]:
    name, beat = health.state.name, health.heartbeat
    never_started = beat is None and health.state.identity is None
    if health.state.problem is not None and not never_started:
        yield f"{name} queue: {health.state.problem}"
    if beat is None:
        yield f"{name}: no worker was ever seen; start `retold worker {name}`"
        return
    if beat.at - now > patience:
        yield (
            f"{name}: the last sign of life is of a clock that was set back since (process "
            f"{beat.pid}); a worker that lives gives another within a minute"
        )
    elif now - beat.at > patience:
        yield (
            f"{name}: no sign of life for {_lasting(now - beat.at)} (process {beat.pid}); "
            f"look for it, or start `retold worker {name}`"
        )
    if health.state.identity is not None and beat.file not in (None, health.state.identity):
        yield f"{name}: the worker reads another file than this queue; it finds the new one soon"


def _lacking(lacks: str, waiting: int) -> str:
    """Say what a worker needs, and who waits for it; it reads keys and settings when it starts."""
    return f"extraction: {lacks}; then start the worker again, {_waits(waiting)} for it"


def _blocked(tx: Transaction, blocked: Blocked) -> str:
    """Say what sessions wait for, in the words of the last failure if it left any."""
    events = tx.events.list_for_session(blocked.last_session_id)
    says = [each.payload.get("says") for each in events if each.kind == "extraction.failed"]
    told = (says and says[-1]) or _OF_A_SESSION.get(blocked.error, _LISTED)
    return f"{_waits(blocked.count)} for a setting ({blocked.error}): {told}"


def _waits(sessions: int) -> str:
    if sessions == 1:
        return "1 session waits"
    return f"{sessions or 'no'} sessions wait"


def _foreign(queues: tuple[QueueHealth, ...]) -> Iterator[str]:
    for each in queues:
        if each.state.foreign:
            yield f"{each.state.name} queue: {each.state.foreign} foreign rows will be dropped"


def _providers_down(down: list[tuple[Door, Circuit]], config: RetoldConfig) -> Iterator[str]:
    """Tell which providers do not answer, of those that the settings name now."""
    door_of = doors_from_config(config)
    asked = {door_of(stage) for stage in STAGES} if down else set()
    for door, circuit in down:
        if door.provider != OWN and door not in asked:
            continue
        yield (
            f"{_named(door)} did not answer {circuit.failures} times in a row: look whether it can "
            "be reached from here; sessions wait, and it is asked again every few minutes"
        )


def _named(door: Door) -> str:
    """Name a provider with its host; the path of an address may be a secret."""
    if door.provider == OWN:
        return f"the application's own step {door.address}"
    # The clients of hosted models cost what a look at the health would wait for.
    from retold.hosted import shown_address

    return f"{door.provider} at {shown_address(door.address)}"


def _backlog_notices(backlog: Backlog, now: datetime) -> Iterator[str]:
    if backlog.failed:
        sessions = "1 session was" if backlog.failed == 1 else f"{backlog.failed} sessions were"
        yield f"{sessions} set aside after too many attempts"
    oldest = backlog.oldest_requested_at
    if oldest is not None and now - oldest > LONGEST_WAIT:
        yield (
            f"the oldest of {backlog.waiting} waiting sessions waits for {_lasting(now - oldest)}"
        )


def _lasting(span: timedelta) -> str:
    """Say how long something lasts, in seconds where that is less than two minutes."""
    minute = timedelta(minutes=1)
    if span < 2 * minute:
        return f"{span.total_seconds():.0f} seconds"
    return f"{span / minute:.0f} minutes"
