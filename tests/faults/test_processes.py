"""Several processes on one file, and processes that are killed."""

import signal
import subprocess
import sys

import pytest

from retold.store import Store
from tests.faults import FULL_STORM
from tests.faults.many_processes import (
    FORKED,
    open_together,
    processes,
    read_until,
    write_many,
)
from tests.store_support import contents, prepare, problems, remember
from tests.warm_process import WarmPopen, warm_run

WRITERS = 8
READERS = 2


def test_first_opens_of_one_new_file_at_once_are_clean(tmp_path):
    """Creating the schema without a second look under the lock makes it fail."""
    rounds = 40 if FULL_STORM else 6
    results, barrier = FORKED.Queue(), FORKED.Barrier(WRITERS)
    with processes(results, barrier) as start:
        for _ in range(WRITERS):
            start(open_together, tmp_path, rounds)
        assert [results.get(timeout=120) for _ in range(WRITERS)] == ["ok"] * WRITERS

    for number in range(rounds):
        with Store.open(tmp_path / f"{number}.db", create=False) as store, store.read() as tx:
            stamps = tx.one("select count(*) from store_meta where value = 'was here'")[0]
            assert stamps == WRITERS
        assert problems(tmp_path / f"{number}.db") == []


def test_processes_write_side_by_side_and_lose_nothing(tmp_path):
    """DEFERRED instead of IMMEDIATE in _immediate makes it fail with refused upgrades."""
    count = 50 if FULL_STORM else 12
    path = tmp_path / "memory.db"
    with Store.open(path) as store:
        prepare(store)
    results, done = FORKED.Queue(), FORKED.Event()
    barrier = FORKED.Barrier(WRITERS + READERS)
    with processes(results, barrier) as start:
        for _ in range(READERS):
            start(read_until, path, done)
        for number in range(WRITERS):
            start(write_many, path, f"writer {number}", count)
        ended = [results.get(timeout=240) for _ in range(WRITERS)]
        done.set()
        ended += [results.get(timeout=60) for _ in range(READERS)]

    assert ended == ["ok"] * (WRITERS + READERS)
    with Store.open(path) as store:
        expected = {f"writer {n} {step}" for n in range(WRITERS) for step in range(count)}
        assert set(contents(store)) == expected
        with store.read() as tx:
            assert tx.meta.records_version() == len(expected)
    assert problems(path) == []


@pytest.mark.parametrize("acknowledged", [3, 40] if not FULL_STORM else range(5, 200, 9))
def test_killed_writers_leave_every_acknowledged_write(tmp_path, acknowledged):
    """Acknowledging before COMMIT makes it fail; so does a half-written row outside one."""
    path = tmp_path / "memory.db"
    with Store.open(path) as store:
        prepare(store)
    command = [sys.executable, "-m", "tests.faults.many_processes", "write_until_killed", str(path)]
    writers = [WarmPopen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    promised = []
    try:
        for line in writers[0].stdout:
            promised.append(f"{writers[0].pid} {line.strip()}")
            if len(promised) == acknowledged:
                break
    finally:
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
    for writer in writers:
        # communicate() returns what was acknowledged up to the kill, a torn last line left out.
        rest, _ = writer.communicate(timeout=60)
        promised += [f"{writer.pid} {line}" for line in rest.split("\n")[:-1]]
        assert writer.returncode == -signal.SIGKILL

    assert len(promised) >= acknowledged
    assert problems(path) == []
    with Store.open(path, create=False) as store:
        assert set(promised) <= set(contents(store))
        with store.write() as tx:
            remember(tx, "next")
        assert contents(store)[-1] == "next"


def test_full_disk_is_a_clear_error_and_the_next_write_works(tmp_path):
    """Removing apsw.IOError from the translations makes it fail."""
    command = [sys.executable, "-m", "tests.faults.many_processes", "limit"]
    ended = warm_run(
        [*command, str(tmp_path / "memory.db")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    told = ended.stdout.strip()
    assert told.startswith("True True StoreUnavailable: "), told + ended.stderr
    assert "disk" in told
    assert problems(tmp_path / "memory.db") == []
