"""The signs of life of the workers, written by a task that came through their queue."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from retold.policy.claims import LACKING
from retold.queue import QueueName
from retold.store import Store, Transaction
from retold.store.codec import from_text, to_text


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last sign of life of the consumer of one queue.

    ``pid`` is its process, ``file`` the identity of the queue file that it reads, None when it
    could not be told. ``lacks`` says what keeps it from its work, None when nothing does.
    """

    queue: QueueName
    at: datetime
    pid: int
    file: str | None
    lacks: str | None = None


def note_heartbeat(
    store: Store, queue: QueueName, *, pid: int, file: str | None, lacks: str | None = None
) -> Heartbeat:
    """Store a sign of life at the store's own moment; it replaces the last one.

    With the first that lacks nothing any more, sessions stop waiting for what it lacked.
    """
    with store.write() as tx:
        before = heartbeat_of(tx, queue)
        beat = Heartbeat(queue, tx.now, pid, file, lacks)
        value = json.dumps({"at": to_text(beat.at), "pid": pid, "file": file, "lacks": lacks})
        tx.meta.set_text(_key(queue), value)
        if before is not None and before.lacks is not None and lacks is None:
            tx.claims.end_waits(LACKING)
    return beat


def heartbeat_of(tx: Transaction, queue: QueueName) -> Heartbeat | None:
    """Return the last sign of life; None when there was none."""
    value = tx.meta.get_text(_key(queue))
    if value is None:
        return None
    row = json.loads(value)
    return Heartbeat(queue, from_text(row["at"]), row["pid"], row["file"], row.get("lacks"))


def _key(queue: QueueName) -> str:
    return f"heartbeat.{queue}"
