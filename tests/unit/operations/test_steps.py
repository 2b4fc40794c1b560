import errno
from datetime import timedelta

import pytest

from retold.errors import (
    BudgetExhausted,
    ClaimLost,
    ConfigError,
    DraftLost,
    EmbeddingProfileMismatch,
    InvalidCompletion,
    NotYetAvailable,
    ProviderOutage,
    RetoldSetupError,
    SchemaTooNew,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    WriteContended,
)
from retold.operations.steps import (
    LEFT_OPEN,
    ExtractionSteps,
    StepOutcome,
    failure_kind,
    spread,
)
from retold.operations.sweep import Sweep
from retold.testing import MemoryLab

PRIVATE = "I'm allergic to sesame"


@pytest.fixture
def lab():
    with MemoryLab.open(settings={"queue": {"max_attempts": 2}}) as opened:
        yield opened


def requested(lab, name="monday"):
    """Return the id of an ended session that waits for extraction."""
    principal = lab.session("ana", session_id=name).principal
    lab.runtime.hooks.on_turn(principal, "user", f"{PRIVATE} ({name}).")
    return lab.runtime.hooks.on_session_end(principal, extract=True).id


def events(lab):
    with lab.store.read() as tx:
        rows = tx.run("select kind from events where kind like 'extraction.%' order by seq")
        return [kind for (kind,) in rows]


def state_of(lab, session_id):
    with lab.store.read() as tx:
        return tx.claims.require(session_id)


class Work:
    """A step that does what it is told, and both stages as the protocol has them otherwise."""

    def __init__(self, lab, *failures):
        self.store = lab.store
        self.failures = list(failures)
        self.done = []

    def __call__(self, claim, renew):
        renew()
        if self.failures and (failure := self.failures.pop(0)) is not None:
            raise failure
        with self.store.write() as tx:
            tx.claims.end(claim)
            if claim.stage == "extract":
                tx.claims.advance(claim.session_id)
            else:
                tx.claims.finish(claim.session_id)
        self.done.append((claim.stage, claim.attempt))


def steps(lab, *failures):
    return ExtractionSteps(lab.store, lab.config, Work(lab, *failures))


def test_both_steps_run_one_after_the_other_each_under_its_own_claim(lab):
    session_id = requested(lab)
    running = steps(lab)

    assert running.run(session_id) == StepOutcome(session_id, "reviewed")
    assert running.work.done == [("extract", 1), ("review", 1)]
    assert running.run(session_id) == StepOutcome(session_id, "nothing", "extracted")
    assert state_of(lab, session_id).extracted_at is not None


def test_unknown_session_is_nothing_to_do(lab):
    assert steps(lab).run("nobody") == StepOutcome("nobody", "nothing", "unknown")


def test_without_work_nothing_is_claimed_and_the_caller_is_told(lab):
    session_id = requested(lab)

    with pytest.raises(NotYetAvailable):
        ExtractionSteps(lab.store, lab.config).run(session_id)

    assert state_of(lab, session_id).attempts == 0
    assert events(lab) == []


def test_failed_review_repeats_only_the_review(lab):
    session_id = requested(lab)
    running = steps(lab, None, InvalidCompletion("no"))

    assert running.run(session_id) == StepOutcome(session_id, "failed", "invalid_completion")
    lab.clock.advance(minutes=5)
    assert running.run(session_id).done == "reviewed"
    assert running.work.done == [("extract", 1), ("review", 2)]
    assert events(lab) == ["extraction.failed"]


def test_session_that_fails_every_time_is_set_aside_visibly(lab):
    session_id = requested(lab)
    running = steps(lab, ValueError(PRIVATE), ValueError(PRIVATE))

    assert running.run(session_id).done == "failed"
    assert running.run(session_id) == StepOutcome(session_id, "nothing", "not_before")
    lab.clock.advance(minutes=5)
    assert running.run(session_id) == StepOutcome(session_id, "set_aside", "ValueError")
    assert running.run(session_id) == StepOutcome(session_id, "nothing", "set_aside")
    assert events(lab) == ["extraction.failed", "extraction.failed", "extraction.dead"]
    with lab.store.read() as tx:
        payloads = [row[0] for row in tx.run("select payload from events")]
    assert not any(PRIVATE in payload for payload in payloads)


def test_outage_burns_no_attempt_however_long_it_lasts(lab):
    session_id = requested(lab)
    running = steps(lab, *[ProviderOutage("down")] * 10)

    for _ in range(10):
        assert running.run(session_id).done == "failed"
        lab.clock.advance(hours=1)

    assert running.run(session_id).done == "reviewed"


def test_worker_that_vanished_is_replaced_after_the_timeout_and_the_trail_says_so(lab):
    session_id = requested(lab)
    with lab.store.write() as tx:
        tx.claims.take(tx.claims.require(session_id), attempts=1)
    running = steps(lab)

    assert running.run(session_id) == StepOutcome(session_id, "nothing", "claimed_by_another")
    lab.clock.advance(minutes=31)
    assert running.run(session_id).done == "reviewed"
    assert running.work.done[0] == ("extract", 2)
    assert events(lab) == ["extraction.reclaimed"]


def test_workers_that_vanish_every_time_end_as_a_dead_letter(lab):
    session_id = requested(lab)
    with lab.store.write() as tx:
        tx.claims.take(tx.claims.require(session_id), attempts=2)
    lab.clock.advance(minutes=31)

    assert steps(lab).run(session_id) == StepOutcome(session_id, "set_aside", "attempts_exhausted")


@pytest.mark.parametrize("again", [False, True], ids=["first run", "rerun"])
def test_wait_after_a_failure_ends_by_itself(lab, again):
    session_id = requested(lab)
    running = steps(lab, *[None, None] * again, ProviderOutage("down"))
    if again:
        running.run(session_id)
        with lab.store.write() as tx:
            tx.claims.rerun(session_id)
    assert running.seconds_until_due() is None

    running.run(session_id)
    lab.clock.advance(seconds=running.seconds_until_due())
    assert running.due() == [session_id]


def test_clock_that_is_set_back_keeps_nothing_waiting(lab):
    lost, waiting = requested(lab, "lost"), requested(lab, "waiting")
    running = steps(lab, *[ProviderOutage("down")] * 5)
    lab.clock.advance(days=365)
    for _ in range(5):
        running.run(waiting)
        lab.clock.advance(hours=1)
    with lab.store.write() as tx:
        tx.claims.take(tx.claims.require(lost), attempts=1)
    lab.clock.advance(days=-365)

    swept = Sweep(lab.store, lab.config, len).run()
    assert (swept.freed, swept.due) == (1, 2)
    assert running.due() == [lost, waiting]
    assert [running.run(each).done for each in (waiting, lost)] == ["reviewed", "reviewed"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_interrupted_step_is_handed_back_as_if_it_had_never_begun(lab, interruption):
    session_id = requested(lab)
    running = steps(lab, interruption())

    with pytest.raises(interruption):
        running.run(session_id)

    state = state_of(lab, session_id)
    assert (state.token, state.attempts, state.next_at) == (None, 0, None)
    assert running.run(session_id).done == "reviewed"


def test_lost_claim_stores_nothing_and_is_no_failure(lab):
    session_id = requested(lab)

    def overtaken(claim, renew):
        with lab.store.write() as tx:
            tx.claims.rerun(session_id)
        renew()

    outcome = ExtractionSteps(lab.store, lab.config, overtaken).run(session_id)

    assert outcome == StepOutcome(session_id, "lost")
    assert events(lab) == []


def test_failure_of_a_worker_that_lost_its_claim_changes_nothing(lab):
    session_id = requested(lab)

    def overtaken(claim, renew):
        with lab.store.write() as tx:
            tx.claims.rerun(session_id)
        raise ValueError

    outcome = ExtractionSteps(lab.store, lab.config, overtaken).run(session_id)

    assert outcome == StepOutcome(session_id, "lost")
    assert events(lab) == []
    assert state_of(lab, session_id).error is None


def test_step_that_forgets_to_end_its_claim_is_a_failure(lab):
    session_id = requested(lab)
    outcome = ExtractionSteps(lab.store, lab.config, lambda claim, renew: None).run(session_id)

    assert outcome == StepOutcome(session_id, "failed", LEFT_OPEN)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProviderOutage("x"), "outage"),
        (InvalidCompletion("x"), "content"),
        (BudgetExhausted("x"), "local"),
        (RetoldSetupError("x"), "config"),
        (ConfigError("x"), "config"),
        (EmbeddingProfileMismatch("x"), "config"),
        (SchemaTooNew("x"), "config"),
        (StoreBusy("x"), "local"),
        (StoreCorrupt("x"), "local"),
        (WriteContended("x"), "local"),
        (DraftLost("x"), "bug"),
        (StoreError("x"), "bug"),
        (OSError(errno.ENOSPC, "full"), "local"),
        (OSError(errno.EPERM, "no"), "bug"),
        (ClaimLost("x"), "bug"),
        (KeyError("x"), "bug"),
    ],
)
def test_failures_are_sorted_by_what_they_call_for(error, kind):
    assert failure_kind(error) == kind


def test_sessions_that_fail_together_do_not_come_back_together(lab):
    ids = [requested(lab, f"chat {number}") for number in range(20)]
    running = steps(lab, *[ProviderOutage("down")] * 20)
    for session_id in ids:
        running.run(session_id)
    moments = {state_of(lab, session_id).next_at for session_id in ids}

    assert len(moments) > 10
    assert max(moments) - min(moments) <= timedelta(seconds=45)
    assert all(0.5 <= spread(session_id) <= 1 for session_id in ids)
