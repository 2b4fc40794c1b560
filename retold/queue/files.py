"""The queue files: where they are, whether they can be used, and how to be rid of a broken one.

They are SQLite files of the standard library's own driver, which must never touch the store: a
second SQLite in one process drops the locks of the first.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from retold.queue.messages import TASKS, ForeignMessage, decode_row

QueueName = Literal["extraction", "maintenance"]
QUEUES: tuple[QueueName, ...] = get_args(QueueName)

_LOG_FILES = ("", "-wal", "-shm")
_LOOK_SECONDS = 0.5
"""How long a look into a queue waits for a lock; a consumer holds it for a millisecond."""


@dataclass(frozen=True, slots=True)
class QueueState:
    """What one look into a queue file found.

    ``identity`` names the file on its device, None when there is none. ``problem`` is a sentence,
    None when the file can be used. ``pending`` counts waiting messages, ``foreign`` those among
    them that a consumer will drop; both are None when the file cannot be read.
    """

    name: QueueName
    path: str
    identity: str | None
    problem: str | None
    pending: int | None
    foreign: int | None


def queue_path(store: str | os.PathLike[str], directory: str | None, name: QueueName) -> Path:
    """Return the file of a queue: beside the store, or in a folder that several stores share."""
    path = Path(store).absolute()
    if directory is None:
        return path.with_name(f"{path.name}.{name}-queue")
    owner = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
    return Path(directory).absolute() / f"{path.name}-{owner}.{name}-queue"


def file_identity(path: Path) -> str | None:
    """Return what tells this file from a later one of the same name; None without one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return f"{found.st_dev}:{found.st_ino}"


def make_storage(
    name: QueueName, path: Path, *, timeout_seconds: float, kind: type[Any] | None = None
) -> Any:  # noqa: ANN401  # huey ships no types
    """Return huey's storage on a queue file, which is opened on first use and never made.

    ``timeout_seconds`` bounds each wait for a lock; ``kind`` None is huey's own class.
    """
    import sqlite3

    from huey.storage import SqliteStorage

    class Connection(sqlite3.Connection):
        """One that huey opened and then could not use, such as a damaged file, is closed too."""

        def __del__(self) -> None:
            with suppress(sqlite3.Error):  # it was never opened
                self.close()

    return (kind or SqliteStorage)(
        name,
        filename=os.fspath(path),
        fsync=True,
        timeout=timeout_seconds,
        strict_fifo=True,
        create_tables=False,
        factory=Connection,
    )


def make_queue_file(path: Path) -> None:
    """Make an empty queue file, its owner's alone, unless there is one.

    What an earlier file of the name left beside it goes first: while another process has that one
    open, SQLite would read its index as that of the new file.
    """
    if path.exists():
        return
    with _alone_in(path.parent):
        if path.exists():
            return
        for ending in _LOG_FILES[1:]:
            path.with_name(path.name + ending).unlink(missing_ok=True)
        # Only a new file is opened here: closing an open one would drop the locks on it.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def inspect_queue(name: QueueName, path: Path, *, limit: int = 10_000) -> QueueState:
    """Look into a queue file without changing it; at most ``limit`` messages are looked at."""
    identity = file_identity(path)
    if identity is None:
        missing = "there is no such file; start the workers"
        return QueueState(name, str(path), None, missing, None, None)
    import sqlite3

    storage = make_storage(name, path, timeout_seconds=_LOOK_SECONDS)
    try:
        with closing(storage):
            verdict = storage.conn.execute(_quick_check()).fetchone()[0]
            rows = storage.enqueued_items(limit)
            with storage.db(commit=True):  # readers pass a lock that stops every announcement
                pass
    except sqlite3.Error as error:
        return QueueState(name, str(path), identity, _problem(error), None, None)
    problem = None if verdict == "ok" else "the file is damaged; run `retold queue reset`"
    return QueueState(name, str(path), identity, problem, len(rows), sum(map(_is_foreign, rows)))


def reset_queue(path: Path, label: str) -> Path | None:
    """Move a queue file aside, under its name and the label; None when there is none.

    Consumers that run notice it and make a new one. Nothing is lost: the sweep rings again.
    """
    if not path.exists():
        return None
    with _alone_in(path.parent):
        for ending in _LOG_FILES:
            with suppress(FileNotFoundError):
                file = path.with_name(path.name + ending)
                file.rename(file.with_name(f"{path.name}.{label}{ending}"))
    return path.with_name(f"{path.name}.{label}")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold off others that make or move a queue file there, where the system has such a lock."""
    with ExitStack() as held:
        with suppress(ImportError, OSError):  # no POSIX, or a folder that takes no lock
            import fcntl

            handle = os.open(folder, os.O_RDONLY)
            held.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _quick_check() -> str:
    return resources.files("retold.queue").joinpath("quick_check.sql").read_text("utf-8")


def _problem(error: Exception) -> str:
    if "locked" in str(error):
        return "another process holds it locked; find that process, or run `retold queue reset`"
    return "it cannot be used as a queue; run `retold queue reset`"


def _is_foreign(data: bytes) -> bool:
    try:
        return decode_row(data)["name"] not in TASKS.values()
    except ForeignMessage:
        return True
