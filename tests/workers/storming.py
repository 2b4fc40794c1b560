"""A real consumer in fast time: ``python -m tests.workers.storming extraction|maintenance``.

Everything is what ``python -m workers`` runs, the run over HTTP included, with two exceptions:
embedder and judge are quick, and a minute of the store's clock takes a second, so that waits and
timeouts of minutes come to an end. A conversation named ``kill ...`` kills its worker, each time.
"""

import os
import signal
import sys
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module

from retold import Overrides
from retold.ingest.lexical_judge import LexicalJudge
from retold.operations.steps import ExtractionSteps
from retold.runtime import build_runtime
from retold.store import Store
from retold.testing import FakeEmbedder
from workers import __main__ as command
from workers.app import WorkerHuey
from workers.runtime import WorkerRuntime

SPEED = 60
BEGAN = "STORM_BEGAN"
"""The variable that says when fast time began, so that all processes have the same."""


def fast_clock(began):
    """Return a clock that runs fast since a moment, in ISO 8601."""
    since = datetime.fromisoformat(began)
    return lambda: since + SPEED * (datetime.now(UTC) - since)


def overrides(began):
    """Return quick models and fast time."""
    return Overrides(embedder=FakeEmbedder(dims=8), judge=LexicalJudge(), clock=fast_clock(began))


class Deadly:
    """The run, except for conversations that kill who works on them."""

    def __init__(self, run, store):
        self.run = run
        self.store = store
        self.require_ready = run.require_ready

    def __call__(self, claim, renew):
        with self.store.read() as tx:
            name = tx.claims.require(claim.session_id).external_id
        if name.startswith("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        self.run(claim, renew)


class FastRuntime(WorkerRuntime):
    """The runtime of a worker in fast time."""

    def open_memory(self):
        config, path = self.settings.config, self.settings.store
        runtime = build_runtime(config, path, create=False, overrides=overrides(os.environ[BEGAN]))
        deadly = Deadly(runtime.steps.work, runtime.store)
        return replace(runtime, steps=ExtractionSteps(runtime.store, config, deadly))

    def store(self):
        opened = self._own()
        if opened.memory is not None:
            return opened.memory.store
        if opened.store is None:
            clock = fast_clock(os.environ[BEGAN])
            opened.store = Store.open(self.settings.store, clock=clock, create=False)
        return opened.store


if __name__ == "__main__":
    import_module("anthropic")  # before the fork: a call must not wait for it
    command.make_app = lambda name, settings: WorkerHuey(name, settings, FastRuntime(settings))
    sys.argv[0] = "storming"
    code = command.main()
    os._exit(code)
