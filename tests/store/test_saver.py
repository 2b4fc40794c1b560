"""The write-ahead log is saved beside the searches that fill it."""

from __future__ import annotations

import gc
import os
import threading
import weakref

import pytest

from retold.errors import StoreUnavailable
from retold.store import Store, saver
from retold.store.saver import LogSaver
from tests.faults.failing_vfs import failing_vfs

PAGES = 10
"""More pages than one of these commits are needed before the log is saved."""


@pytest.fixture
def never(monkeypatch):
    """Return a function that keeps the log from being saved in one of the two ways."""

    def forbid(name):
        monkeypatch.setattr(saver, name, 1_000_000)

    monkeypatch.setattr(saver, "SAVE_EVERY_PAGES", PAGES)
    monkeypatch.setattr(saver, "MAX_PAGES", 4 * PAGES)
    return forbid


def commit(store, times=1, *, wait=True):
    """Write the same few pages on the log's connection, so that only the log grows."""
    for number in range(1, times + 1):
        with store.write_log(1000) as tx:
            tx.meta.set_text("note", note(number))
        if wait:
            store._saver.wait()


def note(number):
    return f"{number:04}" * 5000


def log_pages(store):
    return os.stat(f"{store.path}-wal").st_size // 4096


def running():
    return [one for one in threading.enumerate() if one.name == "retold-save-log"]


def test_log_that_is_saved_beside_the_commits_begins_anew(store, never):
    never("MAX_PAGES")
    commit(store, 3)
    before = log_pages(store)
    commit(store, 30)

    assert log_pages(store) <= before + 2 * PAGES


def test_log_that_nobody_saves_beside_the_commits_stays_bounded(store, never):
    """A busy store leaves the thread no moment, and a process that ends has none."""
    never("SAVE_EVERY_PAGES")
    commit(store, 30)

    assert log_pages(store) <= 6 * PAGES


def test_log_grows_when_it_is_never_saved(store, never):
    """What the two tests above rest on."""
    never("SAVE_EVERY_PAGES")
    never("MAX_PAGES")
    commit(store, 30)

    assert log_pages(store) > 12 * PAGES


def test_short_log_starts_no_thread(store, monkeypatch):
    monkeypatch.setattr(LogSaver, "_start", None)

    commit(store)


def test_close_leaves_no_thread_behind(store, never):
    commit(store, 5, wait=False)
    store.close()

    assert running() == []


def test_close_waits_for_the_run_of_a_commit_that_was_under_way(store, never):
    never("MAX_PAGES")
    began, go_on = threading.Event(), threading.Event()
    closer = threading.Thread(target=store.close)
    waits = []

    def write():
        with store.write_log(1000) as tx:
            tx.meta.set_text("note", note(1) * PAGES)
            began.set()
            go_on.wait()

    def look():
        closer.join(timeout=1.0)
        waits.append(closer.is_alive())
        raise StoreUnavailable

    store._saver._open = lambda: look
    writer = threading.Thread(target=write)
    writer.start()
    began.wait()
    closer.start()
    while not store.is_closed:
        closer.join(timeout=0.01)
    go_on.set()
    writer.join()
    closer.join()

    assert waits == [True]


@pytest.mark.parametrize("way", ["SAVE_EVERY_PAGES", "MAX_PAGES"])
def test_commit_holds_when_the_disk_refuses_to_save_the_log(tmp_path, never, caplog, way):
    """An error that the hook raises would make the commit that asked for it fail."""
    never(way)
    with failing_vfs("failing") as vfs, Store.open(tmp_path / "memory.db", vfs=vfs.name) as store:
        commit(store)
        vfs.refuses_writes_to = "memory.db"
        commit(store, 12)
        vfs.refuses_writes_to = None

        assert "the log was not saved" in caplog.text
        with store.read() as tx:
            assert tx.meta.get_text("note") == note(12)


def test_fork_waits_for_a_run(store, never, monkeypatch):
    """A child that copied a lock of SQLite while it was held would wait for it for ever."""
    never("MAX_PAGES")
    forked = threading.Event()

    def linger():
        forked.wait(timeout=0.5)
        raise StoreUnavailable

    monkeypatch.setattr(store._saver, "_open", lambda: linger)
    commit(store, 3, wait=False)
    assert len(running()) == 1
    child = os.fork()
    if child == 0:
        os._exit(0)
    left = running()
    forked.set()
    os.waitpid(child, 0)

    assert left == []


def test_checkpoint_waits_for_a_run_and_empties_the_log(store, never):
    commit(store, 5, wait=False)

    assert store.checkpoint(max_wait_ms=1000).emptied


def test_run_that_fails_is_reported_and_loses_nothing(store, never, monkeypatch, caplog):
    def refuse():
        raise StoreUnavailable

    monkeypatch.setattr(store._saver, "_open", lambda: refuse)
    commit(store, 3)

    assert "the log was not saved" in caplog.text
    with store.read() as tx:
        assert tx.meta.get_text("note") == note(3)


def test_commit_holds_when_no_thread_can_be_started(store, never, monkeypatch):
    def refuse(_thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    commit(store, 3)

    with store.read() as tx:
        assert tx.meta.get_text("note") == note(3)


def test_a_store_that_nobody_closes_goes_with_its_last_reference(tmp_path):
    store = Store.open(tmp_path / "memory.sqlite")
    commit(store)
    left = weakref.ref(store)
    gc.disable()
    try:
        del store
        assert left() is None
    finally:
        gc.enable()
