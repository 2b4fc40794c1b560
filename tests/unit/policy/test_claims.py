from dataclasses import replace
from datetime import timedelta

import pytest

from retold.policy.claims import (
    ATTEMPTS_EXHAUSTED,
    LONGEST_DELAY,
    LONGEST_WAIT,
    Bury,
    ClaimPolicy,
    Leave,
    Postpone,
    Take,
    decide_claim,
    decide_failure,
    decide_stale,
    standing_of,
    waited,
)
from retold.store.claims import ClaimState
from retold.testing import MOMENT

POLICY = ClaimPolicy(timeout=timedelta(minutes=30), max_attempts=3)
NOW = MOMENT + timedelta(days=1)
SECOND = timedelta(seconds=1)
WAITING = ClaimState(
    session_id="s1",
    agent_id="helper",
    user_id="ana",
    project_id=None,
    external_id="monday",
    conversation_id="s1",
    ended_at=MOMENT,
    requested_at=MOMENT,
    stage="extract",
    mode="run",
    started_at=None,
    token=None,
    attempts=0,
    next_at=None,
    failed_at=None,
    error=None,
    extracted_at=None,
)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({}, Take(1, reclaimed=False), id="waiting"),
        pytest.param({"requested_at": None}, Leave("not_requested"), id="nobody asked"),
        pytest.param({"ended_at": None}, Leave("not_ended"), id="still open"),
        pytest.param({"extracted_at": NOW}, Leave("extracted"), id="done"),
        pytest.param(
            {"extracted_at": MOMENT, "mode": "rerun"}, Take(1, reclaimed=False), id="once more"
        ),
        pytest.param({"failed_at": MOMENT}, Leave("set_aside"), id="set aside"),
        pytest.param({"next_at": NOW + SECOND}, Leave("not_before"), id="too early"),
        pytest.param({"next_at": NOW}, Take(1, reclaimed=False), id="just in time"),
        pytest.param(
            {"token": "t", "started_at": NOW - POLICY.timeout},
            Leave("claimed_by_another"),
            id="claim at its limit",
        ),
        pytest.param(
            {"token": "t", "started_at": NOW - POLICY.timeout - SECOND, "attempts": 1},
            Take(2, reclaimed=True),
            id="claim beyond its limit",
        ),
        pytest.param(
            {"token": "t", "started_at": NOW + POLICY.timeout},
            Leave("claimed_by_another"),
            id="claim of a clock that goes before",
        ),
        pytest.param(
            {"token": "t", "started_at": NOW + POLICY.timeout + SECOND, "attempts": 1},
            Take(2, reclaimed=True),
            id="claim of a clock that was set back",
        ),
        pytest.param({"next_at": NOW + LONGEST_WAIT}, Leave("not_before"), id="longest wait"),
        pytest.param(
            {"next_at": NOW + LONGEST_WAIT + SECOND},
            Take(1, reclaimed=False),
            id="wait of a clock that was set back",
        ),
        pytest.param({"attempts": 3}, Bury(ATTEMPTS_EXHAUSTED), id="no attempt left"),
        pytest.param(
            {"attempts": 3, "error": "invalid_completion"},
            Bury("invalid_completion"),
            id="no attempt left after a failure",
        ),
    ],
)
def test_claim_is_decided_by_the_state_of_the_segment(facts, expected):
    assert decide_claim(replace(WAITING, **facts), NOW, POLICY) == expected


@pytest.mark.parametrize("kind", ["content", "bug"])
def test_failure_of_the_session_itself_counts_and_the_last_one_sets_it_aside(kind):
    second = decide_failure(2, kind, "code", now=NOW, policy=POLICY)

    assert second == Postpone(2, NOW + timedelta(seconds=60))
    assert decide_failure(3, kind, "code", now=NOW, policy=POLICY) == Bury("code")


@pytest.mark.parametrize("kind", ["outage", "config", "local"])
def test_failure_of_the_world_around_uses_up_no_attempt(kind):
    decision = decide_failure(3, kind, "code", now=NOW, policy=POLICY)

    assert isinstance(decision, Postpone)
    assert decision.attempts == 2
    assert decision.next_at > NOW


@pytest.mark.parametrize(
    ("waited", "resumes_in", "wait"),
    [
        pytest.param(timedelta(minutes=1), None, timedelta(seconds=30), id="a first trouble"),
        pytest.param(timedelta(hours=2), None, timedelta(minutes=15), id="it alone gets no answer"),
        pytest.param(timedelta(days=9), None, LONGEST_DELAY, id="never longer than that"),
        pytest.param(
            timedelta(days=9), 60, timedelta(seconds=90), id="the provider answers nobody"
        ),
    ],
)
def test_session_whose_calls_alone_get_no_answer_is_tried_less_and_less(waited, resumes_in, wait):
    resumes_at = None if resumes_in is None else NOW + timedelta(seconds=resumes_in)

    decision = decide_failure(
        1, "outage", "x", now=NOW, policy=POLICY, resumes_at=resumes_at, waited=waited
    )

    assert decision == Postpone(0, NOW + wait)


def test_time_that_a_session_waits_begins_when_it_is_over_and_wanted():
    late = replace(WAITING, requested_at=MOMENT, ended_at=MOMENT + timedelta(hours=1))

    assert waited(late, MOMENT + timedelta(hours=3)) == timedelta(hours=2)
    assert waited(late, MOMENT) == timedelta(0)


def test_wait_between_attempts_is_bounded_however_many_there_were():
    patient = ClaimPolicy(POLICY.timeout, max_attempts=10_000)

    assert decide_failure(5000, "bug", "x", now=NOW, policy=patient).next_at == NOW + LONGEST_DELAY


def test_lost_worker_leaves_its_attempt_counted():
    lost = replace(WAITING, token="t", started_at=MOMENT, attempts=2)

    assert decide_stale(lost, POLICY) == Postpone(2, None)
    assert decide_stale(replace(lost, attempts=3), POLICY) == Bury(ATTEMPTS_EXHAUSTED)


@pytest.mark.parametrize(
    ("facts", "standing"),
    [
        ({}, "due"),
        ({"ended_at": None}, "open"),
        ({"next_at": NOW + SECOND}, "later"),
        ({"next_at": NOW}, "due"),
        ({"next_at": NOW + LONGEST_WAIT + SECOND}, "due"),
        ({"token": "t", "started_at": NOW - POLICY.timeout}, "worked_on"),
        ({"token": "t", "started_at": NOW - POLICY.timeout - SECOND}, "lost"),
        ({"failed_at": MOMENT}, "set_aside"),
    ],
)
def test_operator_is_told_where_a_segment_stands(facts, standing):
    assert standing_of(replace(WAITING, **facts), NOW, POLICY) == standing
