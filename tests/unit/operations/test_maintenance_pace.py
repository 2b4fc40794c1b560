"""Whether a job is held, and how many rows one batch takes."""

from datetime import timedelta

from retold.operations.maintenance.leases import LEASE_SECONDS, is_held
from retold.operations.maintenance.moments import days_before
from retold.operations.maintenance.pace import MOST_BYTES, MOST_ROWS, Pace, within_bytes
from retold.store.job_runs import JobRun
from retold.store.retention import DueRow
from tests.maintenance_support import TODAY


def test_held_is_a_lease_that_neither_ran_out_nor_comes_from_another_clock():
    def held(seconds):
        return is_held(JobRun("expire", "1:a", TODAY + timedelta(seconds=seconds)), TODAY)

    assert [held(seconds) for seconds in (-1, 0, 1, LEASE_SECONDS)] == [False, False, True, True]
    assert not held(LEASE_SECONDS + 1)
    assert not is_held(JobRun("expire"), TODAY)


def test_pace_follows_how_long_batches_take():
    rests = []
    pace = Pace(sleep=rests.append)
    sizes = []
    for seconds in [0.001] * 8 + [0.007, 0.02, 0.02] + [1.0] * 10:
        pace.note(seconds)
        pace.rest(seconds)
        sizes.append(pace.rows)

    assert max(sizes) == MOST_ROWS
    assert sizes[8] == sizes[7]
    assert sizes[-1] == 1
    assert all(rest > seconds for rest, seconds in zip(rests[-10:], [1.0] * 10, strict=True))


def test_batch_ends_before_it_rewrites_too_many_bytes():
    rows = [DueRow((number,), MOST_BYTES // 3) for number in range(9)]

    assert len(within_bytes(rows)) == 3
    assert within_bytes([DueRow((1,), 9 * MOST_BYTES)]) == [DueRow((1,), 9 * MOST_BYTES)]
    assert within_bytes([]) == []


def test_days_before_the_first_year_are_its_first_moment():
    assert days_before(TODAY, 2) == TODAY - timedelta(days=2)
    assert days_before(TODAY, 10**12).year == 1
