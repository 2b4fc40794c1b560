"""What the memory says is known again wherever it turns up."""

from __future__ import annotations

import json

import pytest

from retold.ingest.origin import origin_of
from retold.text.frames import MEMORY_TOOL_NAMES, holds_memory_output

BLOCK = "--- recalled memory 0123456789ab ---\n> tea\n--- end of recalled memory 0123456789ab ---"


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        f"Here is what I know:\n{BLOCK}\nShall we?",
        BLOCK.replace("\n", "\r\n"),
        "  --- recalled memory 0123456789ab ---",
        "memory_write result 0123456789ab: stored mem_00000001",
        "memory_get error 0123456789ab: not_found: no record",
        "> --- recalled memory 0123456789ab ---",
        "Known:\n[mem_00000001] semantic · confirmed · user_statement",
        "I did it:\nmemory_forget result 0123456789ab: mem_00000001 is forgotten now",
        f"- {BLOCK}",
        json.dumps({"text": BLOCK}),
        json.dumps({"result": json.dumps({"text": BLOCK})}),
        json.dumps({"out": "[mem_00000001] semantic · confirmed · user_statement"}),
        str({"search_id": "x", "results": [], "empty_reason": None}),
        json.dumps({"records": [{"content": "tea", "evidence_supported": True}]}, indent=2),
        json.dumps({"body": json.dumps({"record_id": "x", "activation_reason": "y"})}),
    ],
)
def test_output_of_memory_is_known(text):
    assert holds_memory_output(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I recalled memory yesterday ---",
        "--- recalled memory ---",
        "the memory_write result was good",
        "memory_write result: fine",
        "> --- quoted ---",
        json.dumps({"record_id": "x", "results": ["tea"]}),
        "the evidence_supported flag: what is it?",
    ],
)
def test_other_text_is_not(text):
    assert not holds_memory_output(text)


@pytest.mark.parametrize(
    "filling", ["\n", " ", "> ", "--- ", "memory_", "[mem_0", "a", "\\", '"empty_reason']
)
def test_long_text_is_looked_through_once(filling):
    """Let the pattern's start run across lines and a million of them take hours."""
    assert not holds_memory_output(filling * 1_000_000)
    assert holds_memory_output(filling * 1_000_000 + "\n" + BLOCK)


@pytest.mark.parametrize("name", [*MEMORY_TOOL_NAMES, "mcp__retold__memory_search"])
def test_result_of_a_memory_tool_is_known_by_the_tool(name):
    assert origin_of("tool", name, "anything") == "memory_tool"


@pytest.mark.parametrize(
    ("role", "expected"), [("tool", "memory_tool"), ("user", "recall"), ("assistant", "recall")]
)
def test_result_of_a_memory_tool_is_known_by_its_frame(role, expected):
    assert origin_of(role, None, BLOCK) == expected


@pytest.mark.parametrize(
    ("role", "tool_name", "expected"),
    [
        ("user", None, "dialogue"),
        ("assistant", None, "dialogue"),
        ("tool", None, "tool"),
        ("tool", "weather", "tool"),
    ],
)
def test_everything_else_keeps_its_origin(role, tool_name, expected):
    assert origin_of(role, tool_name, "It rains in Porto.") == expected
