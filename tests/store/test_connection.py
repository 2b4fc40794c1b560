"""Connection settings, driver errors and what kinds of file may be opened."""

import contextlib
import os
import shutil
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from retold.errors import (
    ForeignFile,
    InvalidInput,
    RetoldSetupError,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
)
from retold.store import Store, connection, migrations
from tests.store_support import new_record

# --- settings -------------------------------------------------------------------------


def test_writer_has_every_setting_that_keeps_data_safe(store):
    """Each line of ``prepare_writer`` is one of these, on a file that exists already.

    Removing any makes it fail, except ``sync_every_commit``, which is SQLite's default: there
    ``normal`` instead of ``full`` does.
    """
    with Store.open(store.path) as again, again.write() as tx:
        found = {
            name: tx.connection.pragma(name)
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        }
        limit = tx.connection.pragma("journal_size_limit")

    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
    }
    assert limit == connection.WAL_SIZE_LIMIT_BYTES


def permissions(folder):
    """Return the permission bits of every file in a folder, by name."""
    return {one.name: stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()}


@pytest.fixture
def generous_umask():
    """Let this process make files that everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("generous_umask")
def test_new_store_belongs_to_its_owner_alone_whatever_the_umask(tmp_path):
    """Without ``modeof`` in ``_open`` all three files are 0666 here."""
    with Store.open(tmp_path / "new #?%.db") as store, store.write() as tx:
        tx.records.insert(new_record("Likes tea"))

        assert permissions(tmp_path) == {
            "new #?%.db": 0o600,
            "new #?%.db-wal": 0o600,
            "new #?%.db-shm": 0o600,
        }


@pytest.mark.usefixtures("generous_umask")
def test_permissions_that_an_operator_gave_are_kept_and_the_log_follows_them(tmp_path):
    """A service and its backup may share a group."""
    path = tmp_path / "shared.db"
    with Store.open(path) as made, made.write() as tx:
        tx.records.insert(new_record("Likes coffee"))
    assert permissions(tmp_path) == {"shared.db": 0o600}
    path.chmod(0o640)
    with Store.open(path) as store, store.write() as tx:
        tx.records.insert(new_record("Likes tea"))

        assert set(permissions(tmp_path).values()) == {0o640}


def test_switching_to_the_log_waits_for_another_process_that_writes(tmp_path):
    """Without the second attempt in write_ahead the switch is refused at once."""
    path = tmp_path / "new.db"
    other = apsw.Connection(str(path))
    other.execute("create table t(a)")
    other.execute("begin immediate")
    ours, waits = connection.open_writer(path, 30, create=False), threading.Event()

    def tells(cursor, sql, bindings):
        if "exclusive" in sql:
            waits.set()
        return True

    ours.exec_trace = tells
    with ThreadPoolExecutor(1) as pool:
        switching = pool.submit(connection.write_ahead, ours)
        assert waits.wait(30)
        other.execute("commit")
        switching.result(60)

    assert ours.pragma("journal_mode") == "wal"
    ours.close()
    other.close()


def test_log_writer_differs_in_its_syncing_only(store):
    """Removing ``sync_at_checkpoints`` makes it fail."""
    with store.write_log(100) as tx:
        assert tx.connection.pragma("synchronous") == 1
        assert tx.connection.pragma("secure_delete") == 1
        assert tx.connection.pragma("foreign_keys") == 1


@pytest.mark.parametrize("kind", ["read", "write"])
def test_connections_plan_a_statement_once(store, kind):
    """Removing ``plan_once`` from the opening function makes it fail."""
    with getattr(store, kind)() as tx:
        assert tx.connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1


@pytest.mark.parametrize("kind", ["read", "write", "write_log"])
def test_connections_refuse_tricks(store, kind):
    """Removing ``refuse_tricks`` from the opening function makes it fail."""
    use = (lambda: store.write_log(100)) if kind == "write_log" else getattr(store, kind)
    with use() as tx:
        options = (
            apsw.SQLITE_DBCONFIG_DEFENSIVE,
            apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA,
            apsw.SQLITE_DBCONFIG_DQS_DML,
            apsw.SQLITE_DBCONFIG_DQS_DDL,
        )
        assert [tx.connection.config(option, -1) for option in options] == [1, 0, 0, 0]


def test_shadow_tables_cannot_be_written(store):
    with pytest.raises(StoreError), store.write() as tx:
        tx.run("delete from records_fts_data")


@pytest.mark.parametrize(
    "missing", [feature for feature in connection.REQUIRED_FEATURES], ids=lambda name: name
)
def test_driver_without_a_needed_feature_is_refused_with_the_command_that_helps(
    monkeypatch, missing
):
    built_with = tuple(name for name in apsw.compile_options if name != missing)
    monkeypatch.setattr(apsw, "compile_options", built_with)

    with pytest.raises(RetoldSetupError, match=rf"{missing}.*pip install"):
        connection.check_driver()


# --- driver errors --------------------------------------------------------------------

TRANSLATED = {
    "BusyError": StoreBusy,
    "LockedError": StoreBusy,
    "ProtocolError": StoreBusy,
    "NotADBError": ForeignFile,
    "CorruptError": StoreCorrupt,
    "FormatError": StoreCorrupt,
    "FullError": StoreUnavailable,
    "ReadOnlyError": StoreUnavailable,
    "CantOpenError": StoreUnavailable,
    "PermissionsError": StoreUnavailable,
    "IOError": StoreUnavailable,
    "NoMemError": StoreUnavailable,
    "ConnectionClosedError": StoreUnavailable,
    "InterruptError": StoreUnavailable,
    "ForkingViolationError": StoreUnavailable,
}

# Deliberately the generic StoreError: each is a fault of ours that no caller can handle.
GENERIC = {
    "AbortError",
    "AuthError",
    "BindingsError",
    "ConnectionNotClosedError",
    "ConstraintError",
    "CursorClosedError",
    "EmptyError",
    "ExecTraceAbort",
    "Error",
    "ExecutionCompleteError",
    "ExtensionLoadingError",
    "IncompleteExecutionError",
    "InternalError",
    "InvalidContextError",
    "MismatchError",
    "MisuseError",
    "NoFTS5Error",
    "NoLFSError",
    "NotFoundError",
    "RangeError",
    "SQLError",
    "SchemaChangeError",
    "ThreadingViolationError",
    "TooBigError",
    "VFSFileClosedError",
    "VFSNotImplementedError",
}


def driver_errors():
    return {
        name
        for name, value in vars(apsw).items()
        if isinstance(value, type) and issubclass(value, apsw.Error)
    }


def test_every_driver_error_is_mapped_or_deliberately_generic():
    """A new apsw with a new error makes it fail."""
    assert driver_errors() - set(TRANSLATED) - GENERIC == set()
    assert set(TRANSLATED) & GENERIC == set()


@pytest.mark.parametrize("name", sorted(driver_errors()))
def test_driver_error_becomes_ours_without_its_text(tmp_path, name):
    error = getattr(apsw, name)("near 'my secret': syntax error")
    found = connection.translate(error, tmp_path / "memory.db")

    assert type(found) is TRANSLATED.get(name, StoreError)
    assert "secret" not in str(found)
    assert "memory.db" in str(found)


def test_driver_errors_inside_a_transaction_keep_their_cause(store):
    with pytest.raises(StoreError) as refused, store.write() as tx:
        tx.run("select my_secret_column")

    assert isinstance(refused.value.__cause__, apsw.SQLError)
    assert "secret" not in str(refused.value)


# --- what kinds of file ---------------------------------------------------------------


def other_application(path):
    other = apsw.Connection(str(path))
    other.execute("create table notes(id integer primary key, body text)")
    other.execute("insert into notes(body) values ('not yours')")
    other.close()


def truncated_store(path):
    """Cut a store in the middle of its pages."""
    with Store.open(path) as store:
        for number in range(50):
            with store.write() as tx:
                tx.records.insert(new_record(f"claim {number} " * 50))
    os.truncate(path, path.stat().st_size // 2)


def short_header(path):
    path.write_bytes(b"SQLite format 3\0" + bytes(30))


def text_file(path):
    path.write_text("Dear diary, this is not a database.\n" * 100)


FILES = {
    "text file": (text_file, ForeignFile),
    "another application's database": (other_application, ForeignFile),
    "truncated store": (truncated_store, StoreCorrupt),
    "shorter than a header": (short_header, ForeignFile),
}


MODES = {
    "open": {},
    "migrate": {"migrate": True},
    "read-only": {"read_only": True},
    "existing only": {"create": False},
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize(("make", "error"), FILES.values(), ids=FILES)
def test_file_that_is_no_store_is_refused_and_left_as_it_was(tmp_path, make, error, mode):
    """Setting journal_mode before ``migrations.prepare_file`` in Store._connect makes it fail."""
    path = tmp_path / "file.db"
    make(path)
    before = path.read_bytes()

    with pytest.raises(error, match="file"):
        Store.open(path, **mode)
    assert path.read_bytes() == before


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_log_that_another_application_left_is_not_saved_into_its_database(tmp_path, mode):
    """Removing ``leave_log_on_close`` from open_writer makes it fail."""
    live, path = tmp_path / "live.db", tmp_path / "crashed.db"
    other = apsw.Connection(str(live))
    other.pragma("journal_mode", "wal")
    other.execute("create table notes(id integer primary key, body text)")
    for suffix in ("", "-wal"):
        shutil.copy(f"{live}{suffix}", f"{path}{suffix}")
    other.close()
    before = [Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal")]

    with pytest.raises(ForeignFile):
        Store.open(path, **mode)
    assert [Path(f"{path}{suffix}").read_bytes() for suffix in ("", "-wal")] == before


def test_log_is_saved_when_the_last_store_closes(store):
    """Removing ``save_log_on_close`` from prepare_writer makes it fail."""
    with store.write() as tx:
        tx.records.insert(new_record())
    store.close()

    assert [each.name for each in store.path.parent.iterdir()] == ["memory.db"]


@pytest.mark.parametrize("mode", [{}, {"read_only": True}])
def test_directory_is_refused(tmp_path, mode):
    with pytest.raises(StoreUnavailable):
        Store.open(tmp_path, **mode)
    assert list(tmp_path.iterdir()) == []


def test_empty_file_becomes_a_store_only_when_asked(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()

    with pytest.raises(StoreUnavailable, match="empty"):
        Store.open(path, create=False)
    assert path.read_bytes() == b""
    Store.open(path).close()
    Store.open(path, create=False).close()


def test_file_that_becomes_a_store_while_it_is_looked_at_is_not_called_foreign(tmp_path):
    """Without ``_one_snapshot`` in migrations.inspect the marks are old and the tables new."""
    path = tmp_path / "memory.db"
    path.touch()
    looking = connection.open_writer(path, 1, create=False)

    def another_process(cursor, sql, bindings):
        if "sqlite_schema" in sql and looking.exec_trace:
            looking.exec_trace = None
            with contextlib.suppress(StoreBusy):
                Store.open(path, busy_timeout_seconds=0).close()
        return True

    looking.exec_trace = another_process
    assert migrations.inspect(looking) == "empty"
    looking.close()
    Store.open(path).close()


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(StoreUnavailable, match="nowhere"):
        Store.open(tmp_path / "nowhere" / "memory.db")


def test_damage_found_later_is_named_as_damage(store):
    """Rows are read after the header: the error comes from a statement, not from opening."""
    for number in range(50):
        with store.write() as tx:
            tx.records.insert(new_record(f"claim {number} " * 50))
    store.close()
    size = store.path.stat().st_size
    with store.path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))

    with pytest.raises(StoreCorrupt), Store.open(store.path) as damaged, damaged.read() as tx:
        tx.records.by_seqs(range(1, 51))


def test_a_file_that_cannot_be_opened_says_what_is_in_the_way(tmp_path):
    """Fails when a folder, a missing folder and a missing file read alike."""
    (tmp_path / "notes.txt").touch()
    said = {}
    for name in (".", "no/such/memory.db", "missing.db", "notes.txt/memory.db"):
        with pytest.raises(StoreUnavailable) as refused:
            Store.open(tmp_path / name, read_only=True)
        said[name] = str(refused.value)

    assert "this is a folder" in said["."]
    assert f"there is no folder {tmp_path / 'no/such'}" in said["no/such/memory.db"]
    assert "there is no such file" in said["missing.db"]
    assert "notes.txt is a file and no folder" in said["notes.txt/memory.db"]


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="too long"):
        Store.open(tmp_path / ("x" * 300))

    assert list(tmp_path.iterdir()) == []
