"""A model that lies, or that was told to, gets nothing believed that nobody said."""

from __future__ import annotations

import pytest

from retold.ingest.lexical_judge import LexicalJudge
from tests.scenarios.support import RULES

CLAIM = "The user is allergic to peanuts"


@pytest.fixture
def session(make_world):
    """A conversation with an unconfirmed guess, judged by the rules that ship offline."""
    return make_world(RULES, judge=LexicalJudge()).session()


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
