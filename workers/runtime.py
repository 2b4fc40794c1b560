"""What a task works with: opened in the process that runs it, after every fork, and kept there."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass

from retold.config import RetoldConfig
from retold.errors import (
    ConfigError,
    EmbeddingProfileMismatch,
    HostedNotAllowed,
    RetoldSetupError,
)
from retold.operations.steps import ExtractionSteps
from retold.operations.sweep import Sweep
from retold.runtime import MemoryRuntime, build_runtime
from retold.store import Store
from workers.settings import WorkerSettings

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Opened:
    """What this process has opened; a child that inherits it belongs to another process."""

    pid: int
    memory: MemoryRuntime | None = None
    store: Store | None = None


class WorkerRuntime:
    """Open on first use, once per process: connections and models never cross a fork."""

    def __init__(self, settings: WorkerSettings) -> None:
        """Keep the settings; nothing is opened."""
        self.settings = settings
        self._opened = _Opened(os.getpid())

    def memory(self) -> MemoryRuntime:
        """Return the store with everything that works on it. Raises what opening raises."""
        opened = self._own()
        if opened.memory is None:
            opened.memory = self.open_memory()
        return opened.memory

    def store(self) -> Store:
        """Return the store alone, for work that needs no model. Raises what opening raises."""
        opened = self._own()
        if opened.memory is not None:
            return opened.memory.store
        if opened.store is None:
            seconds = self.settings.config.store.busy_timeout_seconds
            opened.store = Store.open(
                self.settings.store, busy_timeout_seconds=seconds, create=False
            )
        return opened.store

    def open_memory(self) -> MemoryRuntime:
        """Open the store for extraction; a worker embeds on one thread unless told otherwise."""
        return build_runtime(_with_threads(self.settings.config), self.settings.store, create=False)

    def steps(self) -> ExtractionSteps:
        """Return what works on a session."""
        return self.memory().steps

    def lacks(self) -> str | None:
        """Return, and warn, what keeps this process from extracting anything; None for nothing.

        Raises what opening the store raises.
        """
        try:
            self.steps().require_ready()
        except (RetoldSetupError, ConfigError, EmbeddingProfileMismatch, HostedNotAllowed) as error:
            logger.warning("no session can be extracted", extra={"lacks": error.message})
            return error.message
        return None

    def sweep(self) -> Sweep:
        """Return what looks after the to-do list and rings the extraction's bell."""
        announce = self.settings.bell("extraction").announce
        return Sweep(self.store(), self.settings.config, announce)

    def close(self) -> None:
        """Close what this process opened; what a parent opened is the parent's."""
        opened = self._own()
        self._opened = _Opened(os.getpid())
        if opened.memory is not None:
            opened.memory.close()
        if opened.store is not None:
            opened.store.close()

    def let_go(self) -> None:
        """Close what cannot be used, such as a file that was replaced; the next task opens anew."""
        try:
            self.close()
        except Exception as error:  # it is let go all the same
            logger.warning("the store did not close", extra={"error": type(error).__name__})

    def _own(self) -> _Opened:
        if self._opened.pid != os.getpid():
            self._opened = _Opened(os.getpid())
        return self._opened


def _with_threads(config: RetoldConfig) -> RetoldConfig:
    """Embed on one thread: several workers that each take all cores wait for each other."""
    if config.embedding.threads is not None:
        return config
    embedding = config.embedding.model_copy(update={"threads": 1})
    return config.model_copy(update={"embedding": embedding})
