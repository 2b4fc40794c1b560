"""The store: connections and transactions on one SQLite file."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from weakref import WeakMethod

import apsw

from retold.errors import MigrationRequired, StoreBusy, StoreError, StoreUnavailable
from retold.store import connection as opening
from retold.store import migrations
from retold.store.checkpoint import Checkpoint, save_log
from retold.store.connection import translated
from retold.store.readers import Readers
from retold.store.saver import LogSaver
from retold.store.transaction import CommitHook, Transaction
from retold.util import Clock, IdSource, new_id, system_clock

logger = logging.getLogger(__name__)


class Store:
    """One open store file, for one process and any number of its threads.

    A store is made by ``Store.open`` and belongs to the process that opened it: a fork must open
    its own. Reads run on pooled read-only connections, writes one at a time on a single one.
    """

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout_seconds: float,
        clock: Clock,
        id_source: IdSource,
        read_only: bool,
        vfs: str | None,
    ) -> None:
        """Keep the settings; ``Store.open`` connects."""
        self.path = path
        # Connections are opened later too, when the process may work in another directory.
        self._location = path.absolute()
        self._file: opening.FileIdentity | None = None
        self.read_only = read_only
        self._busy_timeout_seconds = busy_timeout_seconds
        self._clock = clock
        self._new_id = id_source
        self._vfs = vfs
        self._pid = os.getpid()
        self._closed = False
        self._writer: apsw.Connection | None = None
        # A reentrant lock knows its owner: giving it back is right wherever taking it stopped.
        self._writer_lock = threading.RLock()
        self._writing_thread: int | None = None
        self._log_writer: apsw.Connection | None = None
        self._log_lock = threading.RLock()
        self._logging_thread: int | None = None
        self._saver = LogSaver(WeakMethod(self._open_saver))
        self._readers = Readers()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        busy_timeout_seconds: float = 30.0,
        clock: Clock = system_clock,
        id_source: IdSource = new_id,
        create: bool = True,
        migrate: bool = False,
        read_only: bool = False,
        allow_migration_issues: bool = False,
        vfs: str | None = None,
    ) -> Self:
        """Open a store; make a missing file when ``create``.

        ``read_only`` opens no writing connection and never creates. Raises InvalidInput for a
        path that no file can have, ForeignFile, SchemaTooNew, StoreCorrupt or StoreUnavailable,
        and MigrationRequired for an older schema unless ``migrate``, or for unresolved migration
        issues unless ``allow_migration_issues``.
        """
        opening.check_driver()
        store = cls(
            opening.checked_path(path),
            busy_timeout_seconds=busy_timeout_seconds,
            clock=clock,
            id_source=id_source,
            read_only=read_only,
            vfs=vfs,
        )
        try:
            store._connect(create=create and not read_only, migrate=migrate)
            if not allow_migration_issues:
                store._refuse_unresolved_issues()
        except BaseException:
            store.close()
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({os.fspath(self.path)!r})"

    @property
    def is_closed(self) -> bool:
        """Return whether ``close`` was called."""
        return self._closed

    def close(self) -> None:
        """Close every connection. Calling it again does nothing; a fork's copy only forgets.

        A write in another thread finishes first. Raises StoreError inside a write of this thread.
        """
        if threading.get_ident() in (self._writing_thread, self._logging_thread):
            raise StoreError("a store is not closed inside a write; leave the block first")
        self._closed = True
        if os.getpid() != self._pid:
            return
        self._close_waiting_readers()
        for lock, name in ((self._log_lock, "_log_writer"), (self._writer_lock, "_writer")):
            with lock:
                connection: apsw.Connection | None = getattr(self, name)
                setattr(self, name, None)
                if connection is not None:
                    opening.close(connection)
            # Only a log row begins a run, so no other one follows; the writer closes after it.
            self._saver.wait()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Yield one read-only snapshot; it begins with the first statement.

        Raises StoreBusy when every reader stays in use for ``busy_timeout_seconds``, and
        StoreUnavailable when the file is no longer the one that was opened.
        """
        self._require_usable()
        token = object()
        try:
            reader = self._readers.take(token, self._busy_timeout_seconds, self._require_usable)
            # Looked at again: the store may have been closed while waiting for a reader.
            self._require_usable()
            self._require_same_file()
            with translated(self.path):
                if reader is None:
                    reader = opening.open_reader(
                        self._location, self._busy_timeout_seconds, vfs=self._vfs
                    )
                    self._readers.lent[token] = reader
                reader.execute("begin")
                yield self._transaction(reader, writable=False)
        finally:
            reader = self._readers.lent.pop(token, None)
            self._return_reader(reader)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Yield a unit of work under the write lock: commit on exit, roll back on any exception.

        Raises StoreBusy when the lock stays taken for ``busy_timeout_seconds``, MigrationRequired
        when another process changed the schema in the meantime, and StoreUnavailable when the
        file is no longer the one that was opened.
        """
        self._require_usable()
        me = threading.get_ident()
        if self._writing_thread == me:
            raise StoreError("write transactions do not nest; pass the open one down")
        try:
            if not self._writer_lock.acquire(timeout=self._busy_timeout_seconds):
                raise StoreBusy("another thread held the write lock for too long; try again")
            self._writing_thread = me
            self._require_same_file()
            with translated(self.path):
                self._writer = _reusable(self._writer) or self._open_writer()
                tx = self._transaction(self._writer, writable=True)
                with _immediate(tx.connection):
                    migrations.require_current(tx.connection)
                    yield tx
                    tx.finish()
            hooks = tx.take_hooks()
        finally:
            try:
                if self._writing_thread == me:
                    self._writing_thread = None
                    self._writer = _reusable(self._writer)
            finally:
                try:  # noqa: SIM105  # an interrupt could strike between suppress and release
                    self._writer_lock.release()
                except RuntimeError:
                    pass
        _run_hooks(hooks, tx.committed_version)

    @contextmanager
    def write_log(self, max_wait_ms: int) -> Iterator[Transaction]:
        """Yield a unit of work for log rows on a connection of its own.

        It waits at most ``max_wait_ms`` for the lock (StoreBusy) and syncs at checkpoints only.
        """
        self._require_usable()
        me = threading.get_ident()
        if self._logging_thread == me:
            raise StoreError("log transactions do not nest; pass the open one down")
        deadline = time.monotonic() + max_wait_ms / 1000
        try:
            if not self._log_lock.acquire(timeout=max_wait_ms / 1000):
                raise StoreBusy("another thread is writing the search log")
            self._logging_thread = me
            self._require_same_file()
            with translated(self.path):
                self._log_writer = _reusable(self._log_writer) or self._open_log_writer()
                opening.poll_for_locks(self._log_writer, deadline - time.monotonic())
                tx = self._transaction(self._log_writer, writable=True)
                with _immediate(tx.connection):
                    migrations.require_current(tx.connection)
                    yield tx
        finally:
            try:
                if self._logging_thread == me:
                    self._logging_thread = None
                    self._log_writer = _reusable(self._log_writer)
            finally:
                try:  # noqa: SIM105  # an interrupt could strike between suppress and release
                    self._log_lock.release()
                except RuntimeError:
                    pass

    def checkpoint(self, *, max_wait_ms: int) -> Checkpoint:
        """Save the log into the file and empty it, as far as readers allow.

        Writers of any process wait ``max_wait_ms`` at most for it. Raises StoreUnavailable for a
        store that was opened read-only.
        """
        self._require_usable()
        self._require_same_file()
        self._saver.wait()
        with translated(self.path):
            connection = self._open_writer()
            try:
                return save_log(connection, max_wait_ms)
            finally:
                opening.close(connection)

    def _transaction(self, connection: apsw.Connection, *, writable: bool) -> Transaction:
        return Transaction(connection, now=self._clock(), new_id=self._new_id, writable=writable)

    def _connect(self, *, create: bool, migrate: bool) -> None:
        if self.read_only:
            with self.read() as tx:
                migrations.require_current(tx.connection)
            self._remember_file()
            return
        self._writer = opening.open_writer(
            self._location, self._busy_timeout_seconds, create=create, vfs=self._vfs
        )
        with translated(self.path):
            migrations.prepare_file(
                self._writer,
                path=self.path,
                clock=self._clock,
                id_source=self._new_id,
                create=create,
                migrate=migrate,
            )
            opening.prepare_writer(self._writer)
        self._remember_file()

    def _remember_file(self) -> None:
        # A file system of its own, as tests give one, has files that the system does not know.
        if self._vfs is None:
            self._file = opening.file_identity(self._location)

    def _require_same_file(self) -> None:
        """Refuse a file that was removed or replaced: SQLite would go on with the lost one."""
        if self._file is not None and opening.file_identity(self._location) != self._file:
            raise StoreUnavailable(f"{self.path} was removed or replaced while open; open it again")

    def _refuse_unresolved_issues(self) -> None:
        with self.read() as tx:
            count = migrations.count_unresolved(tx)
        if count:
            raise MigrationRequired(
                f"{self.path}: {count} migrated records have no usable subject; "
                "run `retold migrate` to list, expire or acknowledge them"
            )

    def _open_writer(self) -> apsw.Connection:
        if self.read_only:
            raise StoreUnavailable(f"{self.path} was opened read-only")
        # Looked at under the writer's lock: the store may have been closed while waiting for it.
        if self._closed:
            raise StoreUnavailable(f"{self.path}: the store is closed")
        writer = opening.open_writer(
            self._location, self._busy_timeout_seconds, create=False, vfs=self._vfs
        )
        opening.prepare_writer(writer)
        return writer

    def _open_log_writer(self) -> apsw.Connection:
        writer = self._open_writer()
        opening.sync_at_checkpoints(writer)
        writer.set_wal_hook(self._saver.note)
        return writer

    def _open_saver(self) -> apsw.Connection:
        self._require_same_file()
        with translated(self.path):
            connection = opening.open_writer(
                self._location, self._busy_timeout_seconds, create=False, vfs=self._vfs
            )
            opening.write_ahead(connection)
        return connection

    def _require_usable(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"{self.path}: the store is closed")
        if os.getpid() != self._pid:
            raise StoreUnavailable(
                f"{self.path} was opened before a fork; open it again in this process"
            )

    def _close_waiting_readers(self) -> None:
        for reader in self._readers.drain():
            opening.close(reader)

    def _return_reader(self, reader: apsw.Connection | None) -> None:
        reader = _reusable(reader)
        if reader is None:
            return
        if not self._readers.put(reader):
            opening.close(reader)
        # Looked at after putting it back: the store may have been closed in between.
        if self._closed:
            self._close_waiting_readers()


@contextmanager
def _immediate(connection: apsw.Connection) -> Iterator[None]:
    """Hold the write lock and commit on exit; after an exception ``_reusable`` rolls back."""
    connection.execute("begin immediate")
    yield
    connection.execute("commit")


def _reusable(connection: apsw.Connection | None) -> apsw.Connection | None:
    """End what is left of a transaction; close the connection and return None if that fails.

    A cursor that somebody still holds keeps its snapshot beyond COMMIT and ROLLBACK, and with it
    the whole log; only closing the connection lets go of it.
    """
    if connection is None:
        return None
    try:
        if connection.in_transaction:
            connection.execute("rollback")
        if connection.txn_state() == apsw.SQLITE_TXN_NONE:
            return connection
    except apsw.Error:
        logger.exception("a transaction could not be ended; its connection is closed")
    opening.close(connection)
    return None


def _run_hooks(hooks: tuple[CommitHook, ...], version: int) -> None:
    """Run hooks in order. One that fails is logged: the next refresh heals the projection."""
    for hook in hooks:
        try:
            hook(version)
        except Exception:
            logger.exception("a hook after commit failed", extra={"records_version": version})
