"""What the processes of the process tests do; each function runs in a process of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

from retold.errors import StoreError
from retold.store import Store
from tests.store_support import IDENTITY, contents, prepare, remember

FORKED = get_context("forkserver")
# Of a process that has imported all this and done nothing; the tests' own process has threads.
FORKED.set_forkserver_preload(
    ["pytest", __name__, "tests.maintenance_support", "tests.store_support"]
)
PATIENCE_SECONDS = 120


def _reported(
    work: Callable[..., None], results: Queue, barrier: Barrier, *arguments: object
) -> None:
    """Run and report ``"ok"`` or the traceback; nobody waits for a process that failed."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        work(barrier, *arguments)
    except BaseException:  # whatever it was, the parent is to know
        barrier.abort()
        results.put(traceback.format_exc())
    else:
        results.put("ok")


def _end_with_parent() -> None:
    """End this process as soon as the tests are gone, however they ended."""
    tests = parent_process()
    assert tests is not None
    tests.join()
    os._exit(1)


@contextmanager
def processes(results: Queue, barrier: Barrier) -> Iterator[Callable[..., None]]:
    """Yield a function that starts a process; none of them survives the block."""
    started: list[BaseProcess] = []

    def start(work: Callable[..., None], *arguments: object) -> None:
        child = FORKED.Process(target=_reported, args=(work, results, barrier, *arguments))
        child.start()
        started.append(child)

    try:
        yield start
    finally:
        for child in started:
            child.join(PATIENCE_SECONDS)
            if child.is_alive():
                child.kill()


def open_together(barrier: Barrier, folder: Path, rounds: int) -> None:
    """Open a new file at the same moment as others, write one row; once for every round."""
    for number in range(rounds):
        barrier.wait(PATIENCE_SECONDS)
        with Store.open(folder / f"{number}.db") as store, store.write() as tx:
            tx.meta.set_embedding_identity(IDENTITY)
            tx.meta.set_text(f"process {os.getpid()}", "was here")


def write_many(barrier: Barrier, path: Path, name: str, count: int) -> None:
    """Write memories beside other writers."""
    with Store.open(path, create=False) as store:
        barrier.wait(PATIENCE_SECONDS)
        for number in range(count):
            with store.write() as tx:
                remember(tx, f"{name} {number}")


def read_until(barrier: Barrier, path: Path, done: Event) -> None:
    """Read snapshots until told to stop; each holds as many records as index rows, never fewer."""
    with Store.open(path, create=False) as store:
        barrier.wait(PATIENCE_SECONDS)
        seen = 0
        while not done.is_set():
            with store.read() as tx:
                counts = tx.meta.row_counts()
                version = tx.meta.records_version()
            rows = [counts[name] for name in ("records", "records_fts", "embeddings", "events")]
            assert rows == [version] * 4, (rows, version)
            assert version >= seen
            seen = version


def write_until_killed(path: Path) -> None:
    """Write memories and acknowledge each on standard output, for ever."""
    with Store.open(path, create=False) as store:
        number = 0
        while True:
            number += 1
            with store.write() as tx:
                remember(tx, f"{os.getpid()} {number}")
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


def write_under_a_size_limit(path: Path) -> None:
    """Fill the disk, as far as this process may, then get more room; print what happened."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Store.open(path) as store:
        prepare(store)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        limit = path.stat().st_size + path.with_name(path.name + "-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        known: list[str] = []
        error = "none"
        for number in range(1000):
            content = f"claim {number} " + "word " * 400
            try:
                with store.write() as tx:
                    remember(tx, content)
            except StoreError as refused:
                error = f"{type(refused).__name__}: {refused}"
                break
            known.append(content)
        whole = contents(store) == known
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        with store.write() as tx:
            remember(tx, "after")
        sys.stdout.write(f"{whole} {contents(store) == [*known, 'after']} {error}\n")


if __name__ == "__main__":
    COMMANDS = {"write_until_killed": write_until_killed, "limit": write_under_a_size_limit}
    COMMANDS[sys.argv[1]](Path(sys.argv[2]))
