"""Every task, by the names that stand in the queue files; this module never moves.

A task gets the runtime of its process and calls one method of the library. The message carries an
id, the store says what is to be done, and what fails is logged by its code alone.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from retold.errors import RetoldError, StoreUnavailable
from retold.operations.heartbeat import note_heartbeat
from retold.operations.upkeep import run_due_jobs
from retold.queue import QueueName, file_identity
from workers.runtime import WorkerRuntime

if TYPE_CHECKING:
    from workers.app import WorkerHuey

logger = logging.getLogger(__name__)


def extract_session(runtime: WorkerRuntime, session_id: str) -> None:
    """Do what is due for one session."""
    outcome = runtime.steps().run(session_id)
    logger.log(
        logging.INFO if outcome.says is None else logging.WARNING,
        "worked on a session",
        extra={"session_id": session_id, "done": outcome.done, "reason": outcome.reason}
        | ({} if outcome.says is None else {"says": outcome.says}),
    )


def sweep(runtime: WorkerRuntime, _reason: str) -> None:
    """Look after the to-do list."""
    outcome = runtime.sweep().run()
    if outcome.closed or outcome.freed or outcome.set_aside or outcome.announced:
        logger.info(
            "swept",
            extra={name: getattr(outcome, name) for name in type(outcome).__slots__},
        )


def maintain(runtime: WorkerRuntime, _reason: str) -> None:
    """Expire, flag, remove and save what is due."""
    done = run_due_jobs(runtime.store(), runtime.settings.config)
    if done:
        logger.info("maintained", extra={"jobs": done})


def beat(runtime: WorkerRuntime, queue: QueueName) -> None:
    """Give a sign of life."""
    file = file_identity(runtime.settings.queue_file(queue))
    lacks = runtime.lacks() if queue == "extraction" else None
    note_heartbeat(runtime.store(), queue, pid=os.getpid(), file=file, lacks=lacks)
    logger.info("gave a sign of life", extra={"queue": queue})


TASKS_OF: dict[QueueName, tuple[Callable[..., None], ...]] = {
    "extraction": (extract_session, beat),
    "maintenance": (sweep, maintain, beat),
}
"""What the consumer of each queue knows; it drops anything else."""


def register(huey: WorkerHuey, name: QueueName, runtime: WorkerRuntime) -> None:
    """Make the tasks of a queue known to its consumer, each under its name here."""
    for task in TASKS_OF[name]:
        huey.task()(guarded(task, runtime))


def guarded(
    task: Callable[[WorkerRuntime, str], None], runtime: WorkerRuntime
) -> Callable[[str], None]:
    """Return the task as huey calls it: what it raises never reaches huey, which logs it in full.

    An interruption passes: it ends the process.
    """

    @wraps(task)
    def run(argument: str, *_later: Any) -> None:  # noqa: ANN401  # what a later release may add
        try:
            task(runtime, argument)
        except Exception as error:  # the work stays due in the store, and the sweep rings again
            code = error.code if isinstance(error, RetoldError) else type(error).__name__
            logger.error(  # noqa: TRY400  # a traceback may hold what a memory says
                "a task failed", extra={"task": task.__name__, "argument": argument, "code": code}
            )
            if isinstance(error, StoreUnavailable):
                runtime.let_go()

    return run
