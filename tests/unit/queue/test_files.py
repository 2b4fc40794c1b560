import os
import sqlite3
from pathlib import Path

import pytest

from retold.queue import (
    TASKS,
    HueyQueue,
    encode_message,
    file_identity,
    inspect_queue,
    make_storage,
    queue_path,
    reset_queue,
)

NAMES = ("s1", "s2", "s3")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.sqlite.extraction-queue"


@pytest.fixture
def file(path):
    """Make the queue file as a consumer does."""
    storage = make_storage("extraction", path, timeout_seconds=1)
    storage.initialize_schema()
    storage.close()
    return path


def bell(path, *, max_pending=10, timeout_ms=20):
    return HueyQueue(path, timeout_ms=timeout_ms, max_pending=max_pending)


def rows(path):
    storage = make_storage("extraction", path, timeout_seconds=1)
    try:
        return [bytes(row) for row in storage.enqueued_items()]
    finally:
        storage.close()


def test_queue_files_stand_beside_the_store(tmp_path):
    store = tmp_path / "memory.sqlite"

    assert queue_path(store, None, "extraction") == tmp_path / "memory.sqlite.extraction-queue"
    assert queue_path(store, None, "maintenance") == tmp_path / "memory.sqlite.maintenance-queue"


def test_stores_of_one_name_do_not_share_a_queue_in_one_folder(tmp_path):
    shared = str(tmp_path / "queues")
    one, other = (
        queue_path(tmp_path / owner / "memory.sqlite", shared, "extraction")
        for owner in ("ana", "ben")
    )

    assert one.parent == other.parent == Path(shared)
    assert one != other


def test_announcements_are_ids_in_order_and_each_waits_once(file):
    queue = bell(file)

    assert queue.announce([*NAMES, "s1"]) == 3
    assert queue.announce(["s2", "s4"]) == 1
    queue.request_extraction("s4")
    found = rows(file)
    assert [b'"s1"' in found[0], b'"s4"' in found[-1], len(found)] == [True, True, 4]
    assert all(TASKS["extract_session"].encode() in row for row in found)


def test_no_more_than_may_wait_are_announced(file):
    queue = bell(file, max_pending=2)

    assert queue.announce(NAMES) == 2
    assert queue.announce(["s9"]) == 0
    assert len(rows(file)) == 2


def test_sign_of_life_is_asked_for_once_and_before_every_session(file):
    queue = bell(file, max_pending=2)
    queue.announce(NAMES)

    assert (queue.ask("beat", "extraction"), queue.ask("beat", "extraction")) == (1, 0)
    assert TASKS["beat"].encode() in rows(file)[0]


def test_without_a_file_nothing_is_made_and_nothing_is_wrong(path, caplog):
    assert bell(path).announce(NAMES) == 0

    assert not path.exists()
    assert caplog.records == []


def test_removed_file_that_comes_back_is_found_again(file):
    queue = bell(file)
    queue.announce(["s1"])
    reset_queue(file, "old")
    assert queue.announce(["s2"]) == 0

    storage = make_storage("extraction", file, timeout_seconds=1)
    storage.initialize_schema()
    storage.close()
    assert queue.announce(["s2"]) == 1


@pytest.fixture
def locked(file):
    """Hold the queue file as a hung process would."""
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("begin exclusive")
    yield file
    holder.close()


def test_locked_file_delays_an_announcement_by_its_timeout_and_no_more(locked, caplog):
    assert bell(locked).announce(NAMES) == 0

    assert [record.error for record in caplog.records] == ["OperationalError"]


def damage(path, how):
    content = path.read_bytes()
    if how == "header":
        path.write_bytes(bytes(100) + content[100:])
    elif how == "pages":
        path.write_bytes(content[:100] + os.urandom(len(content) - 100))
    elif how == "empty":
        path.write_bytes(b"")
    else:
        path.unlink(), path.mkdir()


@pytest.mark.parametrize("how", ["header", "pages", "empty", "folder"])
def test_damaged_file_is_told_and_swallows_nothing_silently(file, caplog, how):
    damage(file, how)
    state = inspect_queue("extraction", file)

    assert bell(file).announce(NAMES) == 0
    assert len(caplog.records) == 1
    assert "queue reset" in state.problem
    assert state.pending is None


def test_damaged_file_is_set_aside_and_a_new_one_can_be_made(file):
    damage(file, "pages")
    aside = reset_queue(file, "broken-1")

    assert aside.name == "memory.sqlite.extraction-queue.broken-1"
    assert (aside.exists(), file.exists(), reset_queue(file, "broken-2")) == (True, False, None)


def test_look_into_a_sound_queue_counts_what_waits_and_what_is_foreign(file):
    bell(file).announce(NAMES)
    storage = make_storage("extraction", file, timeout_seconds=1)
    storage.enqueue(b"\x80\x04N.", 0)
    storage.enqueue(encode_message("workers.tasks.unknown", "m1"), 0)
    storage.close()
    state = inspect_queue("extraction", file)

    assert (state.problem, state.pending, state.foreign) == (None, 5, 2)
    assert state.identity == file_identity(file)


def test_look_at_a_missing_file_makes_none(path):
    state = inspect_queue("extraction", path)

    assert (state.identity, state.pending) == (None, None)
    assert "start the workers" in state.problem
    assert not path.exists()


def test_look_into_a_locked_file_names_the_lock(locked):
    assert "locked" in inspect_queue("extraction", locked).problem
