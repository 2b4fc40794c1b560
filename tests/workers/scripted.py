"""A real consumer of the extraction whose steps do what the names of sessions say.

``python -m tests.workers.scripted`` runs it like ``python -m workers extraction``. Everything but
the step is real: processes, queue file, claims. A session is named after what becomes of it:

- ``kill ...``: its worker kills itself with SIGKILL, as for want of memory, every time
- ``bad ...``: the model's answer cannot be used, every time
- ``wait ...``: the step reads the pipe ``gate`` beside the store before it commits
- anything else: both steps commit, and the second leaves the event ``extraction.run``
"""

import os
import signal
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from retold import Overrides
from retold.errors import InvalidCompletion
from retold.operations.steps import ExtractionSteps
from retold.runtime import build_runtime
from retold.store.codec import to_text
from retold.testing import FakeEmbedder, FakeJudge
from workers import __main__ as command
from workers.app import WorkerHuey
from workers.runtime import WorkerRuntime

PAST_ANY_TIMEOUT = timedelta(hours=2)


def fakes():
    return Overrides(embedder=FakeEmbedder(dims=8), judge=FakeJudge())


class Work:
    """The scripted step."""

    def __init__(self, store):
        self.store = store

    def require_ready(self): ...

    def __call__(self, claim, renew):
        with self.store.read() as tx:
            state = tx.claims.require(claim.session_id)
        behaviour = state.external_id.split(" ")[0]
        if behaviour == "kill":
            long_ago(self.store, claim.session_id)
            os.kill(os.getpid(), signal.SIGKILL)
        if behaviour == "bad":
            raise InvalidCompletion("not what was asked for")
        if behaviour == "wait" and claim.stage == "extract":
            Path(self.store.path).with_name("gate").read_bytes()
        with self.store.write() as tx:
            tx.claims.end(claim)
            if claim.stage == "extract":
                tx.claims.advance(claim.session_id)
            else:
                tx.events.append("extraction.run", "extractor", session_id=claim.session_id)
                tx.claims.finish(claim.session_id)


def long_ago(store, session_id):
    """Let a claim look as if its worker had not been heard of for hours."""
    with store.write() as tx:
        tx.run(
            "update sessions set extraction_started_at = ? where id = ?",
            (to_text(tx.now - PAST_ANY_TIMEOUT), session_id),
        )


class ScriptedRuntime(WorkerRuntime):
    """The runtime of a worker, with fakes for models and the scripted step."""

    def open_memory(self):
        config, path = self.settings.config, self.settings.store
        runtime = build_runtime(config, path, create=False, overrides=fakes())
        return replace(runtime, steps=ExtractionSteps(runtime.store, config, Work(runtime.store)))


if __name__ == "__main__":
    sys.argv = ["scripted", "extraction", *sys.argv[1:]]
    command.make_app = lambda name, settings: WorkerHuey(name, settings, ScriptedRuntime(settings))
    code = command.main()
    os._exit(code)
