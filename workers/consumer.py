"""Consumers that leave no orphans, tick by the store's own settings and stop in time."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
from typing import Any, Final

from huey.consumer import Consumer, Scheduler, Worker

from retold.queue import QueueName
from workers.app import WorkerHuey

logger = logging.getLogger(__name__)

_PR_SET_PDEATHSIG: Final = 1

RECYCLE_AFTER: Final = 200
"""Tasks after which a process of the extraction is replaced, so that no leak grows for ever."""
LONGEST_POLL_SECONDS: Final = 0.5
"""An idle consumer notices an announcement within this time."""

FLAGS: Final[dict[QueueName, dict[str, Any]]] = {
    # Processes: a session may hang in a model or need more memory than there is.
    "extraction": {"worker_type": "process", "max_tasks": RECYCLE_AFTER},
    # One thread: the jobs are short, need no model and must not run twice at once.
    "maintenance": {"worker_type": "thread"},
}


def die_with_parent(parent: int) -> None:
    """Let the system kill this process as soon as its parent is gone; only Linux can.

    Elsewhere the process notices it between two tasks; see ``leave_orphaned``.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    leave_orphaned(parent)


def leave_orphaned(parent: int) -> None:
    """End this process when its parent is gone: it would go on for ever, with old code."""
    if os.getppid() != parent:
        os._exit(os.EX_TEMPFAIL)


class GuardedWorker(Worker):  # type: ignore[misc]  # huey ships no types
    """A worker that ends with its consumer, whatever ended that."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401  # as huey passes
        super().__init__(*args, **options)
        self._consumer = os.getpid()

    def initialize(self) -> None:
        """Guard a process of its own; a thread ends with its process anyway."""
        if os.getpid() != self._consumer:
            die_with_parent(self._consumer)
        super().initialize()

    def loop(self, now: object = None) -> None:
        """Take one task, unless the consumer is gone."""
        if os.getpid() != self._consumer:
            leave_orphaned(self._consumer)
        super().loop(now)


class Ticker(Scheduler):  # type: ignore[misc]  # huey ships no types
    """In the place of huey's scheduler, whose table loses what is due when it is killed.

    It asks for signs of life and sweeps, at its start and then every ``queue.sweep_seconds``. What
    the tasks then do, the store decides, so that a lost or a second tick changes nothing.
    """

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401  # as huey passes
        super().__init__(*args, **options)
        self._consumer = os.getpid()

    def initialize(self) -> None:
        """Guard a process of its own, and make sure that there is a file to tick into."""
        if os.getpid() != self._consumer:
            die_with_parent(self._consumer)

    def loop(self, now: object = None) -> None:
        """Tick once and wait."""
        if os.getpid() != self._consumer:
            leave_orphaned(self._consumer)
        try:
            self.huey.storage.queue_size()  # makes a missing file
        except Exception as error:  # locked, full or damaged: `retold workers health` says it
            logger.error(  # noqa: TRY400  # told by its class, once per tick
                "the queue cannot be used",
                extra={"queue": self.huey.name, "error": type(error).__name__},
            )
        self.huey.tick()
        self.stop_flag.wait(self.huey.settings.config.queue.sweep_seconds)


class GuardedConsumer(Consumer):  # type: ignore[misc]  # huey ships no types
    """huey's consumer with guarded workers and the ticker."""

    worker_class = GuardedWorker
    scheduler_class = Ticker


def consumer_of(huey: WorkerHuey, *, workers: int, grace_seconds: float) -> GuardedConsumer:
    """Return the consumer of a queue with the flags that suit its work.

    SIGTERM lets the running tasks end; those that have not after ``grace_seconds`` are interrupted
    and hand their session back.
    """
    name: QueueName = huey.name
    return huey.create_consumer(
        workers=workers if name == "extraction" else 1,
        max_delay=LONGEST_POLL_SECONDS,
        initial_delay=LONGEST_POLL_SECONDS / 5,
        health_check_interval=1,
        graceful_signal="TERM",
        shutdown_timeout=grace_seconds,
        **FLAGS[name],
    )
