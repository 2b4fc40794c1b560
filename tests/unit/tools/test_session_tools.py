"""The shapes that SDKs take and give; the SDKs' own types are read as they come."""

from __future__ import annotations

import asyncio
import json

import pytest
from anthropic.types import Message, ToolParam
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessage
from pydantic import TypeAdapter

from retold import InvalidInput, Scope, SessionTools, Tool, ToolResult
from retold.testing import MemoryLab
from retold.text.frames import MEMORY_TOOL_NAMES

USAGE = {"input_tokens": 1, "output_tokens": 1}


@pytest.fixture
def lab():
    with MemoryLab.open() as lab:
        yield lab


@pytest.fixture
def tools(lab) -> SessionTools:
    session = lab.session("ana")
    session.turn("user", "I live in Porto now.")
    return session.tools()


def anthropic_message(*calls: tuple[str, object]) -> Message:
    blocks = [
        {"type": "tool_use", "id": f"toolu_{place}", "name": name, "input": given}
        for place, (name, given) in enumerate(calls)
    ]
    return Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": USAGE,
            "content": [{"type": "text", "text": "Let me see."}, *blocks],
        }
    )


def openai_message(*calls: tuple[str, str]) -> ChatCompletionMessage:
    return ChatCompletionMessage.model_validate(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{place}",
                    "type": "function",
                    "function": {"name": name, "arguments": given},
                }
                for place, (name, given) in enumerate(calls)
            ],
        }
    )


def test_tools_are_a_mapping_of_five_names(tools):
    assert tuple(tools) == MEMORY_TOOL_NAMES
    assert len(tools) == 5
    assert all(isinstance(tool, Tool) and tool.name == name for name, tool in tools.items())
    with pytest.raises(KeyError):
        tools["memory_erase"]


def test_tool_can_be_called_by_keywords_by_object_and_by_text(tools):
    tool = tools["memory_search"]

    answers = (
        tool(queries=["home"]),
        tool.callable({"queries": ["home"]}),
        tool.callable('{"queries": ["home"]}'),
    )

    assert {answer.is_error for answer in answers} == {False}


def test_anthropic_shape_is_what_the_sdk_declares(tools):
    shown = tools.anthropic()

    TypeAdapter(list[ToolParam]).validate_python(shown)
    assert [one["name"] for one in shown] == list(MEMORY_TOOL_NAMES)
    assert json.loads(json.dumps(shown)) == shown


def test_openai_shape_is_what_the_sdk_declares(tools):
    shown = tools.openai()

    TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(shown)
    assert [one["function"]["name"] for one in shown] == list(MEMORY_TOOL_NAMES)
    assert json.loads(json.dumps(shown)) == shown


def test_every_call_of_an_anthropic_message_is_answered_in_order(tools):
    message = anthropic_message(
        ("memory_search", {"queries": ["home"]}),
        ("memory_get", {"ids": ["nothing"]}),
        ("memory_invented", {}),
    )

    blocks = tools.answer_anthropic(message)

    assert [block["tool_use_id"] for block in blocks] == ["toolu_0", "toolu_1", "toolu_2"]
    assert [block.get("is_error", False) for block in blocks] == [False, True, True]
    assert {block["type"] for block in blocks} == {"tool_result"}
    assert tools.answer_anthropic(message.model_dump())[1]["tool_use_id"] == "toolu_1"


def test_every_call_of_an_openai_message_is_answered_in_order(tools):
    message = openai_message(
        ("memory_search", '{"queries": ["home"]}'), ("memory_get", '{"ids": ['), ("other", "{}")
    )

    answers = tools.answer_openai(message)

    assert [answer["tool_call_id"] for answer in answers] == ["call_0", "call_1", "call_2"]
    assert {answer["role"] for answer in answers} == {"tool"}
    assert "not valid JSON" in answers[1]["content"]
    assert "no such tool" in answers[2]["content"]
    assert len(tools.answer_openai(message.model_dump())) == 3


def test_tools_of_the_application_are_left_to_it(tools):
    calls = (("weather", {}), ("memory_search", {"queries": ["home"]}))
    as_text = [(name, json.dumps(given)) for name, given in calls]

    (block,) = tools.answer_anthropic(anthropic_message(*calls), others=("weather",))
    (answer,) = tools.answer_openai(openai_message(*as_text), others=("weather",))

    assert block["tool_use_id"] == "toolu_1"
    assert answer["tool_call_id"] == "call_1"


@pytest.mark.parametrize("message", [{"content": None}, {"content": "Done."}])
def test_message_without_calls_needs_no_answer(tools, message):
    assert tools.answer_anthropic(message) == []
    assert tools.answer_openai(message) == []


@pytest.mark.parametrize("message", [None, {}, "Done."])
def test_what_is_no_message_is_refused(tools, message):
    """It asks for nothing, and nothing of it would be told from a model that is done."""
    for answer in (tools.answer_anthropic, tools.answer_openai):
        with pytest.raises(InvalidInput, match="no message of an assistant"):
            answer(message)


def test_every_call_has_an_asynchronous_form(tools):
    async def all_of_them() -> list[object]:
        return [
            await tools.acall("memory_search", {"queries": ["home"]}),
            await tools.aanswer_anthropic(anthropic_message(("memory_get", {"ids": ["x"]}))),
            await tools.aanswer_openai(openai_message(("memory_get", '{"ids": ["x"]}'))),
        ]

    answer, blocks, messages = asyncio.run(all_of_them())

    assert isinstance(answer, ToolResult)
    assert blocks[0]["is_error"]
    assert messages[0]["role"] == "tool"


def test_what_is_on_offer_follows_the_grants_of_the_moment(lab):
    """Filter once, when the tools are made, and the revoked target stays on offer."""
    session = lab.session("ana", project_id="apollo")
    tools = session.tools()

    def targets() -> list[str]:
        return tools["memory_write"].schema["properties"]["write_target"]["enum"]

    before = targets()
    lab.retold.host.grant("helper", "project:apollo", read=True, write=True)
    during = targets()
    lab.retold.host.revoke("helper", "project:apollo")

    assert (before, during, targets()) == (
        ["personal"],
        ["personal", "current_project"],
        ["personal"],
    )


def test_without_a_writable_target_there_is_no_memory_write(lab):
    tools = lab.session("ana").tools(write_targets={"personal": Scope("user", "ana")})

    assert "memory_write" not in tools
    assert [one["name"] for one in tools.anthropic()] == [
        name for name in MEMORY_TOOL_NAMES if name != "memory_write"
    ]
    lab.retold.host.grant("helper", "user:ana", read=True, write=True)
    assert "memory_write" in tools


@pytest.mark.parametrize("mode", ["tool_only", "auto", "hybrid"])
def test_search_is_offered_unless_the_host_searches_alone(mode):
    """LLD 14.1; the policy text of that mode names no search either."""
    with MemoryLab.open(settings={"retrieval": {"trigger": {"mode": mode}}}) as lab:
        session = lab.session("ana")
        tools = session.tools()
        answer = tools.call("memory_search", {"queries": ["home"]})

        searches = mode != "auto"
        assert ("memory_search" in tools) == searches
        assert [one["name"] for one in tools.anthropic()] == list(tools)
        assert answer.is_error != searches
        assert answer.code == (None if searches else "unknown_tool")
        assert ("memory_search" in session.policy_text()) == searches


def test_write_target_that_is_no_scope_is_refused_at_once(lab):
    with pytest.raises(InvalidInput, match="Scope"):
        lab.session("ana").tools(write_targets={"personal": "user:ana"})


def test_schema_default_of_k_is_the_configured_one(tmp_path):
    with MemoryLab.open(settings={"retrieval": {"default_k": 3}}) as lab:
        tools = lab.session("ana").tools()

        assert tools["memory_search"].schema["properties"]["k"]["default"] == 3


def test_reprs_hold_no_content(tools):
    answer = tools.call("memory_get", {"ids": ["secret"]})

    assert "secret" not in repr(answer) + repr(tools) + repr(tools["memory_get"])
