"""Which store these processes work on, and how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from retold.config import RetoldConfig
from retold.errors import ConfigError
from retold.memory.opened import resolve_settings
from retold.queue import HueyQueue, QueueName, queue_path


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The store and its configuration; opening anything is left to the process that works."""

    store: Path
    config: RetoldConfig

    def queue_file(self, name: QueueName) -> Path:
        """Return the file of a queue."""
        return queue_path(self.store, self.config.queue.directory, name)

    def bell(self, name: QueueName) -> HueyQueue:
        """Return what writes into a queue; nothing is opened."""
        cfg = self.config.queue
        return HueyQueue(
            self.queue_file(name),
            timeout_ms=cfg.enqueue_timeout_ms,
            max_pending=cfg.max_pending,
            name=name,
        )


def worker_settings() -> WorkerSettings:
    """Return the settings of RETOLD_STORE, RETOLD_CONFIG and RETOLD_PROFILE.

    Raises ConfigError for a wrong file and when the configuration names no queue for workers.
    """
    path, applied = resolve_settings(None, None, None)
    config = applied.config
    if config.queue.backend != "huey":
        raise ConfigError(
            f"queue.backend is {config.queue.backend}, so nothing is announced to workers; set it "
            "to huey in the file that RETOLD_CONFIG names, for the application too"
        )
    return WorkerSettings(Path(path).absolute(), config)
