"""Jobs of the maintenance in processes of their own: two at once, beside writers, and killed."""

import subprocess
import sys
from datetime import timedelta

import pytest

from retold.errors import StoreBusy
from retold.operations.maintenance.leases import LEASE_SECONDS
from retold.operations.maintenance.pace import Pace
from retold.store.job_runs import JobRunRepository
from tests.faults.many_processes import FORKED, PATIENCE_SECONDS, processes, write_many
from tests.maintenance_support import (
    CFG,
    JOBS,
    MAKERS,
    TODAY,
    Clock,
    at_once,
    dump,
    full_store,
    open_at,
    reviewable_store,
    steady,
)
from tests.store_support import problems
from tests.warm_process import WarmPopen

RACERS = 4


@pytest.fixture(params=JOBS)
def job(request):
    return request.param


@pytest.fixture
def path(tmp_path, job):
    MAKERS[job](tmp_path / "memory.db")
    return tmp_path / "memory.db"


def start(path, job):
    """Start a job that waits for a line on standard input after every batch."""
    return WarmPopen(
        [sys.executable, "-m", "tests.maintenance_support", job, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def next_batch(process):
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline()


def job_run(store, job):
    with store.read() as tx:
        return JobRunRepository(tx).get(job)


def undisturbed(tmp_path, job):
    """Return what a store holds after a run that nobody disturbed, moments and ids apart."""
    path = tmp_path / "undisturbed.db"
    MAKERS[job](path)
    with open_at(path, Clock()) as store:
        JOBS[job](store, at_once())
        return comparable(store)


def comparable(store):
    """Return what the job is about, without ids and hashes, which no two stores share."""
    with store.read() as tx:
        return [
            list(tx.run(sql))
            for sql in (
                "select content, status, review_flagged_at is null from records order by seq",
                "select session_seq, turn, content, blanked_at is null from session_turns"
                " order by 1, 2",
                "select reason, candidate from extraction_rejections order by seq",
                "select request from search_log order by seq",
                "select gaps from turn_decisions order by seq",
                "select kind, payload is null from events order by kind, 2",
                "select kind, record_seq, status from reviews order by record_seq",
            )
        ]


def test_second_process_says_who_works_and_the_first_finishes(path, job, tmp_path):
    first = start(path, job)
    try:
        assert first.stdout.readline() == "batch\n"
        with open_at(path, Clock()) as store:
            before = dump(store)
            with pytest.raises(StoreBusy, match=f"{job} is already running in process {first.pid}"):
                JOBS[job](store, at_once())
            assert dump(store) == before
        while (line := next_batch(first)) == "batch\n":
            pass
        assert line == f"done {first.pid}\n"
    finally:
        first.kill()
        first.communicate(timeout=PATIENCE_SECONDS)

    with open_at(path, Clock()) as store:
        assert comparable(store) == undisturbed(tmp_path, job)
    assert problems(path) == []


def test_killed_process_holds_its_job_until_the_lease_ends_and_the_next_goes_on(
    path, job, tmp_path
):
    """Counting progress in a transaction of its own, apart from the work, makes it fail."""
    doomed = start(path, job)
    try:
        assert doomed.stdout.readline() == "batch\n"
        assert next_batch(doomed) == "batch\n"
    finally:
        doomed.kill()
        doomed.communicate(timeout=PATIENCE_SECONDS)

    clock = Clock()
    with open_at(path, clock) as store:
        stopped = job_run(store, job)
        with pytest.raises(StoreBusy, match=f"process {doomed.pid}"):
            JOBS[job](store, at_once())
        clock.now = TODAY + timedelta(seconds=LEASE_SECONDS)
        outcome = JOBS[job](store, steady(2))
        finished = job_run(store, job)

        assert stopped.done == 4
        assert stopped.cursor["places"]
        assert finished.done == stopped.total
        assert getattr(outcome, "resumed", True)
        assert comparable(store) == undisturbed(tmp_path, job)
    assert problems(path) == []


def maintain_until(barrier, path, done):
    """Run every job again and again until told to stop."""
    with open_at(path, Clock(), create=False) as store:
        barrier.wait(PATIENCE_SECONDS)
        while not done.is_set():
            for run in JOBS.values():
                run(store, Pace())


def test_many_writers_beside_maintenance_meet_no_lock_error(tmp_path):
    """B41. Every write arrives, no row is expired that was not due, the chain stays whole."""
    path = tmp_path / "memory.db"
    full_store(path, rows=5)
    results, done = FORKED.Queue(), FORKED.Event()
    barrier = FORKED.Barrier(RACERS + 1)
    with processes(results, barrier) as begin:
        begin(maintain_until, path, done)
        for number in range(RACERS):
            begin(write_many, path, f"writer {number}", 25)
        ended = [results.get(timeout=PATIENCE_SECONDS) for _ in range(RACERS)]
        done.set()
        ended.append(results.get(timeout=PATIENCE_SECONDS))

    assert ended == ["ok"] * (RACERS + 1)
    with open_at(path, Clock()) as store, store.read() as tx:
        active = tx.one("select count(*) from records where status = 'confirmed'")
        assert active == (1 + RACERS * 25,)
        assert tx.one("select count(*) from search_log") == (1,)
    assert problems(path) == []


def flag_at_once(barrier, path, cfg):
    """Flag due records at the same moment as others, whether or not one of them is first."""
    from retold.operations.maintenance.review_due import flag_due_reviews

    with open_at(path, Clock(), create=False) as store:
        barrier.wait(PATIENCE_SECONDS)
        for _ in range(20):
            try:
                flag_due_reviews(store, cfg, pace=at_once(rows=2))
            except StoreBusy:
                continue


def test_racing_temporal_reviewers_flag_each_record_once(tmp_path):
    """LLD 17.3. See also the two reviewers without a lease in test_maintenance_review_due.py."""
    path = tmp_path / "memory.db"
    reviewable_store(path, rows=30)
    results, barrier = FORKED.Queue(), FORKED.Barrier(RACERS)
    with processes(results, barrier) as begin:
        for _ in range(RACERS):
            begin(flag_at_once, path, CFG)
        assert [results.get(timeout=PATIENCE_SECONDS) for _ in range(RACERS)] == ["ok"] * RACERS

    with open_at(path, Clock()) as store, store.read() as tx:
        events = tx.events.list_by_kind("record.review_due")
        questions = list(tx.run("select record_seq from reviews where status = 'open'"))
        flagged = list(tx.run("select id from records where review_flagged_at is not null"))
    assert len(events) == len({event.record_id for event in events}) == 30
    assert len(questions) == len(set(questions)) == 30
    assert len(flagged) == 30
    assert problems(path) == []
