"""Save the write-ahead log beside the searches that fill it."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from typing import Final
from weakref import WeakMethod

import apsw

from retold.errors import StoreError
from retold.store import connection as opening

logger = logging.getLogger(__name__)

SAVE_EVERY_PAGES: Final = 1000
"""SQLite's own measure of a log that is worth saving."""
MAX_PAGES: Final = 4000
"""A log this long is saved by whoever commits: a busy store leaves others no moment to finish."""

_THREAD_NAME: Final = "retold-save-log"


class LogSaver:
    """Saves the log in a thread that lives only while it does so.

    Else SQLite saves a long log inside the commit that finds it, and one search in sixty waits for
    the disk, several times as long as the rest of it takes. A process that ends meanwhile loses
    nothing: what is not saved stays in the log.
    """

    def __init__(self, open_connection: WeakMethod[Callable[[], apsw.Connection]]) -> None:
        """Take what opens a connection that may write; each run opens one of its own.

        Weakly, or nobody would ever close a store that its owner forgot to.
        """
        self._open = open_connection
        self._tried_at = 0
        self._thread: threading.Thread | None = None

    def note(self, connection: apsw.Connection, _database: str, pages: int) -> int:
        """Take from SQLite, after each commit of one connection, how long the log is now."""
        if pages >= MAX_PAGES:
            _save(connection)
        elif pages < self._tried_at:
            self._tried_at = 0
        elif pages - self._tried_at >= SAVE_EVERY_PAGES:
            self._tried_at = pages
            self._start()
        return apsw.SQLITE_OK

    def wait(self) -> None:
        """Return when nothing is being saved."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _start(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            return
        thread = threading.Thread(target=self._run, name=_THREAD_NAME)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending; what is in the log stays there
            return
        self._thread = thread

    def _run(self) -> None:
        open_connection = self._open()
        if open_connection is None:
            return
        try:
            connection = open_connection()
        except StoreError as error:
            _report(error)
            return
        try:
            _save(connection)
        finally:
            opening.close(connection)


def _save(connection: apsw.Connection) -> None:
    """Save what no reader pins; nobody waits for it, and it waits for nobody.

    It never raises an error of the disk: a commit that asked for it holds already.
    """
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.BusyError:
        return  # another connection is saving the log at this moment
    except apsw.Error as error:
        _report(error)


def _report(error: Exception) -> None:
    logger.warning("the log was not saved", extra={"error": type(error).__name__})


def _wait_for_all() -> None:
    """Let no fork copy a lock of SQLite that a run holds: nobody in the child would free it."""
    for thread in threading.enumerate():
        if thread.name == _THREAD_NAME:
            thread.join()


os.register_at_fork(before=_wait_for_all)
