from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.policy.circuit import (
    FIRST_REST,
    LONGEST_ASKED_FOR,
    LONGEST_REST,
    OPENS_AFTER,
    PROBE,
    Refuse,
    admit,
    after_answer,
    after_no_call,
    after_outage,
)
from retold.store.providers import Circuit

NOW = datetime(2026, 1, 15, 9, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
SECOND = timedelta(seconds=1)


def outages(count, circuit=None, now=NOW):
    circuit = circuit or Circuit()
    for _ in range(count):
        circuit = after_outage(circuit, now)
    return circuit


def test_a_few_outages_leave_every_call_through():
    circuit = outages(OPENS_AFTER - 1)

    assert admit(circuit, NOW) == circuit
    assert circuit.state == "closed"


def test_after_some_in_a_row_the_provider_is_left_alone():
    circuit = outages(OPENS_AFTER)

    assert circuit == Circuit("open", OPENS_AFTER, NOW + FIRST_REST)
    assert admit(circuit, NOW) == Refuse(NOW + FIRST_REST)


def test_after_the_rest_one_call_goes_through_to_see():
    at = NOW + FIRST_REST
    seen = admit(outages(OPENS_AFTER), at)

    assert seen == Circuit("half_open", OPENS_AFTER, at + PROBE)
    assert admit(seen, at) == Refuse(at + FIRST_REST)
    assert admit(seen, at + PROBE) == Circuit("half_open", OPENS_AFTER, at + 2 * PROBE)


def test_rest_of_a_clock_that_was_set_back_is_over():
    rest = Circuit("open", OPENS_AFTER, NOW + LONGEST_ASKED_FOR)

    assert admit(rest, NOW) == Refuse(NOW + LONGEST_ASKED_FOR)
    assert admit(rest, NOW - SECOND) == Circuit("half_open", OPENS_AFTER, NOW - SECOND + PROBE)


def test_an_answer_lets_every_call_through():
    assert after_answer(Circuit("half_open", 7, LATER)) == Circuit()
    assert admit(Circuit(), NOW) == Circuit()


def test_rests_double_up_to_the_longest():
    circuit, at, rests = outages(OPENS_AFTER), NOW, []
    for _ in range(8):
        rests.append(circuit.open_until - at)
        at = circuit.open_until
        circuit = after_outage(admit(circuit, at), at)

    assert rests[:4] == [FIRST_REST * factor for factor in (1, 2, 4, 8)]
    assert rests[4:] == [LONGEST_REST] * 4


@pytest.mark.parametrize(
    ("asked", "rest"),
    [
        (1, FIRST_REST),
        (200.5, timedelta(seconds=200.5)),
        (10**9, LONGEST_ASKED_FOR),
    ],
)
def test_provider_is_left_alone_as_long_as_it_asks_for(asked, rest):
    circuit = after_outage(outages(OPENS_AFTER - 1), NOW, retry_after_seconds=asked)

    assert circuit.open_until == NOW + rest


def test_call_that_fails_late_does_not_shorten_the_rest_that_another_was_told():
    told = after_outage(outages(OPENS_AFTER - 1), NOW, retry_after_seconds=3000)

    assert after_outage(told, LATER).open_until == NOW + timedelta(seconds=3000)


def test_call_that_was_not_made_lets_the_next_one_see():
    circuit = after_no_call(Circuit("half_open", 4, LATER), NOW)

    assert admit(circuit, NOW).state == "half_open"
    assert after_no_call(Circuit("closed", 2), NOW) == Circuit("closed", 2)


moves = st.sampled_from(["outage", "answer", "no call", "wait", "admit"])


@given(st.lists(moves, max_size=40))
def test_a_provider_is_never_left_alone_for_ever(done):
    """Whatever happens, some call goes through within the longest of all rests."""
    circuit, at = Circuit(), NOW
    for move in done:
        if move == "outage":
            circuit = after_outage(circuit, at)
        elif move == "answer":
            circuit = after_answer(circuit)
        elif move == "no call":
            circuit = after_no_call(circuit, at)
        elif move == "wait":
            at += timedelta(seconds=20)
        elif not isinstance(admitted := admit(circuit, at), Refuse):
            circuit = admitted

    assert not isinstance(admit(circuit, at + max(LONGEST_REST, PROBE)), Refuse)
    refused = admit(circuit, at)
    assert not isinstance(refused, Refuse) or refused.until > at
