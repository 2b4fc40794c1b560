"""What every job of the maintenance promises: done once, resumed, held by one, short batches."""

from datetime import timedelta

import pytest

from retold.errors import StoreBusy
from retold.operations.maintenance.leases import LEASE_SECONDS, leased
from retold.store import Store
from retold.store.job_runs import JobRun, JobRunRepository
from tests.maintenance_support import JOBS, MAKERS, TODAY, Clock, at_once, dump, open_at, steady
from tests.store_support import problems, remember

BOOKKEEPING = ("job_runs",)

pytestmark = pytest.mark.parametrize("job", JOBS)


@pytest.fixture
def path(tmp_path, job):
    MAKERS[job](tmp_path / "memory.db")
    return tmp_path / "memory.db"


def job_run(store: Store, job: str) -> JobRun:
    with store.read() as tx:
        return JobRunRepository(tx).get(job)


class Stopped(Exception):
    pass


def stop_after(batches: int):
    """Return a pace that raises in the rest after so many batches."""
    left = iter(range(batches - 1))

    def rest(_seconds: float) -> None:
        if next(left, None) is None:
            raise Stopped

    return steady(2, rest)


def test_running_twice_equals_running_once(path, job):
    with open_at(path, Clock()) as store:
        JOBS[job](store, at_once())
        once = dump(store, *BOOKKEEPING)
        JOBS[job](store, at_once())
        twice = dump(store, *BOOKKEEPING)

    assert twice == once
    assert problems(path) == []


def test_no_job_adds_a_record_or_makes_one_active(path, job):
    """B18."""
    alive = "select count(*), sum(status in ('provisional', 'confirmed')) from records"
    with open_at(path, Clock()) as store:
        counts = []
        for _ in range(3):
            with store.read() as tx:
                counts.append(tx.one(alive))
            JOBS[job](store, at_once())

    assert counts[0][0] == counts[1][0] == counts[2][0]
    assert counts[0][1] >= counts[1][1] == counts[2][1]


def test_size_of_batches_does_not_change_what_is_done(path, job, tmp_path):
    """Dropping the place of the last row in Batches._pass, or a row at a border, makes it fail."""
    results = []
    for rows in (1, 3, 500):
        copy = tmp_path / f"{rows}.db"
        copy.write_bytes(path.read_bytes())
        with open_at(copy, Clock()) as store:
            outcome = JOBS[job](store, steady(rows))
            results.append((outcome, len(dump(store)["event_refs"])))

    assert _comparable(results[0]) == _comparable(results[1]) == _comparable(results[2])


def _comparable(result):
    outcome, events = result
    fields = {name: getattr(outcome, name) for name in outcome.__slots__ if name != "log"}
    return fields, events


def test_finished_job_says_when_and_holds_nothing(path, job):
    with open_at(path, Clock()) as store:
        JOBS[job](store, at_once())
        run = job_run(store, job)

    assert (run.token, run.leased_until, run.cursor) == (None, None, None)
    assert run.last_ok == TODAY
    assert run.done == run.total > 0


def test_interrupted_job_gives_back_and_the_next_goes_on_at_its_cursor(path, job):
    """Without _give_back the second run is refused; without places it begins again."""
    with open_at(path, Clock()) as store:
        with pytest.raises(Stopped):
            JOBS[job](store, stop_after(2))
        stopped = job_run(store, job)
        with leased(store, job) as lease:
            assert lease.cursor == stopped.cursor
        JOBS[job](store, steady(2))
        finished = job_run(store, job)
        resumed = dump(store, *BOOKKEEPING)
        JOBS[job](store, at_once())

        assert (stopped.token, stopped.last_ok) == (None, None)
        assert 0 < stopped.done < stopped.total == finished.done
        assert stopped.cursor["places"]
        assert dump(store, *BOOKKEEPING) == resumed
    assert problems(path) == []


def test_resumed_job_does_what_became_due_behind_its_cursor(path, job, tmp_path):
    """Ending after the first pass of Batches.run makes it fail for rows in passed places."""
    with open_at(path, Clock()) as store, pytest.raises(Stopped):
        JOBS[job](store, stop_after(2))
    copy = tmp_path / "whole.db"
    MAKERS[job](copy)
    for file in (path, copy):
        with open_at(file, Clock()) as store, store.write() as tx:
            tx.run("update sessions set extracted_at = ended_at")
            remember(tx, "late", expires_at=TODAY - timedelta(days=190), status="provisional")
            remember(tx, "early", review_at=TODAY - timedelta(days=199, hours=23))
    changed = []
    for file in (path, copy):
        with open_at(file, Clock()) as store:
            JOBS[job](store, steady(2))
            with store.read() as tx:
                changed.append(
                    [
                        list(tx.run("select status from records order by seq")),
                        list(tx.run("select review_flagged_at from records order by seq")),
                        list(tx.run("select content from session_turns order by 1")),
                    ]
                )

    assert changed[0] == changed[1]


def test_second_holder_is_told_who_works_and_changes_nothing(path, job):
    with open_at(path, Clock()) as store, leased(store, job):
        before = dump(store)
        with pytest.raises(StoreBusy, match=rf"{job} is already running in process \d+") as refusal:
            JOBS[job](store, at_once())

        assert refusal.value.details["leased_until"] == TODAY + timedelta(seconds=LEASE_SECONDS)
        assert dump(store) == before


def test_job_of_a_dead_holder_is_taken_over_when_its_lease_has_run_out(path, job):
    clock = Clock()
    with open_at(path, clock) as store:
        with store.write() as tx:
            until = tx.now + timedelta(seconds=LEASE_SECONDS)
            JobRunRepository(tx).take(job, "4711:dead", until)
        with pytest.raises(StoreBusy, match="process 4711"):
            JOBS[job](store, at_once())
        clock.now = until
        JOBS[job](store, at_once())

        assert job_run(store, job).last_ok == until


def test_holder_that_lost_its_lease_commits_nothing_more(path, job):
    """A zombie: without the token in ``advance`` or without its result it goes on writing."""
    clock = Clock()

    def taken_over(_seconds: float) -> None:
        clock.now += timedelta(seconds=LEASE_SECONDS)
        with open_at(path, clock) as other:
            with pytest.raises(Stopped):
                JOBS[job](other, stop_after(1))
            states.append(dump(other))

    states = []
    with open_at(path, clock) as store:
        with pytest.raises(StoreBusy, match="taken over"):
            JOBS[job](store, steady(2, taken_over))

        assert len(states) == 1
        assert dump(store) == states[0]


def test_foreground_writes_between_any_two_batches_without_waiting(path, job):
    """B42, B15. Resting inside the transaction makes it fail."""
    written = []

    def write(_seconds: float) -> None:
        with foreground.write() as tx:
            written.append(remember(tx, f"meanwhile {len(written)}").id)

    with (
        open_at(path, Clock()) as store,
        Store.open(path, clock=Clock(), busy_timeout_seconds=0) as foreground,
    ):
        JOBS[job](store, steady(2, write))
        with foreground.read() as tx:
            stored = tx.records.by_ids(written)

    assert len(written) > 1
    assert [one.status for one in stored.values()] == ["confirmed"] * len(written)
    assert problems(path) == []


def test_progress_ends_at_what_was_counted(path, job):
    with open_at(path, Clock()) as store:
        with pytest.raises(Stopped):
            JOBS[job](store, stop_after(1))
        half = job_run(store, job)
        JOBS[job](store, steady(2))
        whole = job_run(store, job)

    assert (half.done, half.total) == (2, whole.total)
    assert whole.done == whole.total
