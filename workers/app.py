"""The two huey instances, made from the settings of the environment.

``workers.app.extraction`` and ``workers.app.maintenance`` are made when they are first named, so
``huey_consumer workers.app.extraction`` works too; ``retold worker`` passes the right flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from huey.api import Huey

from retold.queue import QUEUES, MessageSerializer, QueueName
from workers import tasks
from workers.runtime import WorkerRuntime
from workers.settings import WorkerSettings, worker_settings
from workers.storage import WatchedStorage

if TYPE_CHECKING:
    from workers.consumer import GuardedConsumer

_LOCK_SECONDS = 5.0
"""How long a consumer waits for its queue's lock, which others hold for a millisecond."""


class WorkerHuey(Huey):  # type: ignore[misc]  # huey ships no types
    """One queue with its tasks: no results, no pickle, and consumers that die with their parent."""

    def __init__(self, name: QueueName, settings: WorkerSettings, runtime: WorkerRuntime) -> None:
        """Put the queue together; its file is opened when it is first read."""
        super().__init__(
            name,
            results=False,
            serializer=MessageSerializer(),
            storage_class=WatchedStorage,
            filename=str(settings.queue_file(name)),
            fsync=True,
            timeout=_LOCK_SECONDS,
            strict_fifo=True,
            create_tables=False,
        )
        self.settings = settings
        self.runtime = runtime
        self._bell = settings.bell(name)
        tasks.register(self, name, runtime)
        self.on_shutdown(name="close")(runtime.close)

    def tick(self) -> None:
        """Ask this queue's consumer for what is to be done now and then. Never raises."""
        self._bell.ask("beat", self.name)
        if self.name == "maintenance":
            self._bell.ask("sweep", "due")
            self._bell.ask("maintain", "due")

    def create_consumer(self, **options: Any) -> GuardedConsumer:  # noqa: ANN401  # as huey passes
        """Return the consumer that ``huey_consumer`` and ``python -m workers`` run."""
        from workers.consumer import GuardedConsumer

        return GuardedConsumer(self, **options)


def make_app(name: QueueName, settings: WorkerSettings) -> WorkerHuey:
    """Return the instance of one queue."""
    return WorkerHuey(name, settings, WorkerRuntime(settings))


def __getattr__(name: str) -> WorkerHuey:
    for queue in QUEUES:
        if name == queue:
            app = make_app(queue, worker_settings())
            globals()[name] = app
            return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
