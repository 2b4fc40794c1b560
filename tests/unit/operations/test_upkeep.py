from datetime import timedelta

import pytest

from retold.errors import StoreCorrupt
from retold.operations.maintenance.leases import leased
from retold.operations.upkeep import JOBS, Job, is_due, run_due_jobs
from retold.store.job_runs import JobRun, JobRunRepository
from retold.testing import MOMENT, MemoryLab

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("last_ok", "due"),
    [
        (None, True),
        (MOMENT, False),
        (MOMENT - HOUR + timedelta(seconds=1), False),
        (MOMENT - HOUR, True),
        (MOMENT + timedelta(days=3), True),
    ],
    ids=["never ran", "ran now", "ran lately", "ran long ago", "the clock was set back"],
)
def test_job_is_due_by_its_last_complete_run(last_ok, due):
    assert is_due(JobRun("expire", last_ok=last_ok), HOUR, MOMENT) is due


def test_every_job_runs_once_and_again_when_its_time_has_come():
    with MemoryLab.open() as lab:
        assert run_due_jobs(lab.store, lab.config) == tuple(JOBS)
        assert run_due_jobs(lab.store, lab.config) == ()
        lab.clock.advance(hours=1)
        assert run_due_jobs(lab.store, lab.config) == ("expire", "review-due")
        lab.clock.advance(hours=23)
        assert run_due_jobs(lab.store, lab.config) == tuple(JOBS)


def test_inference_that_nobody_confirmed_expires_without_anybody_remembering_to():
    with MemoryLab.open() as lab:
        record = lab.session("ana").remember("The user may like tea.", allow_inference=True)
        lab.clock.advance(days=lab.config.ingestion.provisional_ttl_days + 1)
        run_due_jobs(lab.store, lab.config)

        with lab.store.read() as tx:
            assert tx.records.require(record.record_id).status == "expired"


def test_job_that_fails_keeps_no_other_from_its_turn(monkeypatch):
    def fails(store, config):
        raise StoreCorrupt("a row that cannot be read")

    broken = JOBS | {"expire": Job(HOUR, fails)}
    monkeypatch.setattr("retold.operations.upkeep.JOBS", broken)
    with MemoryLab.open() as lab:
        with pytest.raises(StoreCorrupt):
            run_due_jobs(lab.store, lab.config)
        with lab.store.read() as tx:
            done = [name for name in JOBS if JobRunRepository(tx).get(name).last_ok is not None]

    assert done == ["review-due", "retain"]


def test_job_that_somebody_else_does_is_left_to_it():
    with MemoryLab.open() as lab, leased(lab.store, "expire"):
        assert run_due_jobs(lab.store, lab.config) == ("review-due", "retain")
