"""The library's side of a queue file: announce, at most for a moment, and go on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from retold.queue.files import QueueName, make_storage
from retold.queue.messages import TASKS, ForeignMessage, decode_row, encode_message
from retold.util import IdSource, new_id

logger = logging.getLogger(__name__)

URGENT: Final = 10
"""The priority of what is no session: signs of life and sweeps."""


class HueyQueue:
    """Write announcements into the file that the workers read. Safe across threads.

    The file is opened for each announcement: one that was removed or replaced meanwhile never
    swallows any. Without a file there are no workers yet, and those that come look into the store.
    """

    def __init__(
        self,
        path: Path,
        *,
        timeout_ms: int,
        max_pending: int,
        name: QueueName = "extraction",
        id_source: IdSource = new_id,
    ) -> None:
        """Keep the settings; nothing is opened and huey is not loaded."""
        self.path = path
        self._timeout_seconds = timeout_ms / 1000
        self._max_pending = max_pending
        self._name = name
        self._new_id = id_source

    def request_extraction(self, session_id: str) -> None:
        """Announce one session. Never raises; each wait for a lock is bounded."""
        self.announce([session_id])

    def announce(self, session_ids: Sequence[str]) -> int:
        """Announce sessions that are not announced already; return how many. Never raises."""
        return self._guarded(lambda: self._enqueue(TASKS["extract_session"], session_ids))

    def ask(self, task: str, argument: str) -> int:
        """Ask the consumer for something that is not one session's, unless it has been asked.

        ``task`` is a key of ``TASKS``. It comes before every session, however many wait. Returns 1,
        or 0 when nothing was written. Never raises.
        """
        return self._guarded(lambda: self._enqueue(TASKS[task], [argument], urgent=True))

    def _guarded(self, enqueue: Callable[[], int]) -> int:
        try:
            return enqueue() if self.path.exists() else 0
        except Exception as error:  # locked, full, damaged: the to-do list is in the store
            logger.warning(
                "the queue took nothing; its sessions stay due in the store",
                extra={"queue": self._name, "error": type(error).__name__},
            )
            return 0

    def _enqueue(self, task: str, arguments: Sequence[str], *, urgent: bool = False) -> int:
        storage = make_storage(self._name, self.path, timeout_seconds=self._timeout_seconds)
        with closing(storage):
            rows = storage.enqueued_items(self._max_pending)
            waiting = {argument for row in rows for argument in _arguments(row, task)}
            room = len(arguments) if urgent else self._max_pending - len(rows)
            new = [each for each in dict.fromkeys(arguments) if each not in waiting][:room]
            priority = URGENT if urgent else 0
            for argument in new:
                row = encode_message(task, self._new_id(), [argument], priority=priority)
                storage.enqueue(row, priority)
        return len(new)


def _arguments(row: bytes, task: str) -> Sequence[str]:
    try:
        message = decode_row(row)
    except ForeignMessage:
        return ()
    return message["args"] if message["name"] == task else ()
