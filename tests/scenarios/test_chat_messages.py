"""What ``add_messages`` keeps of the messages of each provider's clients."""

from __future__ import annotations

import pytest

from retold import InvalidInput
from retold.testing import MemoryLab


@pytest.fixture
def lab():
    """Return a lab with the fakes' answers."""
    with MemoryLab.open() as opened:
        yield opened


def kept(turns):
    return [(turn.role, turn.content, turn.tool_name, turn.origin) for turn in turns]


OPENAI_CHAT = [
    {"role": "user", "content": "What is the weather?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
            {"id": "c2", "type": "function", "function": {"name": "memory_search"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    {"role": "tool", "tool_call_id": "c2", "content": "The user likes the sun."},
    {"role": "assistant", "content": "It is sunny."},
]
ANTHROPIC = [
    {"role": "user", "content": "What is the weather?"},
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "c1", "name": "weather", "input": {}},
            {"type": "tool_use", "id": "c2", "name": "memory_search", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "sunny"},
            {
                "type": "tool_result",
                "tool_use_id": "c2",
                "content": [{"type": "text", "text": "The user likes the sun."}],
            },
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It is sunny."}]},
]
OPENAI_RESPONSES = [
    {"role": "user", "content": "What is the weather?"},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
    {"type": "function_call", "call_id": "c2", "name": "memory_search", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    {"type": "function_call_output", "call_id": "c2", "output": "The user likes the sun."},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It is sunny."}],
    },
]


@pytest.mark.parametrize(
    "messages",
    [OPENAI_CHAT, ANTHROPIC, OPENAI_RESPONSES],
    ids=["openai chat", "anthropic", "openai responses"],
)
def test_chat_with_calls_of_tools_is_the_same_transcript_from_every_client(lab, messages):
    """B02: what a memory tool answered is kept as such, and never as evidence."""
    turns = lab.session().add_messages(messages)

    assert kept(turns) == [
        ("user", "What is the weather?", None, "dialogue"),
        ("tool", "sunny", "weather", "tool"),
        ("tool", "The user likes the sun.", "memory_search", "memory_tool"),
        ("assistant", "It is sunny.", None, "dialogue"),
    ]
    assert [turn.is_evidence for turn in turns] == [True, True, False, True]


def test_results_of_one_message_are_each_recorded_once_beside_its_own_words(lab):
    session = lab.session()
    message = {
        "role": "user",
        "id": "m7",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "sunny"},
            {"type": "tool_result", "tool_use_id": "c2", "content": "warm"},
            {"type": "text", "text": "Thanks!"},
        ],
    }
    turns = session.add_messages([message])

    assert [(turn.role, turn.content, turn.external_key) for turn in turns] == [
        ("tool", "sunny", "m7/c1"),
        ("tool", "warm", "m7/c2"),
        ("user", "Thanks!", "m7"),
    ]
    assert session.add_messages([message]) == turns
    assert lab.row_counts()["session_turns"] == 3


def test_message_may_name_its_tool_itself(lab):
    turns = lab.session().add_messages(
        [{"role": "tool", "tool_name": "weather", "tool_call_id": "c1", "content": "sunny"}]
    )

    assert turns[0].tool_name == "weather"


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "x", "tool_calls": [{"id": ["c1"], "function": 7}]},
        {"role": "tool", "content": "x", "tool_call_id": {"a": 1}},
        {"role": "user", "content": ["x", {"type": "tool_result"}, 7]},
        {"role": "user", "content": "x", "tool_calls": "c1"},
        {"role": "user", "content": "x", "call_id": "c1", "name": None},
    ],
)
def test_odd_shape_of_a_call_costs_no_words(lab, message):
    assert [turn.content for turn in lab.session().add_messages([message])] == ["x"]


def test_results_of_an_instruction_are_nobodys_words(lab):
    message = {
        "role": "system",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sunny"}],
    }

    assert lab.session().add_messages([message]) == ()


def test_result_that_is_no_text_stores_nothing_of_the_whole_list(lab):
    session = lab.session()
    bad = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": 7}]}
    with pytest.raises(InvalidInput):
        session.add_messages([OPENAI_CHAT[0], bad])

    assert lab.row_counts()["session_turns"] == 0


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"role": "user", "text": "I moved to Porto."}, id="another key"),
        pytest.param({"role": "user", "parts": [{"text": "I moved to Porto."}]}, id="parts"),
        pytest.param({"Role": "user", "Content": "I moved to Porto."}, id="capital letters"),
        pytest.param({}, id="nothing"),
        pytest.param(
            {"role": "user", "content": [{"type": "text", "text": {"value": "I moved to Porto."}}]},
            id="text within text",
        ),
    ],
)
def test_words_where_nobody_looks_for_them_are_refused_instead_of_lost(lab, message):
    session = lab.session()
    before = lab.row_counts()

    with pytest.raises(InvalidInput, match=r"content|text"):
        session.add_messages([{"role": "user", "content": "Hello."}, message])

    assert lab.row_counts() == before


def test_nothing_at_all_is_no_list_of_messages(lab):
    with pytest.raises(InvalidInput, match="must be a list"):
        lab.session().add_messages(None)


@pytest.mark.parametrize("key", ["name", "tool_name"])
def test_result_of_a_memory_tool_is_known_by_either_name_of_it(lab, key):
    """Take only ``tool_name`` and what LangChain's messages hold becomes evidence."""
    message = {"role": "tool", "tool_call_id": "c9", key: "memory_search", "content": "Likes tea."}

    (turn,) = lab.session().add_messages([message])

    assert turn.origin == "memory_tool"
