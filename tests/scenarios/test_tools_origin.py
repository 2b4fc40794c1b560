"""What came out of memory never confirms memory, however it comes back as a turn (B02)."""

from __future__ import annotations

import json

import pytest

from tests.scenarios.support import PRIVATE_ANA

FACT = "The user likes green tea"


@pytest.fixture
def recalled(world):
    """A guess from an earlier conversation, and the answer that recalls it in this one."""
    earlier = world.session()
    answer = earlier.tools().call(
        "memory_write",
        {
            "type": "semantic",
            "content": FACT,
            "attribute": "drink",
            "source_kind": "agent_inference",
        },
    )
    session = world.session()
    session.turn("user", "What should I order?")
    found = session.tools().call("memory_search", {"queries": [FACT]})
    assert FACT in found.text
    return session, answer.data["record_id"], found.text


def as_tool_turn(session, text):
    session.turn("tool", text, tool_name="memory_search")


def as_unnamed_tool_turn(session, text):
    session.turn("tool", text)


def as_openai_messages(session, text):
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "memory_search", "arguments": "{}"},
    }
    session.add_messages(
        [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": text},
        ]
    )


def as_anthropic_messages(session, text):
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    session.add_messages(
        [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "input": {}}]},
            {"role": "user", "content": [result, {"type": "text", "text": text}]},
        ]
    )


def as_note_of_the_host(session, text):
    session.turn("user", f"recalled memory (added by the host, not the user)\n{text}")


def as_words_of_the_assistant(session, text):
    session.turn("assistant", f"Here is what I know:\n{text}\nShall I order some?")


def as_json_of_an_unnamed_tool(session, text):
    session.add_messages(
        [{"role": "tool", "tool_call_id": "c1", "content": json.dumps({"output": text})}]
    )


def as_data_of_an_unnamed_tool(session, text):
    data = session.tools().call("memory_search", {"queries": [FACT]}).data
    session.add_messages([{"role": "tool", "tool_call_id": "c1", "content": json.dumps(data)}])


WAYS = [
    as_tool_turn,
    as_unnamed_tool_turn,
    as_openai_messages,
    as_anthropic_messages,
    as_note_of_the_host,
    as_words_of_the_assistant,
    as_json_of_an_unnamed_tool,
    as_data_of_an_unnamed_tool,
]


@pytest.mark.parametrize("record", WAYS, ids=lambda way: way.__name__)
def test_recalled_block_is_no_evidence(world, recalled, record):
    """Drop the frame from ``origin_of`` and the block counts as what a tool or the user said."""
    session, record_id, text = recalled
    before = world.record(record_id)
    tools = session.tools()

    for _ in range(5):
        record(session, text)
    claims = [
        tools.call(
            "memory_write",
            {
                "type": "semantic",
                "content": FACT,
                "attribute": "drink",
                "source_kind": kind,
                "evidence": FACT,
            },
        )
        for kind in ("user_statement", "tool_result", "agent_inference")
    ]
    confirmed = tools.call(
        "memory_revise",
        {"id": record_id, "action": "confirm", "reason": "r", "evidence": FACT},
    )

    assert {claim.data["record_id"] for claim in claims} == {record_id}
    assert {"evidence not found in session" in claim.data["note"] for claim in claims} == {True}
    assert confirmed.is_error
    after = world.record(record_id)
    assert (after.status, after.reinforcements) == ("provisional", before.reinforcements)
    assert [one.scope for one in (before, after)] == [PRIVATE_ANA] * 2


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_get", {"ids": ["nothing"]}),
        ("memory_write", {"type": "episodic", "content": "Ordered green tea for lunch"}),
        ("memory_revise", {"id": "nothing", "action": "expire", "reason": "r"}),
        ("memory_forget", {"id": "nothing", "reason": "r"}),
        ("memory_invented", {}),
    ],
)
def test_answer_of_every_tool_is_marked_when_it_is_recorded(world, recalled, name, arguments):
    session, _, _ = recalled
    answer = session.tools().call(name, arguments)

    turn = session.turn("tool", answer.text)

    assert turn.origin == "memory_tool"
    assert not turn.is_evidence


def test_what_the_user_says_afterwards_counts(world, recalled):
    """Only the block is no evidence; the user's own next words confirm the guess."""
    session, record_id, text = recalled
    as_tool_turn(session, text)
    session.turn("assistant", "Do you like green tea?")
    session.turn("user", "Yes, I like green tea a lot.")

    answer = session.tools().call(
        "memory_revise",
        {
            "id": record_id,
            "action": "confirm",
            "reason": "the user says so",
            "evidence": "Yes, I like green tea a lot.",
        },
    )

    assert answer.data["outcome"] == "confirmed"
    assert world.record(record_id).status == "confirmed"


def test_other_tools_stay_evidence(world):
    session = world.session()
    session.turn("tool", json.dumps({"city": "It rains in Porto today"}), tool_name="weather")

    answer = session.tools().call(
        "memory_write",
        {
            "type": "episodic",
            "content": "It rained in Porto",
            "source_kind": "tool_result",
            "evidence": "It rains in Porto today",
        },
    )

    assert answer.data["source_kind"] == "tool_result"
