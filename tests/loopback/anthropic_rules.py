"""What Anthropic's Messages endpoint refuses, as far as a loop with tools can meet it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.loopback import schema_rules
from tests.loopback.conversation import Body
from tests.loopback.rules import Rule, Source

REFERENCE = Source("docs", "Anthropic API reference, Create a Message")
TOOL_USE = Source("docs", "Anthropic docs, How to implement tool use: handling tool results")
STRICT = Source("docs", "Anthropic docs, Structured outputs: JSON Schema limitations")
REFUSAL = Source("report", "the endpoint's own words in published 400 answers")
ROOT_UNION = Source(
    "report",
    "claude-code issues 5319, 40075 and 44788: one such tool fails every request of the session",
)
SDK_MESSAGES = Source("sdk", "anthropic/types/message_create_params.py: messages, max_tokens")
SDK_TOOL = Source("sdk", "anthropic/types/tool_param.py: InputSchemaTyped.type, name")

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
USE_ID = re.compile(r"[a-zA-Z0-9_-]+")
REQUEST_KEYS = frozenset(
    "cache_control container context_management inference_geo max_tokens mcp_servers messages "
    "metadata model output_config service_tier stop_sequences stream system temperature thinking "
    "tool_choice tools top_k top_p".split()
)
TOOL_KEYS = frozenset(
    "name description input_schema type cache_control strict allowed_callers defer_loading "
    "eager_input_streaming input_examples".split()
)
BLOCK_KEYS = {
    "text": {"type", "text", "cache_control", "citations"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
}


def tools_of(body: Body) -> list[dict[str, Any]]:
    """Return the offered tools."""
    return list(body.get("tools") or ())


def blocks_of(message: Any) -> list[dict[str, Any]]:
    """Return the content of a message as blocks; a string is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def ids(message: Any, kind: str, key: str) -> list[str]:
    """Return the ids of one kind of block, in order."""
    return [block[key] for block in blocks_of(message) if block["type"] == kind]


def required_fields(body: Body) -> Iterator[str]:
    for name, kind in (("model", str), ("max_tokens", int), ("messages", list)):
        if name not in body:
            yield f"{name}: Field required"
        elif not isinstance(body[name], kind) or not body[name]:
            yield f"{name}: Input should be a valid {kind.__name__}, and not empty"
    for number, message in enumerate(body["messages"]):
        if not isinstance(message, dict):
            yield f"messages.{number}: Input should be a valid dictionary"


def known_fields(body: Body) -> Iterator[str]:
    for name in sorted(set(body) - REQUEST_KEYS):
        yield f"{name}: Extra inputs are not permitted"
    for number, tool in enumerate(tools_of(body)):
        for name in sorted(set(tool) - TOOL_KEYS):
            yield f"tools.{number}.custom.{name}: Extra inputs are not permitted"
    for number, message in enumerate(body["messages"]):
        for name in sorted(set(message) - {"role", "content"}):
            yield f"messages.{number}.{name}: Extra inputs are not permitted"


def message_roles(body: Body) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        if message.get("role") not in ("user", "assistant"):
            yield f'messages.{number}: Unexpected role "{message.get("role")}"'
    if body["messages"][0]["role"] != "user":
        yield 'messages: first message must use the "user" role'


def message_content(body: Body) -> Iterator[str]:
    last = len(body["messages"]) - 1
    for number, message in enumerate(body["messages"]):
        content = message.get("content")
        if not isinstance(content, str | list):
            yield f"messages.{number}.content: Input should be a valid string or list"
        elif not content and not (number == last and message["role"] == "assistant"):
            yield "messages: all messages must have non-empty content"


def content_blocks(body: Body) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        for place, block in enumerate(blocks_of(message)):
            at = f"messages.{number}.content.{place}"
            if block.get("type") not in BLOCK_KEYS:
                yield f"{at}: Input tag '{block.get('type')}' is not one of the expected tags"
                continue
            for name in sorted(set(block) - BLOCK_KEYS[block["type"]]):
                yield f"{at}.{block['type']}.{name}: Extra inputs are not permitted"
            if block["type"] == "text" and not str(block.get("text", "")).strip():
                yield f"{at}: text content blocks must contain non-whitespace text"
            if block["type"] == "tool_use" and not isinstance(block.get("input"), dict):
                yield f"{at}.tool_use.input: Input should be a valid dictionary"
            if block["type"] == "tool_result":
                yield from _result_content(at, block)


def _result_content(at: str, block: dict[str, Any]) -> Iterator[str]:
    content = block.get("content", "")
    if not isinstance(content, str | list):
        yield f"{at}.tool_result.content: Input should be a valid string or list"
    for part in content if isinstance(content, list) else ():
        if part.get("type") == "text" and not part.get("text"):
            yield f"{at}.tool_result.content: text content blocks must be non-empty"
    if not isinstance(block.get("is_error", False), bool):
        yield f"{at}.tool_result.is_error: Input should be a valid boolean"


def block_owners(body: Body) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        owner = {"tool_use": "assistant", "tool_result": "user", "thinking": "assistant"}
        for block in blocks_of(message):
            if owner.get(block["type"], message["role"]) != message["role"]:
                yield (
                    f"messages.{number}: `{block['type']}` blocks can only be in "
                    f"`{owner[block['type']]}` messages"
                )


def use_ids(body: Body) -> Iterator[str]:
    seen = Counter(one for message in body["messages"] for one in ids(message, "tool_use", "id"))
    for one, times in seen.items():
        if not USE_ID.fullmatch(one):
            yield f"tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$', not {one!r}"
        if times > 1:
            yield "`tool_use` ids must be unique"


def answered_calls(body: Body) -> Iterator[str]:
    messages = [*body["messages"], {"role": "user", "content": []}]
    for number, message in enumerate(body["messages"]):
        following = ids(messages[number + 1], "tool_result", "tool_use_id")
        open_ids = [one for one in ids(message, "tool_use", "id") if one not in following]
        if open_ids:
            yield (
                f"messages.{number}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(open_ids)}"
            )


def called_answers(body: Body) -> Iterator[str]:
    before: Any = {"role": "assistant", "content": []}
    for number, message in enumerate(body["messages"]):
        asked = ids(before, "tool_use", "id")
        results = ids(message, "tool_result", "tool_use_id")
        for one in results:
            if one not in asked:
                yield (
                    f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{one}. Each must have a `tool_use` block in the previous message"
                )
        if len(set(results)) < len(results):
            yield f"messages.{number}: each tool_use must have a single result"
        before = message


def results_first(body: Body) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        kinds = [block["type"] == "tool_result" for block in blocks_of(message)]
        if kinds != sorted(kinds, reverse=True):
            yield f"messages.{number}: tool_result blocks must come first in the content"


def final_whitespace(body: Body) -> Iterator[str]:
    final = body["messages"][-1]
    texts = [block["text"] for block in blocks_of(final) if block["type"] == "text"]
    if final["role"] == "assistant" and texts and texts[-1] != texts[-1].rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"


def tool_names(body: Body) -> Iterator[str]:
    names = [str(tool.get("name", "")) for tool in tools_of(body)]
    for number, name in enumerate(names):
        if not NAME.fullmatch(name):
            yield (
                f"tools.{number}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            )
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."


def root_type(body: Body) -> Iterator[str]:
    for number, tool in enumerate(tools_of(body)):
        schema = tool.get("input_schema")
        if not isinstance(schema, dict):
            yield f"tools.{number}.custom.input_schema: Field required"
        elif schema.get("type") != "object":
            yield f"tools.{number}.custom.input_schema.type: Input should be 'object'"


def root_union(body: Body) -> Iterator[str]:
    for number, tool in enumerate(tools_of(body)):
        if {"oneOf", "anyOf", "allOf"} & set(tool["input_schema"]):
            yield (
                f"tools.{number}.custom.input_schema: input_schema does not support oneOf, "
                "allOf, or anyOf at the top level"
            )


def valid_schema(body: Body) -> Iterator[str]:
    for number, tool in enumerate(tools_of(body)):
        for problem in schema_rules.malformed(tool["input_schema"]):
            yield (
                f"tools.{number}.custom.input_schema: JSON schema is invalid. It must match JSON "
                f"Schema draft 2020-12. {problem}"
            )


def property_keys(body: Body) -> Iterator[str]:
    for number, tool in enumerate(tools_of(body)):
        for _, node in schema_rules.nodes(tool["input_schema"]):
            for key in node.get("properties", {}):
                if not KEY.fullmatch(key):
                    yield (
                        f"tools.{number}.custom.input_schema.properties: Property keys should "
                        f"match pattern '^[a-zA-Z0-9_.-]{{1,64}}$', not {key!r}"
                    )


def typed_enums(body: Body) -> Iterator[str]:
    for number, tool in enumerate(tools_of(body)):
        for problem in schema_rules.untyped_enums(tool["input_schema"]):
            yield f"tools.{number}.custom.input_schema: {problem}"


def strict_tools(body: Body) -> Iterator[str]:
    strict = [tool for tool in tools_of(body) if tool.get("strict")]
    for tool in strict:
        for problem in schema_rules.anthropic_strict(tool["input_schema"]):
            yield f"tools.{tool['name']}: {problem}"
    optional = sum(schema_rules.optional_parameters(tool["input_schema"]) for tool in strict)
    if len(strict) > 20 or optional > 24:
        yield f"{len(strict)} strict tools with {optional} optional parameters; 20 and 24 are most"


def choice_of_tool(body: Body) -> Iterator[str]:
    choice = body.get("tool_choice")
    names = [tool["name"] for tool in tools_of(body)]
    if choice and not names:
        yield "tool_choice: may only be specified while providing tools"
    elif choice and choice.get("type") == "tool" and choice.get("name") not in names:
        yield f"tool_choice.name: Tool '{choice.get('name')}' not found in provided tools"


def answer_schema(body: Body) -> Iterator[str]:
    wanted = (body.get("output_config") or {}).get("format")
    if wanted is None:
        return
    if wanted.get("type") != "json_schema" or not isinstance(wanted.get("schema"), dict):
        yield "output_config.format: Input should be a json_schema with a schema"
        return
    schema = wanted["schema"]
    for problem in (*schema_rules.malformed(schema), *schema_rules.anthropic_strict(schema)):
        yield f"output_config.format.schema: {problem}"
    if schema_rules.optional_parameters(schema) > 24:
        yield "output_config.format.schema: more than 24 optional parameters"


RULES = (
    Rule("fields-required", "model, max_tokens, messages", SDK_MESSAGES, required_fields),
    Rule("fields-known", "no field the endpoint does not know", REFUSAL, known_fields),
    Rule("roles", "user and assistant only, user first", SDK_MESSAGES, message_roles),
    Rule("content", "no empty message but a last prefill", REFUSAL, message_content),
    Rule("blocks", "known blocks with known fields, no blank text", REFUSAL, content_blocks),
    Rule("block-owner", "calls by the assistant, results by the user", TOOL_USE, block_owners),
    Rule("use-id", "tool_use ids are plain and unique", REFUSAL, use_ids),
    Rule("calls-answered", "every call is answered in the next message", TOOL_USE, answered_calls),
    Rule("answers-called", "every answer has its call just before", TOOL_USE, called_answers),
    Rule("results-first", "results come before other content", TOOL_USE, results_first),
    Rule("final-space", "a prefill does not end in white space", REFUSAL, final_whitespace),
    # Published answers name 64, later ones 128; 64 holds in both, and at OpenAI.
    Rule("tool-name", "64 plain characters, unique", REFERENCE, tool_names),
    Rule("root-object", "input_schema is of type object", SDK_TOOL, root_type),
    Rule("root-union", "no union at the root of input_schema", ROOT_UNION, root_union),
    Rule("schema-valid", "input_schema is JSON Schema 2020-12", SDK_TOOL, valid_schema),
    Rule("property-key", "plain property names of 64 characters", REFUSAL, property_keys),
    Rule(
        "enum-type",
        "every enum says its type; Anthropic does not insist, endpoints behind its wire do",
        Source("fixture", "OpenAI and Gemini behind Anthropic-shaped gateways"),
        typed_enums,
    ),
    Rule("strict", "the subset of strict tools, and their number", STRICT, strict_tools),
    Rule("tool-choice", "a choice names an offered tool", REFERENCE, choice_of_tool),
    Rule("answer-schema", "the subset of structured outputs", STRICT, answer_schema),
)
