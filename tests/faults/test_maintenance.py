"""Maintenance on a disk that fails: what was done stays done, the rest is done later."""

import shutil

import pytest

from retold.errors import StoreError, StoreUnavailable
from retold.operations.maintenance.leases import LEASE_SECONDS
from retold.store.job_runs import JobRunRepository
from tests.faults import sampled
from tests.faults.failing_vfs import IN_PROCESS, failing_vfs
from tests.maintenance_support import (
    JOBS,
    MAKERS,
    TODAY,
    Clock,
    at_once,
    dump,
    open_at,
    steady,
)
from tests.store_support import problems


@pytest.fixture
def vfs():
    with failing_vfs("failing maintenance") as registered:
        yield registered


def later():
    """Return a clock at which every lease of today has run out."""
    return Clock(TODAY.replace(minute=LEASE_SECONDS // 60))


def settled(store):
    """Return what jobs are about, without the moments, ids and hashes of the events."""
    tables = dump(store, "job_runs", "events", "event_refs", "reviews", "store_meta")
    del tables["records"]
    with store.read() as tx:
        records = list(tx.run("select content, status, closed_at from records order by seq"))
        questions = list(tx.run("select kind, record_seq, status from reviews order by 2"))
        payloads = tx.one("select count(*) from events where payload is null")
        return tables, records, questions, payloads


def without_moments(state):
    tables, *others = state
    return {name: len(rows) for name, rows in tables.items()}, *others


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("fault", IN_PROCESS)
def test_job_on_a_failing_disk_is_finished_by_the_next_run(tmp_path, vfs, job, fault):
    """Each batch is all or nothing with its place in the cursor."""
    template = tmp_path / "template" / "memory.db"
    template.parent.mkdir()
    MAKERS[job](template)
    path = tmp_path / "memory.db"
    shutil.copy(template, path)
    with open_at(path, Clock(), vfs=vfs.name) as store:
        vfs.disarm()
        JOBS[job](store, steady(4))
        operations = len(vfs.operations)
        expected = without_moments(settled(store))
    for nth in sampled(range(1, operations + 1), 23):
        for file in tmp_path.glob("memory.db*"):
            file.unlink()
        shutil.copy(template, path)
        with open_at(path, Clock(), vfs=vfs.name) as store:
            vfs.arm(nth, fault)
            try:
                JOBS[job](store, steady(4))
            except StoreError:
                pass
            finally:
                vfs.disarm()
        with open_at(path, later()) as store:
            JOBS[job](store, at_once())
            assert without_moments(settled(store)) == expected, (nth, fault)
        assert problems(path) == [], (nth, fault)


@pytest.mark.parametrize("job", JOBS)
def test_full_disk_is_said_as_such_and_leaves_the_job_for_later(tmp_path, vfs, job):
    """Even though the lease cannot be given back on a full disk, the error is the disk's."""
    path = tmp_path / "memory.db"
    MAKERS[job](path)
    with open_at(path, Clock(), vfs=vfs.name) as store:
        vfs.arm(12, "stays full")
        with pytest.raises(StoreUnavailable, match="disk is full"):
            JOBS[job](store, steady(2))
        vfs.disarm()
    with open_at(path, later()) as store:
        JOBS[job](store, at_once())
        with store.read() as tx:
            assert JobRunRepository(tx).get(job).last_ok is not None
    assert problems(path) == []
