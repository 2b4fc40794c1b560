"""What a quote is worth, on the write path; extraction repeats these rows with its own suite."""

from __future__ import annotations

from datetime import timedelta

import pytest

QUOTE = "I have been a beekeeper for twenty years now."
CLAIM = "Ana keeps bees"


@pytest.fixture
def session(world):
    return world.session()


def test_quote_that_is_in_no_turn_makes_the_claim_an_inference(world, session):
    session.turn("user", QUOTE)

    result = world.write(session, CLAIM, attribute="hobby", evidence="I keep bees and goats too.")

    record = world.record(result)
    assert (record.source_kind, record.status) == ("agent_inference", "provisional")
    assert record.source_ref is None
    assert "evidence not found in session" in result.note


def test_quote_of_another_conversation_is_not_found(world, session):
    world.session("bob").turn("user", QUOTE)
    world.session().turn("user", QUOTE)

    result = world.write(session, CLAIM, attribute="hobby", evidence=QUOTE)

    assert world.record(result).source_kind == "agent_inference"


def test_claim_without_evidence_becomes_an_expiring_inference_without_a_source(world, session):
    result = world.write(session, CLAIM, attribute="hobby")

    record = world.record(result)
    days = world.config.ingestion.provisional_ttl_days
    assert (record.source_kind, record.status) == ("agent_inference", "provisional")
    assert (record.source_ref, record.evidence) == (None, None)
    assert record.expires_at == world.clock() + timedelta(days=days)
    assert result.note == "evidence not provided"


def test_assistant_turn_does_not_carry_a_user_statement(world, session):
    session.turn("assistant", QUOTE)

    result = world.write(session, CLAIM, attribute="hobby", evidence=QUOTE)

    assert world.record(result).source_kind == "agent_inference"
    assert result.note == "downgraded from user_statement: quote is from an assistant turn"


def test_claim_lowered_by_its_turn_is_not_scored_again(world, session):
    session.turn("assistant", QUOTE)

    world.write(session, CLAIM, attribute="hobby", evidence=QUOTE)

    assert world.judge.supported == []


@pytest.mark.parametrize(
    ("claimed", "stored", "note"),
    [
        ("tool_result", "tool_result", None),
        (
            "user_statement",
            "tool_result",
            "downgraded from user_statement: quote is from a tool turn",
        ),
    ],
)
def test_tool_turn_carries_a_tool_result_and_no_user_statement(
    world, session, claimed, stored, note
):
    session.turn("tool", QUOTE, tool_name="survey")

    result = world.write(session, CLAIM, attribute="hobby", evidence=QUOTE, source_kind=claimed)

    assert (world.record(result).source_kind, result.note) == (stored, note)


@pytest.mark.parametrize(
    ("role", "claimed"),
    [("user", "tool_result"), ("user", "agent_inference"), ("tool", "agent_inference")],
)
def test_caller_may_claim_less_than_the_turn_would_carry(world, session, role, claimed):
    turn = session.turn(role, QUOTE)

    result = world.write(session, CLAIM, attribute="hobby", evidence=QUOTE, source_kind=claimed)

    record = world.record(result)
    assert record.source_kind == claimed
    assert record.source_ref == f"session:{turn.session_id}#{turn.turn}"


def test_source_reference_names_the_turn_that_holds_the_quote(world, session):
    session.turn("user", "Hello there, how are you today?")
    said = session.turn("user", f"Well. {QUOTE} It calms me down.")
    session.turn("user", "Thank you very much for listening.")
    world.clock.advance(minutes=5)

    result = world.write(session, CLAIM, attribute="hobby", evidence=QUOTE)

    record = world.record(result)
    assert record.source_ref == f"session:{said.session_id}#{said.turn}"
    assert record.evidence == QUOTE
    assert record.event_at == said.at


def test_wrong_turn_hint_falls_back_to_the_turn_that_holds_the_quote(world, session):
    session.turn("user", "Hello there, how are you today?")
    said = session.turn("user", QUOTE)

    result = world.write(session, CLAIM, attribute="hobby", evidence=QUOTE, evidence_turn=1)

    assert world.record(result).source_ref == f"session:{said.session_id}#{said.turn}"


def test_quote_is_found_in_an_earlier_segment_of_the_conversation(world):
    first = world.session(session_id="chat")
    said = first.turn("user", QUOTE)
    first.finish()
    again = world.session(session_id="chat")

    result = world.write(again, CLAIM, attribute="hobby", evidence=QUOTE)

    assert world.record(result).source_ref == f"session:{said.session_id}#{said.turn}"
