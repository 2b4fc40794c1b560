"""Creating, recognising and refusing files."""

import os
from pathlib import Path

import apsw
import pytest

from retold.errors import ForeignFile, MigrationRequired, SchemaTooNew, StoreUnavailable
from retold.store import Store, migrations
from retold.util import new_id, system_clock
from tests.faults.many_processes import FORKED
from tests.migration import version_1_file


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(30_000)
    return connection


def read_bytes(path: Path) -> bytes:
    """Read through SQLite's own file object: ``open()`` would drop its POSIX locks."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        return file.xRead(file.xFileSize(), 0)
    finally:
        file.xClose()


def script(path: Path, *statements: str) -> None:
    connection = connect(path)
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.close()


def test_migrate_creates_a_new_file_with_its_identity(tmp_path):
    connection = connect(tmp_path / "new.db")

    report = migrations.migrate(connection, system_clock, new_id)

    assert (report.from_version, report.to_version) == (0, migrations.SCHEMA_VERSION)
    assert (report.unresolved, report.naive_timestamps, report.rows) == (0, 0, {})
    assert connection.pragma("application_id") == migrations.APPLICATION_ID == 0x52746C64
    assert connection.pragma("user_version") == migrations.SCHEMA_VERSION
    meta = dict(connection.execute("select key, value from store_meta"))
    assert {key: meta[key] for key in ("records_version", "embedding_generation")} == {
        "records_version": 0,
        "embedding_generation": 0,
    }
    assert meta["store_epoch"] != meta["store_id"]
    assert meta["fts_prepare_version"] == 1
    assert meta["created_at"].endswith("+00:00")
    assert meta["created_by"]
    secure = "select v from records_fts_config where k = 'secure-delete'"
    assert connection.execute(secure).fetchall() == [(1,)]


def test_migrate_again_changes_nothing(tmp_path):
    connection = connect(tmp_path / "new.db")
    migrations.migrate(connection, system_clock, new_id)
    before = connection.execute("select key, value from store_meta").fetchall()

    report = migrations.migrate(connection, system_clock, new_id)

    assert report.from_version == report.to_version == migrations.SCHEMA_VERSION
    assert connection.execute("select key, value from store_meta").fetchall() == before


def test_migrate_leaves_an_empty_file_when_it_fails_halfway(tmp_path):
    """Without one transaction around a step a half-made schema would be left behind."""
    connection = connect(tmp_path / "new.db")
    ids = iter(["only one"])

    with pytest.raises(StopIteration):
        migrations.migrate(connection, system_clock, lambda: next(ids))

    assert migrations.inspect(connection) == "empty"
    migrations.migrate(connection, system_clock, new_id)
    assert migrations.inspect(connection) == "current"


def _open_and_write(path: str, gate, failures) -> None:
    gate.wait()
    try:
        with Store.open(path) as store, store.write() as tx:
            tx.events.append("opened", str(os.getpid()))
    except BaseException as error:
        failures.put(repr(error))
        raise


@pytest.mark.parametrize("leftover", [False, True], ids=["missing file", "empty file"])
def test_open_by_eight_processes_at_once_makes_one_clean_store(tmp_path, leftover):
    """Without the second look under the lock in ``_apply`` the later ones run the script again."""
    path = tmp_path / "shared.db"
    if leftover:
        path.touch()
    gate, failures = FORKED.Barrier(8), FORKED.Queue()
    processes = [
        FORKED.Process(target=_open_and_write, args=(str(path), gate, failures)) for _ in range(8)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)

    assert [process.exitcode for process in processes] == [0] * 8, failures.get()
    with Store.open(path) as store, store.read() as tx:
        assert len(tx.events.list_by_kind("opened")) == 8
        assert tx.events.verify() is None
        assert tx.one("pragma integrity_check") == ("ok",)


OTHERS = {
    "table": ["create table notes (id integer primary key, text text)"],
    "application id": ["pragma application_id = 42", "create table records (id text)"],
    "user version alone": ["pragma user_version = 7"],
    "our table names, other columns": [
        "create table records (id text)",
        "create table embeddings (id text)",
        "create table entities (id text)",
    ],
    "our mark, unknown schema": [f"pragma application_id = {0x52746C64}", "create table x (y)"],
}


@pytest.mark.parametrize("statements", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("migrate", [False, True], ids=["open", "migrate"])
def test_open_refuses_a_foreign_database_untouched(tmp_path, statements, migrate):
    """Without ``inspect`` before the pragmas the file would turn into a WAL database."""
    path = tmp_path / "other.db"
    script(path, *statements)
    before = read_bytes(path)

    with pytest.raises(ForeignFile, match="left untouched"):
        Store.open(path, migrate=migrate)

    assert read_bytes(path) == before
    assert [found.name for found in tmp_path.iterdir()] == ["other.db"]


@pytest.mark.parametrize("migrate", [False, True], ids=["open", "migrate"])
def test_open_refuses_a_file_that_is_no_database_untouched(tmp_path, migrate):
    path = tmp_path / "letter.txt"
    path.write_bytes(b"Dear Ana, " * 1000)

    with pytest.raises(ForeignFile):
        Store.open(path, migrate=migrate)

    assert path.read_bytes() == b"Dear Ana, " * 1000
    assert [found.name for found in tmp_path.iterdir()] == ["letter.txt"]


def test_open_refuses_a_version_1_file_with_foreign_tables(tmp_path):
    path = tmp_path / "old.db"
    version_1_file.build(path)
    script(path, "create trigger spy after insert on records begin select 1; end")

    with pytest.raises(ForeignFile):
        Store.open(path, migrate=True)


def test_open_refuses_a_newer_schema_untouched(tmp_path):
    path = tmp_path / "newer.db"
    Store.open(path).close()
    script(path, f"pragma user_version = {migrations.SCHEMA_VERSION + 1}")
    before = read_bytes(path)

    for migrate in (False, True):
        with pytest.raises(SchemaTooNew, match="upgrade retold"):
            Store.open(path, migrate=migrate)
    with pytest.raises(SchemaTooNew):
        Store.open(path, read_only=True)
    assert read_bytes(path) == before


def test_open_of_a_version_1_file_names_the_command_and_changes_nothing(tmp_path):
    path = tmp_path / "old.db"
    version_1_file.build(path)
    before = read_bytes(path)

    for read_only in (False, True):
        with pytest.raises(MigrationRequired, match="run `retold migrate`"):
            Store.open(path, read_only=read_only)
    assert read_bytes(path) == before


def test_open_without_create_makes_no_store_of_an_empty_file(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()

    for how in ({"create": False}, {"read_only": True}):
        with pytest.raises(StoreUnavailable, match="empty"):
            Store.open(path, **how)
    assert path.stat().st_size == 0


def test_write_refuses_when_another_process_migrated_the_file(tmp_path):
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        script(path, f"pragma user_version = {migrations.SCHEMA_VERSION + 1}")

        with pytest.raises(SchemaTooNew), store.write() as tx:
            tx.events.append("kind", "assistant")


def test_migrations_are_in_order_and_end_at_the_schema_version():
    versions = [migration.version for migration in migrations.MIGRATIONS]

    assert versions == sorted(set(versions))
    assert versions[0] == 100
    assert versions[-1] == migrations.SCHEMA_VERSION
