"""One record with its index row, vector and event on a disk that fails at one operation."""

import itertools
import json
import shutil
import subprocess
import sys

import pytest

from retold.errors import StoreError, StoreUnavailable
from retold.store import Store
from tests.faults import sampled
from tests.faults.crash_points import WRITES
from tests.faults.failing_vfs import CRASHED, IN_PROCESS, failing_vfs
from tests.store_support import contents, prepare, problems, remember

FIRST = "first"


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """Return a closed store that holds one acknowledged memory."""
    path = tmp_path_factory.mktemp("template") / "memory.db"
    with Store.open(path) as store:
        prepare(store)
        with store.write() as tx:
            remember(tx, FIRST)
    return path


@pytest.fixture
def vfs():
    with failing_vfs("failing") as registered:
        yield registered


@pytest.fixture
def path(template, tmp_path):
    return shutil.copy(template, tmp_path / "memory.db")


def write(store, content):
    with store.write() as tx:
        remember(tx, content)


def written(store, content):
    """Write, and return what an application knows to be stored."""
    try:
        write(store, content)
    except StoreError:
        return []
    return [content]


def operations_of_a_write(path, vfs):
    with Store.open(path, vfs=vfs.name) as store:
        vfs.disarm()
        write(store, "counted")
        return len(vfs.operations)


def operations_of_a_close(path, vfs):
    store = Store.open(path, vfs=vfs.name)
    write(store, "counted")
    vfs.disarm()
    store.close()
    return len(vfs.operations)


@pytest.mark.parametrize("fault", IN_PROCESS)
def test_failing_write_stores_all_or_nothing_and_the_next_write_succeeds(
    template, tmp_path, vfs, fault
):
    """Committing after each repository call makes it fail: records without index rows."""
    path = tmp_path / "memory.db"
    shutil.copy(template, path)
    count = operations_of_a_write(path, vfs)
    assert count > 20
    for nth in sampled(range(1, count + 1), 7):
        shutil.copy(template, path)
        with Store.open(path, vfs=vfs.name) as store:
            vfs.arm(nth, fault)
            known = [FIRST, *written(store, "second")]
            vfs.disarm()
            write(store, "third")
            found = contents(store)

        assert problems(path) == [], (nth, fault)
        assert set(known) | {"third"} <= set(found) <= {FIRST, "second", "third"}, (nth, fault)


@pytest.mark.parametrize("fault", IN_PROCESS)
def test_failing_write_is_a_clear_error_that_says_what_to_do(path, vfs, fault):
    """Removing FullError or IOError from the translations makes it fail."""
    with Store.open(path, vfs=vfs.name) as store:
        vfs.arm(3, fault)
        with pytest.raises(StoreUnavailable, match=r"memory\.db: .*disk"):
            write(store, "my secret")


@pytest.mark.parametrize("fault", IN_PROCESS)
def test_failing_close_loses_nothing(template, tmp_path, vfs, fault):
    """Raising from ``opening.close`` makes it fail: later connections would stay open."""
    path = tmp_path / "memory.db"
    shutil.copy(template, path)
    count = operations_of_a_close(path, vfs)
    assert count > 10
    for nth in sampled(range(1, count + 1), 5):
        shutil.copy(template, path)
        store = Store.open(path, vfs=vfs.name)
        write(store, "second")
        vfs.arm(nth, fault)
        store.close()
        vfs.disarm()

        assert problems(path) == [], (nth, fault)
        with Store.open(path) as again:
            write(again, "third")
            assert contents(again) == [FIRST, "second", "third"], (nth, fault)
        for leftover in tmp_path.glob("memory.db-*"):
            leftover.unlink()


@pytest.mark.parametrize("fault", IN_PROCESS)
def test_failing_first_open_leaves_nothing_in_the_way_of_the_second(tmp_path, vfs, fault):
    """Creating the schema outside one transaction makes it fail."""
    with Store.open(tmp_path / "counted.db", vfs=vfs.name):
        count = len(vfs.operations)
    for nth in sampled(range(1, count + 1), 13):
        path = tmp_path / f"{nth}.db"
        vfs.arm(nth, fault)
        try:
            Store.open(path, vfs=vfs.name).close()
        except StoreError:
            pass
        finally:
            vfs.disarm()
        with Store.open(path, vfs=vfs.name) as store:
            prepare(store)
            write(store, FIRST)

        assert problems(path) == [], (nth, fault)


def test_full_disk_refuses_writes_and_answers_reads(path, vfs):
    with Store.open(path, vfs=vfs.name) as store:
        vfs.arm(1, "stays full")
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="full"):
                write(store, "second")
            assert contents(store) == [FIRST]
        vfs.disarm()
        write(store, "third")
        assert contents(store) == [FIRST, "third"]


def test_failing_read_is_an_error_and_not_an_empty_answer(path, vfs):
    """An outage never looks like "no memories"."""
    with Store.open(path, vfs=vfs.name) as store:
        vfs.refuses_reads = True
        with pytest.raises(StoreUnavailable):
            contents(store)
        with pytest.raises(StoreUnavailable):
            write(store, "second")
        vfs.refuses_reads = False
        assert contents(store) == [FIRST]


def test_process_that_dies_at_any_operation_loses_nothing_it_acknowledged(template, tmp_path, vfs):
    """Writing any part of a memory outside its transaction makes it fail."""
    counted = tmp_path / "counted.db"
    shutil.copy(template, counted)
    store = Store.open(counted, vfs=vfs.name)
    vfs.disarm()
    for content in WRITES:
        write(store, content)
    store.close()
    points = sampled(range(1, len(vfs.operations) + 1), 9)

    ended = subprocess.run(
        [
            *(sys.executable, "-m", "tests.faults.crash_points"),
            *(str(template), str(tmp_path), *map(str, points)),
        ],
        capture_output=True,
        check=True,
        text=True,
        timeout=300,
    )
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [line["point"] for line in lines] == list(points), ended.stderr
    assert [line["status"] for line in lines] == [CRASHED] * len(points)
    for line in lines:
        path = tmp_path / f"{line['point']}.db"
        assert problems(path) == [], line
        with Store.open(path) as store:
            found = contents(store)
            assert found == [FIRST, *WRITES][: len(found)], line
            assert len(found) > line["acknowledged"], line
            write(store, "next")
    assert {line["acknowledged"] for line in lines} == {0, 1, 2}


def test_faults_really_happen(path, vfs):
    """Every armed operation of a write is reached, so no storm above runs dry."""
    with Store.open(path, vfs=vfs.name) as store:
        vfs.disarm()
        write(store, "counted")
        kinds = {operation.split()[0] for operation in vfs.operations}
        assert kinds == {"write", "sync"}
        for nth in itertools.islice(range(1, len(vfs.operations) + 1), 3):
            vfs.arm(nth, "ioerr")
            with pytest.raises(StoreError):
                write(store, "refused")
            vfs.disarm()
