"""Ranks, first statuses, expiry and reinforcement."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.config import IngestionConfig, PolicyConfig
from retold.models import SOURCE_KINDS
from retold.policy.lifecycle import (
    INITIAL_CONFIDENCE,
    MAX_CONFIDENCE,
    Observation,
    Standing,
    confirmed,
    expiry_of,
    has_authority,
    initial_status,
    reinforced,
)
from retold.testing import make_record
from retold.testing.builders import MOMENT

CFG = IngestionConfig()
POLICY = PolicyConfig()
NOW = MOMENT + timedelta(days=3)


def seen(source_kind="agent_inference", *, verified=True, independent=True):
    return Observation(
        source_kind, "session:s#2", "a quote", verified=verified, independent=independent
    )


def after(record, observation, **options):
    return reinforced(record, observation, NOW, cfg=CFG, policy=POLICY, **options)


def inference(**fields):
    return make_record(
        **{
            "source_kind": "agent_inference",
            "status": "provisional",
            "expires_at": MOMENT + timedelta(days=30),
            "confidence": 0.6,
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("source_kind", "type_", "status"),
    [
        ("user_statement", "semantic", "confirmed"),
        ("system", "procedural", "confirmed"),
        ("tool_result", "semantic", "confirmed"),
        ("tool_result", "procedural", "provisional"),
        ("session_summary", "episodic", "confirmed"),
        ("agent_inference", "semantic", "provisional"),
    ],
)
def test_initial_status_follows_the_source(source_kind, type_, status):
    """B37: instructions found in tool output start provisional."""
    assert initial_status(source_kind, type_) == status


@pytest.mark.parametrize(
    ("source_kind", "status", "days"),
    [
        ("user_statement", "confirmed", None),
        ("agent_inference", "provisional", 30),
        ("tool_result", "provisional", 30),
        ("session_summary", "confirmed", 180),
    ],
)
def test_initial_expiry_follows_the_status(source_kind, status, days):
    expected = None if days is None else NOW + timedelta(days=days)

    assert expiry_of(source_kind, status, NOW, CFG) == expected


@pytest.mark.parametrize(
    ("source_kind", "status", "ends_in", "days"),
    [
        ("user_statement", "confirmed", None, 30),
        ("user_statement", "confirmed", 5, 5),
        ("user_statement", "confirmed", 400, 400),
        ("agent_inference", "provisional", 5, 5),
        ("agent_inference", "provisional", 400, 30),
        ("session_summary", "confirmed", None, 30),
    ],
)
def test_a_temporary_record_expires_at_its_end_or_with_its_status(
    source_kind, status, ends_in, days
):
    end = None if ends_in is None else NOW + timedelta(days=ends_in)

    found = expiry_of(source_kind, status, NOW, CFG, temporary=True, valid_until=end)

    assert found == NOW + timedelta(days=days)


def test_every_source_kind_has_a_confidence():
    assert set(INITIAL_CONFIDENCE) == set(SOURCE_KINDS)


@pytest.mark.parametrize(
    ("new", "old", "wins"),
    [
        (("user_statement", -5), ("tool_result", 0), True),
        (("tool_result", 5), ("user_statement", 0), False),
        (("tool_result", 1), ("tool_result", 0), True),
        (("tool_result", -1), ("tool_result", 0), False),
        (("tool_result", 0), ("session_summary", 0), True),
    ],
    ids=["rank up", "rank down", "later event", "earlier event", "equal, later write"],
)
def test_authority_compares_rank_then_event_then_arrival(new, old, wins):
    def standing(kind, days, created):
        return Standing(kind, MOMENT + timedelta(days=days), created)

    assert has_authority(standing(*new, NOW), standing(*old, MOMENT), POLICY) is wins


def test_an_observation_that_is_not_counted_changes_nothing():
    record = inference()

    assert after(record, seen(verified=False)) is record
    assert after(record, seen(independent=False)) is record


def test_the_first_counted_observation_extends_and_the_second_confirms():
    once = after(inference(), seen())
    twice = after(once, seen())

    assert (once.status, once.reinforcements) == ("provisional", 1)
    assert once.expires_at == NOW + timedelta(days=CFG.provisional_ttl_days)
    assert (twice.status, twice.expires_at) == ("confirmed", None)


def test_an_upgrade_to_a_users_words_promotes_at_once_and_takes_their_provenance():
    record = after(inference(), seen("user_statement"))

    assert (record.status, record.expires_at) == ("confirmed", None)
    assert (record.source_kind, record.source_ref) == ("user_statement", "session:s#2")


def test_an_upgrade_from_the_same_conversation_promotes_without_counting():
    record = after(inference(), seen("user_statement", independent=False))

    assert (record.status, record.reinforcements) == ("confirmed", 0)


def test_a_provisional_conflict_is_not_promoted_by_repetition():
    record = after(after(inference(), seen()), seen(), may_promote=False)

    assert record.status == "provisional"


def test_tool_instructions_are_never_confirmed_by_repetition():
    """B37."""
    record = inference(type="procedural", source_kind="tool_result")

    for _ in range(5):
        record = after(record, seen("tool_result"))

    assert record.status == "provisional"


def test_confirming_a_temporary_record_keeps_its_stated_end():
    end = MOMENT + timedelta(days=2)
    record = inference(temporary=True, valid_until=end)

    assert confirmed(record, NOW, CFG).expires_at == end


def test_confirming_a_temporary_record_without_a_stated_end_still_lets_it_expire():
    record = confirmed(inference(temporary=True), NOW, CFG)

    assert record.expires_at == NOW + timedelta(days=CFG.provisional_ttl_days)


def test_a_repetition_does_not_carry_a_temporary_record_past_its_stated_end():
    end = NOW + timedelta(days=2)

    record = after(inference(temporary=True, valid_until=end), seen())

    assert (record.status, record.expires_at) == ("provisional", end)


@given(st.lists(st.sampled_from(SOURCE_KINDS), max_size=20))
def test_confidence_never_exceeds_its_cap_and_rank_never_falls(kinds):
    record = inference()
    for kind in kinds:
        before = POLICY.source_rank.of(record.source_kind)
        record = after(record, seen(kind))
        assert POLICY.source_rank.of(record.source_kind) >= before

    assert record.confidence <= MAX_CONFIDENCE
