import pytest

from retold.operations.steps import ExtractionSteps
from retold.operations.sweep import BATCH, Sweep, SweepOutcome
from retold.testing import MemoryLab


class Bell:
    """Remember what was rung for."""

    def __init__(self):
        self.rung = []

    def __call__(self, session_ids):
        self.rung.extend(session_ids)
        return len(session_ids)


@pytest.fixture
def bell():
    return Bell()


def lab_with(**settings):
    return MemoryLab.open(settings=settings)


def said(lab, name, *, end=False, extract=False, user="ana"):
    """Say something in a conversation and return the id of its segment."""
    principal = lab.session(user, session_id=name).principal
    turn = lab.runtime.hooks.on_turn(principal, "user", "I live in Porto.")
    if end:
        lab.runtime.hooks.on_session_end(principal, extract=extract)
    return turn.session_id


def swept(lab, bell):
    return Sweep(lab.store, lab.config, bell).run()


def kinds(lab, session_id):
    with lab.store.read() as tx:
        return [one.kind for one in tx.events.list_for_session(session_id)]


def session(lab, session_id):
    with lab.store.read() as tx:
        return tx.sessions.require(session_id)


def test_sweep_of_a_quiet_store_does_nothing(bell):
    with lab_with() as lab:
        said(lab, "monday")

        assert swept(lab, bell) == SweepOutcome(0, 0, 0, 0, 0)
        assert bell.rung == []


def test_sweep_that_finds_nothing_waits_for_no_writer_and_holds_up_none(bell):
    with lab_with(store={"busy_timeout_seconds": 0.1}) as lab, lab.reopen() as other:
        said(lab, "monday")
        with other.store.write():
            assert swept(lab, bell) == SweepOutcome(0, 0, 0, 0, 0)


def test_session_whose_host_died_is_ended_and_nothing_is_sent_that_nobody_asked_for(bell):
    with lab_with() as lab:
        silent = said(lab, "monday")
        lab.clock.advance(minutes=31)
        fresh = said(lab, "tuesday")

        assert swept(lab, bell).closed == 1
        assert session(lab, silent).ended_by == "idle"
        assert kinds(lab, silent) == ["session.started", "session.split"]
        assert session(lab, silent).extraction_requested_at is None
        assert session(lab, fresh).ended_at is None
        assert bell.rung == []


def test_silent_session_is_extracted_where_the_configuration_asks_for_it(bell):
    with lab_with(ingestion={"extract_on_session_end": True}) as lab:
        silent = said(lab, "monday")
        lab.clock.advance(minutes=31)

        assert swept(lab, bell) == SweepOutcome(1, 0, 0, 1, 1)
        assert bell.rung == [silent]


def test_session_that_keeps_no_transcript_is_left_to_its_host(bell):
    with lab_with() as lab:
        principal = lab.session("ana", session_id="private", record=False).principal
        lab.runtime.hooks.on_turn(principal, "user", "I live in Porto.")
        lab.clock.advance(days=2)

        assert swept(lab, bell).closed == 0


def test_conversation_goes_on_after_the_sweep_ended_its_segment(bell):
    with lab_with() as lab:
        first = said(lab, "monday")
        lab.clock.advance(minutes=31)
        swept(lab, bell)
        second = said(lab, "monday")

        assert session(lab, second).segment == 2
        assert session(lab, second).conversation_id == session(lab, first).conversation_id


def test_requested_session_is_rung_for_at_every_sweep_until_it_is_claimed(bell):
    with lab_with() as lab:
        waiting = said(lab, "monday", end=True, extract=True)

        swept(lab, bell), swept(lab, bell)
        assert bell.rung == [waiting, waiting]
        with lab.store.write() as tx:
            tx.claims.take(tx.claims.require(waiting), attempts=1)
        assert swept(lab, bell).due == 0


def test_lost_worker_is_fenced_and_its_session_rung_for_again(bell):
    with lab_with() as lab:
        waiting = said(lab, "monday", end=True, extract=True)
        with lab.store.write() as tx:
            tx.claims.take(tx.claims.require(waiting), attempts=1)
        lab.clock.advance(minutes=31)

        assert swept(lab, bell) == SweepOutcome(0, 1, 0, 1, 1)
        with lab.store.read() as tx:
            state = tx.claims.require(waiting)
            kinds = [row[0] for row in tx.run("select kind from events order by seq")]
        assert (state.token, state.attempts) == (None, 1)
        assert kinds[-1] == "extraction.reclaimed"


def test_session_whose_workers_were_always_lost_becomes_a_dead_letter(bell):
    with lab_with(queue={"max_attempts": 2}) as lab:
        waiting = said(lab, "monday", end=True, extract=True)
        with lab.store.write() as tx:
            tx.claims.take(tx.claims.require(waiting), attempts=2)
        lab.clock.advance(minutes=31)

        assert swept(lab, bell) == SweepOutcome(0, 0, 1, 0, 0)
        with lab.store.read() as tx:
            (dead,) = tx.claims.list_failed()
        assert (dead.session_id, dead.error) == (waiting, "attempts_exhausted")


def test_more_than_one_batch_is_done_in_one_sweep(bell):
    with lab_with(queue={"max_pending": BATCH + 3}) as lab:
        ids = [said(lab, f"chat {number}", end=True, extract=True) for number in range(BATCH + 5)]
        with lab.store.write() as tx:
            for session_id in ids:
                tx.claims.take(tx.claims.require(session_id), attempts=1)
        lab.clock.advance(minutes=31)

        assert swept(lab, bell) == SweepOutcome(0, BATCH + 5, 0, BATCH + 3, BATCH + 3)
        assert bell.rung == ids[: BATCH + 3]


def test_sweep_and_steps_together_lose_nothing_and_repeat_nothing():
    with lab_with() as lab:
        ids = [said(lab, f"chat {number}", end=True, extract=True) for number in range(5)]
        done = []

        def work(claim, renew):
            with lab.store.write() as tx:
                tx.claims.end(claim)
                tx.claims.finish(claim.session_id)
            done.append(claim.session_id)

        steps = ExtractionSteps(lab.store, lab.config, work)
        for _ in range(3):
            Sweep(lab.store, lab.config, lambda due: len([*map(steps.run, [*due, *due])])).run()

        assert done == ids
