"""A model that lies, or that was told to, gets nothing believed that nobody said."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retold.ingest.lexical_judge import LexicalJudge
from tests.scenarios.support import RULES

CLAIM = "The user is allergic to peanuts"


@pytest.fixture
def world(make_world):
    """Return a world whose judge is the one that ships offline."""
    return make_world(RULES, judge=LexicalJudge())


@pytest.fixture
def session(world):
    return world.session()


def guess(tools) -> str:
    answer = tools.call(
        "memory_write",
        {
            "type": "semantic",
            "content": CLAIM,
            "attribute": "allergy",
            "source_kind": "agent_inference",
        },
    )
    return answer.data["record_id"]


def confirmed_by(session, said: str, answer: str):
    tools = session.tools()
    record_id = guess(tools)
    session.turn("assistant", said)
    session.turn("user", answer)
    return record_id, tools.call(
        "memory_revise",
        {"id": record_id, "action": "confirm", "reason": "they agreed", "evidence": answer},
    )


def test_clear_yes_to_the_assistant_confirms(session):
    record_id, answer = confirmed_by(
        session, "So you are allergic to peanuts.", "Yes, that's right."
    )

    assert not answer.is_error, answer.text
    assert session.get(record_id)[0].status == "confirmed"


@pytest.mark.parametrize(
    "reply",
    ["No.", "No, I am not!", "What's the weather in Oslo?", "Almonds, actually.", "不是。"],
)
def test_denial_or_change_of_subject_confirms_nothing(session, reply):
    """Drop ``is_assent`` and whatever follows the assistant's own words confirms them."""
    record_id, answer = confirmed_by(session, "So you are allergic to peanuts.", reply)

    assert answer.code == "invalid_input"
    assert session.get(record_id)[0].status == "provisional"


def test_yes_to_another_question_confirms_nothing(session):
    """Leave ``asks_anything_else`` out and an assistant slips in whatever it likes before it."""
    said = "You are allergic to peanuts. Shall I book the table by the window?"

    record_id, answer = confirmed_by(session, said, "Yes.")

    assert answer.code == "invalid_input"
    assert session.get(record_id)[0].status == "provisional"


CUT = [
    ("I do not live in Berlin now.", "live in Berlin now", "The user lives in Berlin"),
    ("If I lived in Rome I would be happy.", "I lived in Rome", "The user lived in Rome"),
    (
        "I don't think I like green tea any more.",
        "I like green tea any more",
        "The user likes green tea",
    ),
    ("I used to live in Oslo with my wife.", "live in Oslo with my wife", "The user lives in Oslo"),
    (
        "My sister works at Google in Zurich.",
        "works at Google in Zurich",
        "The user works at Google",
    ),
    ("Do you think I live in Berlin?", "I live in Berlin", "The user lives in Berlin"),
    ("我早上不喜欢喝热的绿茶。", "喜欢喝热的绿茶", "用户喜欢喝热的绿茶"),
]


@pytest.mark.parametrize(("said", "quote", "claim"), CUT)
def test_quote_cut_out_of_words_that_say_otherwise_backs_nothing(session, said, quote, claim):
    """Judge the quote alone and "I do not live in Berlin" makes Berlin the confirmed home."""
    session.turn("user", said)

    answer = session.tools().call(
        "memory_write",
        {"type": "semantic", "content": claim, "attribute": "fact", "evidence": quote},
    )

    assert answer.data["source_kind"] == "agent_inference"
    assert answer.data["status"] == "provisional"


@pytest.mark.parametrize(
    ("said", "quote", "claim"),
    [
        (
            "I'm allergic to nuts, so no satay.",
            "I'm allergic to nuts",
            "The user is allergic to nuts",
        ),
        (
            "I don't live in Berlin, I live in Rome now.",
            "I live in Rome now",
            "The user lives in Rome",
        ),
        ("I think I said that I play the cello.", "I play the cello", "The user plays the cello"),
        ("我不喜欢咖啡，我早上喜欢喝绿茶。", "我早上喜欢喝绿茶", "用户早上喜欢喝绿茶"),
    ],
)
def test_quote_that_says_what_its_clause_says_backs_the_claim(session, said, quote, claim):
    session.turn("user", said)

    answer = session.tools().call(
        "memory_write",
        {"type": "semantic", "content": claim, "attribute": "fact", "evidence": quote},
    )

    assert answer.data["source_kind"] == "user_statement"


def home(session, city: str, evidence: str, **more):
    return session.tools().call(
        "memory_write",
        {
            "type": "semantic",
            "content": f"The user lives in {city}",
            "attribute": "home_city",
            "evidence": evidence,
            **more,
        },
    )


def test_old_words_with_a_new_date_do_not_replace_what_was_said_since(world, session):
    """Take the date a model gives and an old quote beats every later one."""
    session.turn("user", "I live in Porto now.")
    world.clock.advance(days=300)
    session.turn("user", "I live in Lisbon now.")
    home(session, "Lisbon", "I live in Lisbon now.")
    world.clock.advance(days=2)

    lie = home(session, "Porto", "I live in Porto now.", event_at=world.clock().isoformat())
    honest = home(session, "Porto", "I live in Porto now.")

    assert lie.code == "invalid_input"
    assert "leave event_at out" in lie.text
    assert honest.data["status"] == "superseded"
    assert [one.content for one in session.list()] == ["The user lives in Lisbon"]


def test_event_may_be_dated_later_than_the_words_that_announce_it(world, session):
    session.turn("user", "I fly to Oslo next week.")

    answer = session.tools().call(
        "memory_write",
        {
            "type": "episodic",
            "content": "The user flies to Oslo",
            "evidence": "I fly to Oslo next week.",
            "event_at": (world.clock() + timedelta(days=7)).isoformat(),
        },
    )

    assert not answer.is_error, answer.text


def test_turn_that_a_host_dated_ahead_is_evidence_of_now(world, session):
    """Take the turn's own moment and the model is told to leave out a date that it never gave."""
    session.turn("user", "I live in Porto now.", at=world.clock() + timedelta(days=3))

    answer = home(session, "Porto", "I live in Porto now.")

    assert answer.data["status"] == "confirmed"
    assert session.get(answer.data["record_id"])[0].event_at == world.clock()


@pytest.mark.parametrize("kind", ["user_statement", "agent_inference"])
def test_model_does_not_bring_back_what_it_was_asked_to_forget(world, session, kind):
    """B16; let the words back an inference and the next search shows the fact again."""
    session.turn("user", "I live in Porto now.")
    record_id = home(session, "Porto", "I live in Porto now.").data["record_id"]
    session.tools().call("memory_forget", {"id": record_id, "reason": "the user asked"})
    before = world.row_counts()

    again = home(session, "Porto", "I live in Porto now.", source_kind=kind)

    assert again.code == "invalid_input"
    assert "quote a new turn" in again.text
    assert world.row_counts() == before
    session.turn("user", "All right, remember that I live in Porto now.")
    assert not home(session, "Porto", "I live in Porto now.").is_error
