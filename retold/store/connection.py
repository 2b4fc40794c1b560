"""Open connections to the store file, one named function per setting."""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import quote

import apsw

from retold.errors import (
    ForeignFile,
    InvalidInput,
    RetoldError,
    RetoldSetupError,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
)

logger = logging.getLogger(__name__)

WAL_SIZE_LIMIT_BYTES = 64 << 20
POLL_SECONDS = 0.0001
MODE_CHANGE_ATTEMPTS = 100
"""Eight processes that opened a thousand new files at once never needed more than two."""
REQUIRED_FEATURES = ("ENABLE_FTS5", "ENABLE_CARRAY")


def check_driver() -> None:
    """Raise RetoldSetupError when apsw's SQLite lacks what the store needs."""
    missing = [name for name in REQUIRED_FEATURES if name not in apsw.compile_options]
    if missing:
        raise RetoldSetupError(
            f"apsw {apsw.apsw_version()} was built without {', '.join(missing)}; "
            "install the wheel from PyPI with `pip install --force-reinstall apsw`"
        )


FileIdentity = tuple[int, int]
"""Device and inode of a file."""


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Return the path. Raises InvalidInput when SQLite could not open the file of that name."""
    try:
        name = os.fspath(path)
    except TypeError:
        name = None
    if not isinstance(name, str):
        raise InvalidInput(f"a store's path is a string or a Path, not {type(path).__name__}")
    if not name or name == ":memory:":
        raise InvalidInput("a store is a file on disk; name one, in a temporary folder for a test")
    if "\0" in name:
        raise InvalidInput("the store's path holds a NUL character; remove it")
    if any("\ud800" <= char <= "\udfff" for char in name):
        raise InvalidInput("the store's path is not valid Unicode; give the file another name")
    try:
        os.stat(name)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidInput("the store's path is too long for a file name") from None
    return Path(name)


def file_identity(path: Path) -> FileIdentity | None:
    """Return which file has this name now; None when none can be reached.

    It never opens the file: closing it again would drop the locks that SQLite holds on it.
    """
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def open_writer(
    path: Path, busy_timeout_seconds: float, *, create: bool, vfs: str | None = None
) -> apsw.Connection:
    """Open a read-write connection; a missing file is made only when ``create``.

    A file that is made is its owner's alone, whatever the umask, and so are the log and the index
    of the log beside it; one that exists keeps its permissions.

    ``vfs`` names a registered apsw VFS; None is the operating system's own.
    """
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    with _mode_of_new(path) if create else nullcontext("") as mode:
        connection = _open(path, flags, vfs, mode)
    wait_for_locks(connection, busy_timeout_seconds)
    take_write_lock_at_begin(connection)
    refuse_tricks(connection)
    plan_once(connection)
    leave_log_on_close(connection)
    return connection


def open_reader(
    path: Path, busy_timeout_seconds: float, *, vfs: str | None = None
) -> apsw.Connection:
    """Open a read-only connection; a write through it fails inside SQLite."""
    connection = _open(path, apsw.SQLITE_OPEN_READONLY, vfs)
    wait_for_locks(connection, busy_timeout_seconds)
    refuse_tricks(connection)
    plan_once(connection)
    return connection


@contextmanager
def _mode_of_new(path: Path) -> Iterator[str]:
    """Yield the parameter by which SQLite gives a new file the mode of a private one.

    SQLite itself makes the file with it: a ``chmod`` afterwards would come too late, the umask
    counts for every thread, and a file that is opened here would drop SQLite's locks when it is
    closed. Empty where there is a file already, or no folder to make one in.
    """
    with ExitStack() as beside:
        mode = ""
        if not path.exists():
            with suppress(OSError):
                private = beside.enter_context(NamedTemporaryFile(dir=path.parent))
                mode = "?modeof=" + quote(private.name)
        yield mode


def _open(path: Path, flags: int, vfs: str | None, mode: str = "") -> apsw.Connection:
    with translated(path):
        uri = "file:" + quote(os.fspath(path.absolute())) + mode
        return apsw.Connection(uri, flags=flags | apsw.SQLITE_OPEN_URI, vfs=vfs)


def close(connection: apsw.Connection) -> None:
    """Close whatever happens, cursors that somebody still holds included.

    Losing nothing needs no clean close: what the log still holds, the next opener reads from it.
    """
    try:
        connection.close(True)
    except apsw.Error as error:
        logger.warning("a connection closed uncleanly", extra={"error": type(error).__name__})


def wait_for_locks(connection: apsw.Connection, seconds: float) -> None:
    """Queue behind another writer for as long as the configuration allows."""
    connection.set_busy_timeout(int(seconds * 1000))


def poll_for_locks(connection: apsw.Connection, seconds: float) -> None:
    """Look for the lock every tenth of a millisecond, from now on for so many seconds.

    A log row must not sleep beside a short write: SQLite's own waits grow to 100 ms, far longer
    than the writes they wait for, and between two writers the lock is free for a moment only.
    """
    deadline = time.monotonic() + seconds

    def look_again(_tried: int) -> bool:
        time.sleep(POLL_SECONDS)
        return time.monotonic() < deadline

    connection.set_busy_handler(look_again)


def take_write_lock_at_begin(connection: apsw.Connection) -> None:
    """Begin IMMEDIATE: a deferred read-then-write fails at once however long the timeout is."""
    connection.transaction_mode = "IMMEDIATE"


def refuse_tricks(connection: apsw.Connection) -> None:
    """Forbid shadow-table writes, functions in schemas and double-quoted strings as literals."""
    for option, value in (
        (apsw.SQLITE_DBCONFIG_DEFENSIVE, 1),
        (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
        (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
    ):
        connection.config(option, value)


def plan_once(connection: apsw.Connection) -> None:
    """Keep the plan of a prepared statement when other values are bound to it.

    Else SQLite, as apsw builds it, plans nearly every statement anew at every run, which takes
    several times as long as running it. No statement here needs a plan of its own per value.
    """
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)


def leave_log_on_close(connection: apsw.Connection) -> None:
    """Touch nothing of a file that turns out not to be ours, its log of unsaved rows included."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def save_log_on_close(connection: apsw.Connection) -> None:
    """Leave one file behind when the last connection closes, as SQLite does by default."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def write_ahead(connection: apsw.Connection) -> None:
    """Use the WAL, so that readers and one writer do not wait for each other.

    Changing the mode of a new file may be refused at once, whatever the busy timeout, while other
    processes open it too. Waiting for a moment without any of them does honour the timeout.
    """
    for attempt in range(MODE_CHANGE_ATTEMPTS):
        try:
            connection.pragma("journal_mode", "wal")
            break
        except apsw.BusyError:
            if attempt == MODE_CHANGE_ATTEMPTS - 1:
                raise
            connection.execute("begin exclusive")
            connection.execute("rollback")
    connection.pragma("journal_size_limit", WAL_SIZE_LIMIT_BYTES)


def sync_every_commit(connection: apsw.Connection) -> None:
    """Make an acknowledged write survive power loss."""
    connection.pragma("synchronous", "full")


def sync_at_checkpoints(connection: apsw.Connection) -> None:
    """Give up the last log rows on power loss in exchange for a commit without fsync."""
    connection.pragma("synchronous", "normal")


def enforce_references(connection: apsw.Connection) -> None:
    """Check foreign keys; the setting is per connection."""
    connection.pragma("foreign_keys", 1)


def overwrite_deleted(connection: apsw.Connection) -> None:
    """Zero freed bytes; apsw's SQLite does not by default, and the setting is per connection."""
    connection.pragma("secure_delete", 1)


def prepare_writer(connection: apsw.Connection) -> None:
    """Apply every setting a connection needs that writes records; the file is known as ours."""
    save_log_on_close(connection)
    write_ahead(connection)
    sync_every_commit(connection)
    enforce_references(connection)
    overwrite_deleted(connection)


_TRANSLATIONS: tuple[tuple[type[apsw.Error], type[StoreError], str], ...] = (
    (apsw.BusyError, StoreBusy, "another writer held the lock for too long; try again"),
    (apsw.LockedError, StoreBusy, "another statement holds the table; try again"),
    (apsw.ProtocolError, StoreBusy, "too many processes opened the log at once; try again"),
    (apsw.NotADBError, ForeignFile, "the file is not a Retold store"),
    (apsw.CorruptError, StoreCorrupt, "the file is damaged; restore a snapshot"),
    (apsw.FormatError, StoreCorrupt, "the file has an unknown format"),
    (apsw.FullError, StoreUnavailable, "the disk is full; free space and try again"),
    (apsw.ReadOnlyError, StoreUnavailable, "the file or its folder is read-only; check both"),
    (apsw.CantOpenError, StoreUnavailable, "the file cannot be opened; check its permissions"),
    (apsw.PermissionsError, StoreUnavailable, "access was refused; check the file's permissions"),
    (apsw.IOError, StoreUnavailable, "reading or writing the file failed; check the disk"),
    (apsw.NoMemError, StoreUnavailable, "SQLite ran out of memory"),
    (apsw.ConnectionClosedError, StoreUnavailable, "the store is closed"),
    (apsw.ForkingViolationError, StoreUnavailable, "opened before a fork; open it again"),
    (apsw.InterruptError, StoreUnavailable, "the statement was interrupted"),
)
"""Driver error, our error and what the reader can do; anything else becomes StoreError."""


def translate(error: apsw.Error, path: Path | None = None) -> RetoldError:
    """Return our error for a driver error; the driver's text never carries content."""
    if path is not None and isinstance(error, apsw.CantOpenError | apsw.IOError):
        reason = _in_the_way(path)
        if reason is not None:
            return StoreUnavailable(f"{path}: {reason}")
    for driver, ours, advice in _TRANSLATIONS:
        if isinstance(error, driver):
            return ours(f"{path}: {advice}" if path is not None else advice)
    place = f"{path}: " if path is not None else ""
    return StoreError(f"{place}SQLite refused the statement ({type(error).__name__})")


def _in_the_way(path: Path) -> str | None:
    """Return why there is no file to open, as far as a look at the path tells; None if it does."""
    folder = path.absolute().parent
    try:
        if path.is_dir():
            return "this is a folder; name the file in it"
        if not folder.exists():
            return f"there is no folder {folder}"
        if not folder.is_dir():
            return f"{folder} is a file and no folder"
        if not path.exists():
            return "there is no such file; check the path, and who may write in its folder"
    except OSError:
        pass
    return None


@contextmanager
def translated(path: Path | None = None) -> Iterator[None]:
    """Turn apsw errors raised inside into ours, with the driver error as the cause.

    A lone surrogate that was bound is invalid input: an argument of a command that is not UTF-8
    holds one, and no id or text of a store does.
    """
    try:
        yield
    except apsw.Error as error:
        raise translate(error, path) from error
    except UnicodeEncodeError as error:
        if error.reason != "surrogates not allowed":
            raise
        raise InvalidInput("an argument holds a lone surrogate; pass well-formed text") from None
