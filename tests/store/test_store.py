"""Connections and transactions on one file, within one process."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import apsw
import pytest

from retold.errors import (
    InvalidInput,
    MigrationRequired,
    SchemaTooNew,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)
from retold.operations.migration import migrate_store
from retold.store import Store
from retold.store.migrations import SCHEMA_VERSION
from retold.store.readers import MAX_READERS
from tests.fts_oracle import fts_search
from tests.store_support import contents, new_record, prepare, problems, remember


def write(store, content):
    with store.write() as tx:
        return tx.records.insert(new_record(content))


# --- reading --------------------------------------------------------------------------


def test_read_sees_one_snapshot_while_others_commit(store):
    """Removing ``reader.execute("begin")`` from Store.read makes it fail."""
    write(store, "one")
    with store.read() as tx:
        before = tx.records.by_seqs([1, 2])
        write(store, "two")

        assert tx.records.by_seqs([1, 2]) == before
    assert contents(store) == ["one", "two"]


def test_read_sees_what_was_committed_before_it(store):
    for number in range(20):
        write(store, f"claim {number}")
        assert len(contents(store)) == number + 1


def test_read_refuses_to_write(store):
    """Opening readers with SQLITE_OPEN_READWRITE makes it fail."""
    with pytest.raises(StoreUnavailable), store.read() as tx:
        tx.meta.set_text("profile", "standard")


def test_read_has_no_version_to_allocate(store):
    with store.read() as tx, pytest.raises(StoreError, match="read transaction"):
        tx.version()


def test_read_gives_its_connection_back_when_the_body_fails(store):
    def fail():
        with store.read() as tx:
            tx.one("select count(*) from records")
            raise ZeroDivisionError

    for _ in range(MAX_READERS * 2):
        with pytest.raises(ZeroDivisionError):
            fail()
    assert contents(store) == []


def test_read_leaves_no_snapshot_pinned_when_a_cursor_was_abandoned(store):
    """Without ``connection.txn_state()`` in _reusable the log cannot be emptied."""
    for number in range(4):
        write(store, f"claim {number}")
    with store.read() as tx:
        abandoned = tx.run("select content from records")
        next(abandoned)
    write(store, "later")

    busy, _, _ = _checkpoint(store.path)
    assert busy == 0


def test_write_leaves_no_snapshot_pinned_when_a_cursor_was_abandoned(store):
    """Without ``connection.txn_state()`` in _reusable the next write is refused as too late."""
    for number in range(4):
        write(store, f"claim {number}")
    with store.write() as tx:
        abandoned = tx.run("select content from records")
        next(abandoned)
    with Store.open(store.path) as other:
        write(other, "from another process")
    write(store, "later")

    assert contents(store)[-2:] == ["from another process", "later"]
    busy, _, _ = _checkpoint(store.path)
    assert busy == 0


def _checkpoint(path):
    connection = apsw.Connection(str(path))
    try:
        return connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    finally:
        connection.close()


def test_readers_are_bounded_and_the_next_one_is_refused_in_time(tmp_path):
    """An unbounded queue of readers makes it fail."""
    with Store.open(tmp_path / "memory.db", busy_timeout_seconds=0.05) as store:
        open_reads = [store.read() for _ in range(MAX_READERS)]
        for each in open_reads:
            each.__enter__()

        with pytest.raises(StoreBusy, match="readers"), store.read():
            pass
        for each in open_reads:
            each.__exit__(None, None, None)
        assert contents(store) == []


# --- writing --------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_write_rolls_back_on_any_exception(store, error):
    """Removing the rollback from _reusable makes it fail."""

    def fail():
        with store.write() as tx:
            tx.records.insert(new_record("half"))
            raise error

    with pytest.raises(error):
        fail()
    assert contents(store) == []
    write(store, "whole")
    assert contents(store) == ["whole"]


def test_write_does_not_nest(store):
    """Without the check of the writing thread this would wait for its own lock."""
    with store.write() as tx:
        tx.records.insert(new_record("outer"))
        with pytest.raises(StoreError, match="nest"), store.write():
            pass

    assert contents(store) == ["outer"]


def test_write_waits_for_another_thread_and_gives_up_in_time(tmp_path):
    with (
        Store.open(tmp_path / "memory.db", busy_timeout_seconds=0.05) as store,
        ThreadPoolExecutor(1) as pool,
        store.write(),
        pytest.raises(StoreBusy),
    ):
        pool.submit(write, store, "x").result(30)


def test_write_waits_for_another_process_and_gives_up_in_time(tmp_path):
    """A second store on the file stands for the second process: it shares no Python lock."""
    path = tmp_path / "memory.db"
    with (
        Store.open(path) as store,
        Store.open(path, busy_timeout_seconds=0.05) as other,
        store.write() as tx,
    ):
        tx.records.insert(new_record("x"))
        with pytest.raises(StoreBusy), other.write():
            pass


def test_write_is_refused_when_the_file_was_migrated_under_the_open_store(store):
    """Removing ``migrations.require_current`` from Store.write makes it fail."""
    write(store, "before")
    _set_user_version(store.path, SCHEMA_VERSION + 1)

    with pytest.raises(SchemaTooNew), store.write() as tx:
        tx.records.insert(new_record("after"))
    with pytest.raises(SchemaTooNew), store.write_log(100):
        pass
    _set_user_version(store.path, SCHEMA_VERSION)
    assert contents(store) == ["before"]
    write(store, "again")


def _set_user_version(path, version):
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", version)
    connection.close()


def test_write_log_commits_beside_an_open_read(store):
    with store.read() as tx:
        tx.one("select count(*) from records")
        with store.write_log(100) as log:
            log.meta.set_text("note", "kept")

    with store.read() as tx:
        assert tx.meta.get_text("note") == "kept"


def test_write_log_gives_up_in_time_when_a_writer_holds_the_lock(store):
    with store.write() as tx:
        tx.records.insert(new_record("x"))
        with pytest.raises(StoreBusy), store.write_log(10):
            pass


def test_write_log_waits_at_the_lock_for_a_short_write(store):
    written, go_on = threading.Event(), threading.Event()

    def hold():
        with store.write() as tx:
            tx.records.insert(new_record("x"))
            written.set()
            go_on.wait()

    def clock():
        go_on.set()  # the log row has its turn: it asks for the moment right before the lock
        return tick()

    writer = threading.Thread(target=hold)
    writer.start()
    written.wait()
    tick, store._clock = store._clock, clock
    with store.write_log(30_000) as log:
        log.meta.set_text("note", "kept")
    writer.join()

    with store.read() as tx:
        assert tx.meta.get_text("note") == "kept"


def test_write_log_rolls_back_on_an_exception(store):
    def fail():
        with store.write_log(100) as tx:
            tx.meta.set_text("note", "lost")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    with store.read() as tx:
        assert tx.meta.get_text("note") is None


# --- hooks ----------------------------------------------------------------------------


def test_hooks_run_once_after_commit_in_order_with_the_version(store):
    """Running hooks before COMMIT makes it fail: they would see no record."""
    calls = []
    with store.write() as tx:
        version = tx.version()
        tx.records.insert(new_record("seen"))
        tx.on_commit(lambda committed: calls.append(("first", committed, contents(store))))
        tx.on_commit(lambda committed: calls.append(("second", committed, None)))
        assert calls == []

    assert calls == [("first", version, ["seen"]), ("second", version, None)]
    write(store, "later")
    assert len(calls) == 2


def test_hooks_get_version_0_when_nothing_was_allocated(store):
    calls = []
    with store.write() as tx:
        tx.meta.set_text("note", "x")
        tx.on_commit(calls.append)

    assert calls == [0]


def test_hooks_never_run_after_a_rollback(store):
    """Running hooks in a ``finally`` makes it fail."""
    calls = []

    def fail():
        with store.write() as tx:
            tx.on_commit(calls.append)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert calls == []


def test_hooks_of_an_undone_savepoint_never_run(store):
    """Removing ``del self._hooks[kept:]`` from Transaction.savepoint makes it fail."""
    calls = []

    def fail(tx):
        with tx.savepoint():
            tx.on_commit(lambda _: calls.append("undone"))
            raise ZeroDivisionError

    with store.write() as tx:
        tx.on_commit(lambda _: calls.append("kept"))
        with pytest.raises(ZeroDivisionError):
            fail(tx)

    assert calls == ["kept"]


def test_failing_hook_leaves_the_write_and_the_other_hooks_standing(store, caplog):
    """Removing the ``except`` from _run_hooks makes it fail."""
    calls = []
    with store.write() as tx:
        tx.records.insert(new_record("the user's own words"))
        tx.on_commit(lambda _: 1 / 0)
        tx.on_commit(calls.append)

    assert contents(store) == ["the user's own words"]
    assert calls == [1]
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "own words" not in caplog.text


def test_last_reads_see_the_rows_and_their_failure_undoes_the_write(store):
    """Removing ``tx.finish()``, or calling it after COMMIT, makes it fail."""
    calls = []

    def last_read(tx):
        calls.append((len(list(tx.run("select 1 from records"))), contents(store)))

    def undone(tx):
        with tx.savepoint():
            tx.before_commit(lambda: calls.append("undone"))
            raise ZeroDivisionError

    with store.write() as tx:
        tx.before_commit(lambda: last_read(tx))
        with pytest.raises(ZeroDivisionError):
            undone(tx)
        tx.records.insert(new_record("seen"))
    assert calls == [(1, [])]

    with suppress(ZeroDivisionError), store.write() as tx:
        tx.records.insert(new_record("lost"))
        tx.before_commit(lambda: 1 / 0)
    assert contents(store) == ["seen"]


def test_hook_may_write_again(store):
    """Running hooks under the writer's lock makes it fail."""
    with store.write() as tx:
        tx.on_commit(lambda _: write(store, "from the hook"))

    assert contents(store) == ["from the hook"]


# --- closing --------------------------------------------------------------------------


def test_close_is_idempotent_and_final(store):
    write(store, "kept")
    store.close()
    store.close()

    assert store.is_closed
    for use in (store.read, store.write, lambda: store.write_log(10)):
        with pytest.raises(StoreUnavailable, match="closed"), use():
            pass


def test_close_leaves_a_read_that_is_going_on_whole(store):
    prepare(store)
    with store.write() as tx:
        remember(tx, "kept")
    with store.read() as tx:
        store.close()
        assert tx.one("select content from records") == ("kept",)

    assert problems(store.path) == []


def test_close_sends_away_who_waits_for_a_reader(store, monkeypatch):
    """Without ``still_open`` in Readers.take it would wait until a reader is given back."""
    waits, granted = threading.Event(), store._readers._granted
    open_reads = [store.read() for _ in range(MAX_READERS)]
    for each in open_reads:
        each.__enter__()
    monkeypatch.setattr(store._readers, "_granted", lambda token: (granted(token), waits.set())[0])
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(contents, store)
        assert waits.wait(30)
        store.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            waiting.result(25)
    for each in open_reads:
        each.__exit__(None, None, None)


def test_close_inside_a_write_is_refused(store):
    """Without the check of the writing thread this would wait for its own lock."""
    with store.write_log(100), pytest.raises(StoreError, match="inside a write"):
        store.close()
    with store.write() as tx:
        tx.records.insert(new_record("kept"))
        with pytest.raises(StoreError, match="inside a write"):
            store.close()

    assert contents(store) == ["kept"]


def test_close_lets_a_write_in_another_thread_finish(store):
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        with store.write() as tx:
            begun.set()
            go_on.wait(30)
            tx.records.insert(new_record("finished"))

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(slow)
        assert begun.wait(30)
        closing = pool.submit(store.close)
        go_on.set()
        writing.result(30)
        closing.result(30)

    with Store.open(store.path, create=False) as again:
        assert contents(again) == ["finished"]


def test_repr_holds_the_path_only(store):
    assert repr(store) == f"Store({str(store.path)!r})"


# --- threads and forks ----------------------------------------------------------------


def test_16_threads_write_and_read_on_one_store(store):
    """Removing the writer's lock from Store.write makes it fail with threading violations."""
    prepare(store)
    start = threading.Barrier(16)

    def work(number):
        start.wait(30)
        for step in range(8):
            with store.write() as tx:
                remember(tx, f"thread {number} step {step}")
            with store.read() as tx:
                mine = fts_search(tx, f'"thread" AND "{number}"', 100)
                assert len(mine) >= step + 1
                assert tx.records.by_seqs([seq for seq, _ in mine])

    with ThreadPoolExecutor(16) as pool:
        for done in [pool.submit(work, number) for number in range(16)]:
            done.result(120)

    assert len(contents(store)) == 16 * 8
    store.close()
    assert problems(store.path) == []


FORK = """
import os, sys
from retold.errors import StoreUnavailable
from retold.store import Store

store = Store.open(sys.argv[1])
with store.write() as tx:
    tx.meta.set_text("who", "parent")
child = os.fork()
if child == 0:
    refused = 0
    for use in (store.read, store.write, lambda: store.write_log(10)):
        try:
            with use():
                pass
        except StoreUnavailable as error:
            refused += "fork" in str(error)
    store.close()
    with Store.open(sys.argv[1]) as own, own.write() as tx:
        tx.meta.set_text("child", "own store")
    os._exit(refused)
refused = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
with store.write() as tx:
    tx.meta.set_text("who", "parent again")
with store.read() as tx:
    print(refused, tx.meta.get_text("who"), tx.meta.get_text("child"))
store.close()
"""


def test_store_is_refused_after_a_fork_and_stays_good_in_the_parent(tmp_path):
    """Removing the comparison of process ids from Store._require_usable makes it fail."""
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(tmp_path / "memory.db")],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )

    assert done.stdout == "3 parent again own store\n", done.stderr


# --- read-only ------------------------------------------------------------------------


def test_read_only_store_reads_and_refuses_every_write(store):
    write(store, "kept")
    with Store.open(store.path, read_only=True) as readable:
        assert contents(readable) == ["kept"]
        for use in (readable.write, lambda: readable.write_log(10)):
            with pytest.raises(StoreUnavailable, match="read-only"), use():
                pass


def test_read_only_store_is_never_created(tmp_path):
    path = tmp_path / "missing.db"

    with pytest.raises(StoreUnavailable):
        Store.open(path, read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_read_only_store_refuses_an_empty_file_and_leaves_it_empty(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()

    with pytest.raises(StoreUnavailable, match="empty"):
        Store.open(path, read_only=True)
    assert path.read_bytes() == b""


def test_read_only_store_refuses_an_older_schema(store):
    store.close()
    _set_user_version(store.path, 1)
    connection = apsw.Connection(str(store.path))
    connection.pragma("application_id", 0)
    connection.close()

    with pytest.raises(StoreError):
        Store.open(store.path, read_only=True)


# --- what the file may be -------------------------------------------------------------


def test_open_creates_a_missing_file_only_when_asked(tmp_path):
    path = tmp_path / "memory.db"

    with pytest.raises(StoreUnavailable):
        Store.open(path, create=False)
    assert not path.exists()
    Store.open(path).close()
    with Store.open(path, create=False) as store:
        assert contents(store) == []


def test_open_takes_any_path_that_a_file_may_have(tmp_path):
    folder = tmp_path / "ünï cödé #1 100%?mode=memory"
    folder.mkdir()
    with Store.open(str(folder / "a&b=c.db")) as store:
        write(store, "kept")
    with Store.open(folder / "a&b=c.db", create=False) as store:
        assert contents(store) == ["kept"]


@pytest.mark.parametrize("open_store", [Store.open, lambda p: Store.open(p, read_only=True)])
@pytest.mark.parametrize("bad", ["\0zzz", "\ud800"], ids=["nul", "surrogate"])
def test_open_refuses_a_path_that_names_another_file(store, open_store, bad):
    """Without ``checked_path`` SQLite would open the file before the NUL."""
    with pytest.raises(InvalidInput, match="path"):
        open_store(f"{store.path}{bad}")
    with pytest.raises(InvalidInput, match="path"):
        migrate_store(f"{store.path}{bad}", busy_timeout_seconds=1)


@pytest.mark.parametrize("path", [b"memory.db", 5, None])
def test_open_refuses_what_is_no_path(path):
    with pytest.raises(InvalidInput, match="string or a Path"):
        Store.open(path)


def test_open_store_stays_the_same_when_the_process_changes_its_directory(tmp_path, monkeypatch):
    """Opening later connections by ``self.path`` makes it fail."""
    monkeypatch.chdir(tmp_path)
    with Store.open("memory.db") as store:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        write(store, "kept")
        with store.write_log(100):
            assert contents(store) == ["kept"]
    assert not (tmp_path / "elsewhere" / "memory.db").exists()


def _unlink(path):
    path.unlink()


def _recreate(path):
    path.unlink()
    Store.open(path).close()


def _replace(path):
    Store.open(path.with_name("other.db")).close()
    path.rename(path.with_name("away.db"))
    path.with_name("other.db").rename(path)


def _overwrite_by_rename(path):
    Store.open(path.with_name("other.db")).close()
    path.with_name("other.db").replace(path)


LOSSES = [_unlink, _recreate, _replace, _overwrite_by_rename]


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("read_only", [False, True])
def test_file_that_was_removed_or_replaced_is_refused(store, lose, read_only):
    """Without ``_require_same_file`` a write to a file that is gone would be acknowledged."""
    write(store, "one")
    with Store.open(store.path, read_only=read_only) as other:
        assert contents(other) == ["one"]
        lose(store.path)

        uses = [other.read] if read_only else [other.read, other.write, lambda: other.write_log(5)]
        for use in uses:
            with pytest.raises(StoreUnavailable, match="removed or replaced"), use():
                pass
    if lose is _recreate:
        with Store.open(store.path, create=False) as again:
            write(again, "new")
            assert contents(again) == ["new"]


def test_file_that_was_hidden_for_a_moment_is_still_the_same(store):
    write(store, "one")
    store.path.rename(store.path.with_name("away.db"))
    with pytest.raises(StoreUnavailable, match="removed or replaced"):
        write(store, "lost")
    store.path.with_name("away.db").rename(store.path)

    write(store, "two")
    assert contents(store) == ["one", "two"]


def test_open_refuses_unresolved_migration_issues_unless_allowed(store):
    record = write(store, "no subject")
    with store.write() as tx:
        tx.run("insert into migration_issues values (100, ?, 'unmapped', null)", (record.seq,))

    with pytest.raises(MigrationRequired, match="retold migrate"):
        Store.open(store.path)
    Store.open(store.path, allow_migration_issues=True).close()
