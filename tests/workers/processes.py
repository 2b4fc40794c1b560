"""Consumers as processes of a test, whose log lines tell when something has happened."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from retold import Retold
from retold.operations.heartbeat import heartbeat_of
from retold.queue import NoQueue
from tests.cli_support import environment
from tests.docs_support import ROOT
from tests.warm_process import WarmPopen
from tests.workers.scripted import fakes

PATIENCE_SECONDS = 60

CONFIG = """
embedding: {model: all-MiniLM-L6-v2/onnx-int8, dims: 384}
ingestion: {equivalence: {model: lexical}}
queue: {backend: huey, sweep_seconds: 1, max_attempts: 3}
"""


@dataclass
class Consumer:
    """A running consumer; it leads a group of its own."""

    process: subprocess.Popen
    lines: list = field(default_factory=list)
    reader: threading.Thread | None = None

    def until(self, wanted, **facts):
        """Read log lines up to the one with this message and these facts, and return it."""
        with self._patience():
            return self._until(wanted, facts)

    def _until(self, wanted, facts):
        for text in self.process.stderr:
            line = json.loads(text) if text.startswith("{") else {"message": text}
            self.lines.append(line)
            if line["message"].startswith(wanted) and facts.items() <= line.items():
                return line
        raise AssertionError(f"the consumer ended without {wanted!r} {facts}: {self.lines}")

    def drain(self):
        """Read the log from now on, so that a long one never holds the consumer up."""
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stderr))
        self.reader.start()

    def kill_group(self):
        """End the consumer and its children at once, as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.rest()

    def stop(self):
        """Send SIGTERM to the consumer alone, as a supervisor does; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        self.rest()
        return self.process.returncode

    def rest(self):
        """Read the log to its end, which comes when no process of the consumer is left."""
        if self.reader is not None:
            self.reader.join()
            self.process.wait()
            return
        with self._patience():
            for text in self.process.stderr:
                self.lines.append(json.loads(text) if text.startswith("{") else {"message": text})
            self.process.wait()

    @contextmanager
    def _patience(self):
        """Fail instead of hanging: what takes too long is killed, with all its children."""
        overdue = threading.Event()

        def give_up():
            overdue.set()
            os.killpg(self.process.pid, signal.SIGKILL)

        timer = threading.Timer(PATIENCE_SECONDS, give_up)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
        assert not overdue.is_set(), self.lines


class Site:
    """A store with its workers' configuration."""

    def __init__(self, folder, config=CONFIG, overrides=None):
        self.path = Path(folder) / "memory.sqlite"
        self.config = Path(folder) / "retold.yaml"
        self.config.write_text(config, encoding="utf-8")
        self.retold = Retold.open(self.path, config=self.config, overrides=overrides or fakes())
        self.store = self.retold.store
        self._started = []

    def variables(self):
        return {"RETOLD_STORE": str(self.path), "RETOLD_CONFIG": str(self.config)}

    def queue_file(self, name="extraction"):
        return self.path.with_name(f"{self.path.name}.{name}-queue")

    def requested(self, name, *, ring=True):
        """Return the id of a session that ended and is to be extracted; ``ring`` tells workers."""
        if not ring:
            overrides = fakes()
            with Retold.open(
                self.path,
                config=self.config,
                overrides=type(overrides)(overrides.embedder, overrides.judge, queue=NoQueue()),
            ) as silent:
                return requested(silent, name)
        return requested(self.retold, name)

    def module(self, queue):
        """Return what Python runs for the consumer of a queue, or for those of "all"."""
        if queue == "all":
            return ["tests.workers.together"]
        return ["workers", queue] if queue == "maintenance" else ["tests.workers.scripted"]

    def start(self, queue, *arguments, wait=True):
        """Start a consumer and wait until it works, or have its log read in the background."""
        process = WarmPopen(
            [sys.executable, "-m", *self.module(queue), *arguments],
            cwd=ROOT,
            env=environment(**self.variables()),
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        consumer = Consumer(process)
        self._started.append(consumer)
        if wait:
            consumer.until("gave a sign of life")
        else:
            consumer.drain()
        return consumer

    def state(self, session_id):
        with self.store.read() as tx:
            return tx.claims.require(session_id)

    def heartbeat(self, queue):
        with self.store.read() as tx:
            return heartbeat_of(tx, queue)

    def runs(self):
        """Return the session of every finished run, in order."""
        with self.store.read() as tx:
            return [
                row[0]
                for row in tx.run(
                    "select r.session_id from events as e join event_refs as r on r.seq = e.seq "
                    "where e.kind = 'extraction.run' order by e.seq"
                )
            ]

    def events(self, session_id):
        with self.store.read() as tx:
            return [
                row[0]
                for row in tx.run(
                    "select e.kind from events as e join event_refs as r on r.seq = e.seq "
                    "where r.session_id = ? and e.kind like 'extraction.%' order by e.seq",
                    (session_id,),
                )
            ]

    def close(self):
        for consumer in self._started:
            if consumer.process.poll() is None:
                os.killpg(consumer.process.pid, signal.SIGKILL)
            consumer.rest()
            consumer.process.stderr.close()
        self.retold.close()


def requested(retold, name):
    principal = retold.session("ana", session_id=name).principal
    retold.runtime.hooks.on_turn(principal, "user", "I live in Porto.")
    return retold.runtime.hooks.on_session_end(principal, extract=True).id


@contextmanager
def site(folder):
    made = Site(folder)
    try:
        yield made
    finally:
        made.close()
