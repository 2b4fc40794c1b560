import itertools
from datetime import timedelta

import pytest

from retold.errors import ClaimLost, NotFound
from retold.models import Principal
from retold.policy.claims import LONGEST_WAIT, Bury, ClaimPolicy, Take, decide_claim
from retold.store import Store
from retold.store.overview import OverviewRepository
from retold.testing import CountingIds, FakeClock

POLICY = ClaimPolicy(timedelta(minutes=30), max_attempts=3)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def store(tmp_path, clock):
    with Store.open(tmp_path / "memory.db", clock=clock, id_source=CountingIds()) as opened:
        yield opened


def requested(tx, name="monday", *, user="ana", ended=True):
    """Return the id of a new segment that waits for extraction."""
    session = tx.sessions.start(Principal("helper", user, name), name)
    if ended:
        tx.sessions.end(session.id)
    tx.sessions.request_extraction(session.id)
    return session.id


def taken(tx, session_id):
    decision = decide_claim(tx.claims.require(session_id), tx.now, POLICY)
    assert isinstance(decision, Take)
    return tx.claims.take(tx.claims.require(session_id), attempts=decision.attempts)


def due(store):
    with store.read() as tx:
        return tx.claims.list_due(POLICY.limits(tx.now), limit=100)


def state_of(store, session_id):
    with store.read() as tx:
        return tx.claims.require(session_id)


def test_zombie_whose_claim_timed_out_cannot_commit(store, clock):
    with store.write() as tx:
        session_id = requested(tx)
        zombie = taken(tx, session_id)
    clock.advance(minutes=31)
    with store.write() as tx:
        heir = taken(tx, session_id)

    def commit(claim):
        with store.write() as tx:
            tx.claims.end(claim)
            tx.meta.set_text("written by", claim.token)
            tx.claims.advance(session_id)

    with pytest.raises(ClaimLost):
        commit(zombie)
    commit(heir)
    with pytest.raises(ClaimLost):
        commit(zombie)

    with store.read() as tx:
        assert tx.meta.get_text("written by") == heir.token
    assert state_of(store, session_id).stage == "review"


def test_renewed_claim_outlives_its_first_timeout(store, clock):
    with store.write() as tx:
        session_id = requested(tx)
        claim = taken(tx, session_id)
    for _ in range(3):
        clock.advance(minutes=20)
        with store.write() as tx:
            tx.claims.renew(claim)

    assert due(store) == []


def test_worker_learns_at_its_next_call_that_its_claim_was_lost(store):
    with store.write() as tx:
        session_id = requested(tx)
        claim = taken(tx, session_id)
        tx.claims.release(session_id)

    with pytest.raises(ClaimLost), store.write() as tx:
        tx.claims.renew(claim)


@pytest.mark.parametrize("verb", ["rerun", "withdraw", "release", "bury"])
def test_whatever_takes_the_claim_away_fences_the_worker(store, verb):
    with store.write() as tx:
        session_id = requested(tx)
        claim = taken(tx, session_id)
        getattr(tx.claims, verb)(session_id, *(["code"] if verb == "bury" else []))

    with pytest.raises(ClaimLost), store.write() as tx:
        tx.claims.end(claim)


def test_attempts_are_counted_for_each_stage(store):
    with store.write() as tx:
        session_id = requested(tx)
        claim = taken(tx, session_id)
        tx.claims.end(claim)
        tx.claims.postpone(session_id, attempts=claim.attempt, next_at=None, error="code")
        again = taken(tx, session_id)
        tx.claims.end(again)
        tx.claims.advance(session_id)
        review = taken(tx, session_id)

    assert [claim.attempt, again.attempt, review.attempt] == [1, 2, 1]
    assert review.stage == "review"


def test_extracted_segment_is_off_the_list_until_it_is_forced(store):
    with store.write() as tx:
        session_id = requested(tx)
        claim = taken(tx, session_id)
        tx.claims.end(claim)
        tx.claims.finish(session_id)
    assert due(store) == []

    with store.write() as tx:
        tx.claims.rerun(session_id)
    assert due(store) == [session_id]

    with store.write() as tx:
        again = taken(tx, session_id)
        tx.claims.end(again)
        tx.claims.finish(session_id)
    assert (again.mode, again.stage) == ("rerun", "extract")
    assert due(store) == []
    assert state_of(store, session_id).mode == "run"


def test_segment_set_aside_waits_for_a_person(store):
    with store.write() as tx:
        session_id = requested(tx)
        tx.claims.bury(session_id, "invalid_completion")
    assert due(store) == []
    with store.read() as tx:
        (failed,) = tx.claims.list_failed()
        assert tx.claims.list_failed(after=session_id) == []
    assert (failed.session_id, failed.error) == (session_id, "invalid_completion")

    with store.write() as tx:
        assert tx.claims.revive(session_id)
        assert not tx.claims.revive(session_id)
    assert due(store) == [session_id]

    with store.write() as tx:
        assert tx.claims.withdraw(session_id)
    assert due(store) == []


def test_list_of_due_segments_is_what_may_be_claimed(store, clock):
    """Every combination of facts: the query and the rule must never disagree."""
    with store.write() as tx:
        now = tx.now
        options = itertools.product(
            (False, True),
            (None, now + MINUTE, now - MINUTE, now + 2 * LONGEST_WAIT),
            (0, 31, -31, None),
            (False, True),
            (0, 2),
        )
        for number, (rerun, next_at, age, buried, attempts) in enumerate(options):
            session_id = requested(tx, f"chat {number}", ended=number % 7 != 3)
            if number % 11 == 5 or rerun:
                tx.claims.finish(session_id)
            if rerun:
                tx.claims.rerun(session_id)
            if age is not None:
                tx.claims.take(tx.claims.require(session_id), attempts=attempts)
                tx.run(
                    "update sessions set extraction_started_at = ? where id = ?",
                    ((now - age * MINUTE).isoformat(timespec="microseconds"), session_id),
                )
            if next_at is not None:
                tx.claims.postpone(session_id, attempts=attempts, next_at=next_at, error=None)
            if buried:
                tx.claims.bury(session_id, "code")
    with store.read() as tx:
        everything = tx.run("select id from sessions").fetchall()
        claimable = {
            session_id
            for (session_id,) in everything
            if isinstance(decide_claim(tx.claims.require(session_id), tx.now, POLICY), (Take, Bury))
        }

    assert 5 < len(claimable) < len(everything)
    assert set(due(store)) == claimable


def test_reruns_do_not_push_first_runs_beyond_the_limit(store, clock):
    with store.write() as tx:
        again = requested(tx, "again")
        tx.claims.finish(again)
        tx.claims.rerun(again)
    clock.advance(minutes=1)
    with store.write() as tx:
        first = requested(tx, "first")
    with store.read() as tx:
        limits = POLICY.limits(tx.now)

        assert tx.claims.list_due(limits, limit=1) == [first]
        assert tx.claims.list_due(limits, limit=2) == [first, again]


def test_waiting_is_counted_for_one_pair_alone(store):
    with store.write() as tx:
        requested(tx, "monday"), requested(tx, "tuesday")
        requested(tx, "monday", user="ben")
        for name in ("done", "again"):
            tx.claims.finish(done := requested(tx, name))
        tx.claims.rerun(done)
    with store.read() as tx:
        assert tx.claims.count_waiting("helper", "ana") == 2
        assert tx.claims.count_waiting("critic", "ana") == 0


def test_backlog_is_the_whole_list_in_numbers(store, clock):
    with store.read() as tx:
        assert tx.claims.backlog().oldest_requested_at is None
    with store.write() as tx:
        began = tx.now
        first = requested(tx, "first")
    clock.advance(minutes=1)
    with store.write() as tx:
        requested(tx, "second")
        taken(tx, first)
        tx.claims.bury(requested(tx, "third"), "code")
        tx.claims.finish(again := requested(tx, "again"))
        tx.claims.rerun(again)
        later = tx.now
    with store.read() as tx:
        backlog, status = tx.claims.backlog(), OverviewRepository(tx).sessions()

    assert status.waiting == backlog.waiting
    assert (backlog.waiting, backlog.claimed, backlog.failed) == (3, 1, 1)
    assert (backlog.oldest_requested_at, backlog.oldest_claimed_at) == (began, later)


def test_rerun_that_waits_for_nothing_older_dates_the_list(store):
    with store.write() as tx:
        tx.claims.finish(again := requested(tx))
        tx.claims.rerun(again)
    with store.read() as tx:
        assert tx.claims.backlog().oldest_requested_at == tx.claims.require(again).requested_at


def test_unknown_session_has_no_place_on_the_list(store):
    with store.read() as tx:
        assert tx.claims.get("nobody") is None
        with pytest.raises(NotFound):
            tx.claims.require("nobody")
