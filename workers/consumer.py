"""Consumers that leave no orphans, tick by the store's own settings and stop in time."""

from __future__ import annotations

import ctypes
import logging
import math
import os
import signal
import sys
import time
from typing import Any, Final

from huey.consumer import Consumer, ProcessEnvironment, Scheduler, Worker

from retold.operations.stopping import AT_ONCE, StopRequests, listen
from retold.queue import QueueName
from workers.app import WorkerHuey

logger = logging.getLogger(__name__)

_PR_SET_PDEATHSIG: Final = 1

RECYCLE_AFTER: Final = 200
"""Tasks after which a process of the extraction is replaced, so that no leak grows for ever."""
LONGEST_POLL_SECONDS: Final = 0.5
"""An idle consumer notices an announcement within this time."""
_LOOK_SECONDS: Final = 0.1
"""How often a consumer that stops looks whether somebody insists; huey looks as often."""

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
    """huey's consumer with guarded workers, the ticker, and one meaning for every signal.

    Whatever asks to stop lets the running tasks end; who asks again has them interrupted. Under a
    supervisor, which counts for all it started, only ``AT_ONCE`` does that.
    """

    worker_class = GuardedWorker
    scheduler_class = Ticker

    def __init__(
        self,
        *args: Any,  # noqa: ANN401  # as huey passes
        supervised: bool = False,
        requests: StopRequests | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        self._supervised = supervised
        self._requests = requests or StopRequests()
        self._at_once = False
        super().__init__(*args, **options)

    def get_environment(self, worker_type: str) -> Any:  # noqa: ANN401  # huey ships no types
        """Return what starts the workers, and interrupts them with nothing but ``AT_ONCE``."""
        if worker_type == "process":
            return ProcessEnvironment(signal.SIGTERM, AT_ONCE)
        return super().get_environment(worker_type)

    def start(self) -> None:
        """Listen before a task can run; workers inherit that Ctrl-C interrupts nothing."""
        self._set_signal_handlers()
        super().start()

    def stop(self, graceful: bool = False) -> None:
        """Let what runs end, and interrupt it when the grace is over or somebody insists."""
        self.stop_flag.set()
        logger.info("stopping", extra={"queue": self.huey.name})
        if not (graceful and self._have_ended()):
            logger.warning("interrupting what has not ended", extra={"queue": self.huey.name})
            self._interrupt_workers()

    def _have_ended(self) -> bool:
        grace = self.shutdown_timeout
        deadline = time.monotonic() + (math.inf if grace is None else grace)
        parts = [*(process for _, process in self.worker_threads), self.scheduler]
        while running := [each for each in parts if self.environment.is_alive(each)]:
            left = deadline - time.monotonic()
            if self._at_once or left <= 0:
                return False
            running[0].join(min(left, _LOOK_SECONDS))
        return True

    def _set_signal_handlers(self) -> None:
        listen(self._handle_signal)
        signal.signal(AT_ONCE, self._handle_signal)

    def _handle_signal(self, signum: int, _frame: object) -> None:
        insists = self._requests.note() and not self._supervised
        self._at_once = self._at_once or insists or signum == AT_ONCE
        self._signum = signum


def consumer_of(
    huey: WorkerHuey, *, workers: int, grace_seconds: float, supervised: bool = False
) -> GuardedConsumer:
    """Return the consumer of a queue with the flags that suit its work.

    A request to stop lets the running tasks end; those that have not after ``grace_seconds`` are
    interrupted and hand their session back. ``supervised``: another process counts the requests.
    """
    name: QueueName = huey.name
    return huey.create_consumer(
        workers=workers if name == "extraction" else 1,
        max_delay=LONGEST_POLL_SECONDS,
        initial_delay=LONGEST_POLL_SECONDS / 5,
        health_check_interval=1,
        graceful_signal="TERM",
        shutdown_timeout=grace_seconds,
        supervised=supervised,
        **FLAGS[name],
    )
