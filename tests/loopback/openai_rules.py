"""What OpenAI's Chat Completions refuses, as far as a loop with tools can meet it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.loopback import schema_rules
from tests.loopback.conversation import Body
from tests.loopback.rules import Rule, Source

REFERENCE = Source("docs", "OpenAI API reference, Create chat completion")
REFUSAL = Source("report", "the endpoint's own words in published 400 answers")
STRICT = Source("docs", "OpenAI docs, Structured Outputs: supported schemas")
SDK_FUNCTION = Source("sdk", "openai/types/shared_params/function_definition.py: name, strict")
SDK_TOOL_MESSAGE = Source("sdk", "openai/types/chat/chat_completion_tool_message_param.py")
ROOT_UNION = Source(
    "report", "langchainjs issue 9804, google-calendar-mcp issue 39, mcp-sap-docs issue 51"
)

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SPEAKER = re.compile(r"[^\s<|\\/>]{1,64}")
ROLES = frozenset({"developer", "system", "user", "assistant", "tool", "function"})
MAX_TOOLS, MAX_DESCRIPTION, MAX_CALL_ID = 128, 1024, 40
REQUEST_KEYS = frozenset(
    "audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens "
    "max_tokens messages metadata modalities model n parallel_tool_calls prediction "
    "presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort response_format "
    "safety_identifier seed service_tier stop store stream stream_options temperature tool_choice "
    "tools top_logprobs top_p user verbosity web_search_options".split()
)
MESSAGE_KEYS = frozenset(
    "role content name tool_calls tool_call_id refusal audio function_call annotations".split()
)


def functions_of(body: Body) -> list[dict[str, Any]]:
    """Return the offered functions."""
    return [tool["function"] for tool in body.get("tools") or ()]


def required_fields(body: Body) -> Iterator[str]:
    if not isinstance(body.get("model"), str):
        yield "you must provide a model parameter"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "Invalid 'messages': empty array. Expected an array with minimum length 1."
    for number, message in enumerate(body["messages"]):
        if not isinstance(message, dict):
            yield f"Invalid type for 'messages[{number}]': expected an object."


def known_fields(body: Body) -> Iterator[str]:
    for name in sorted(set(body) - REQUEST_KEYS):
        yield f"Unrecognized request argument supplied: {name}"
    for number, message in enumerate(body["messages"]):
        for name in sorted(set(message) - MESSAGE_KEYS):
            yield f"Unknown parameter: 'messages[{number}].{name}'."


def message_roles(body: Body) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        if message.get("role") not in ROLES:
            yield f"Invalid value: '{message.get('role')}' at messages[{number}].role."


def message_content(body: Body) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        content = message.get("content")
        silent = message["role"] == "assistant" and message.get("tool_calls")
        if content is None and not silent:
            yield f"Invalid value for 'content': expected a string, got null. messages[{number}]"
        elif not isinstance(content, str | list | None):
            yield f"Invalid type for 'messages[{number}].content'."
        for part in content if isinstance(content, list) else ():
            if message["role"] == "tool" and part.get("type") != "text":
                yield f"messages[{number}]: a tool answers in text only"


def speaker_names(body: Body) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        if "name" in message and not SPEAKER.fullmatch(str(message["name"])):
            yield (
                f"Invalid 'messages[{number}].name': string does not match pattern. "
                r"Expected a string that matches the pattern '^[^\s<|\\/>]+$'."
            )


def call_shape(body: Body) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        for place, call in enumerate(message.get("tool_calls") or ()):
            at = f"messages[{number}].tool_calls[{place}]"
            if call.get("type") != "function" or "function" not in call:
                yield f"Missing required parameter: '{at}.function'."
            elif not isinstance(call["function"].get("arguments"), str):
                yield f"Invalid type for '{at}.function.arguments': expected a string."
            elif not 0 < len(str(call.get("id", ""))) <= MAX_CALL_ID:
                yield (
                    f"Invalid '{at}.id': string too long. Expected a string with maximum length "
                    f"{MAX_CALL_ID}."
                )


def answered_calls(body: Body) -> Iterator[str]:
    waiting: list[str] = []
    for message in [*body["messages"], {"role": "end"}]:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                yield (
                    "messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'."
                )
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield (
                "An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each 'tool_call_id'. The following tool_call_ids did not have "
                f"response messages: {', '.join(waiting)}"
            )
        waiting = [call["id"] for call in message.get("tool_calls") or ()]


def tool_shape(body: Body) -> Iterator[str]:
    tools = body.get("tools")
    if tools is None:
        return
    if not tools or len(tools) > MAX_TOOLS:
        yield f"Invalid 'tools': {len(tools)} items. Expected 1 to {MAX_TOOLS}."
    for number, tool in enumerate(tools):
        if tool.get("type") != "function" or not isinstance(tool.get("function"), dict):
            yield f"Missing required parameter: 'tools[{number}].function'."
        else:
            known = {"name", "description", "parameters", "strict"}
            for name in sorted(set(tool["function"]) - known):
                yield f"Unknown parameter: 'tools[{number}].function.{name}'."


def tool_names(body: Body) -> Iterator[str]:
    names = [str(function.get("name", "")) for function in functions_of(body)]
    for number, name in enumerate(names):
        if not NAME.fullmatch(name):
            yield (
                f"Invalid 'tools[{number}].function.name': string does not match pattern. "
                "Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'."
            )
    if len(set(names)) < len(names):
        yield "Tool names must be unique."


def descriptions(body: Body) -> Iterator[str]:
    for number, function in enumerate(functions_of(body)):
        if len(function.get("description") or "") > MAX_DESCRIPTION:
            yield (
                f"Invalid 'tools[{number}].function.description': string too long. Expected a "
                f"string with maximum length {MAX_DESCRIPTION}."
            )


def root_shape(body: Body) -> Iterator[str]:
    for function in functions_of(body):
        schema = function.get("parameters", {"type": "object"})
        unions = {"oneOf", "anyOf", "allOf", "enum", "not"} & set(schema)
        if schema.get("type") != "object" or unions:
            yield (
                f"Invalid schema for function '{function['name']}': schema must have type "
                "'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
            )


def valid_schema(body: Body) -> Iterator[str]:
    for function in functions_of(body):
        schema = function.get("parameters", {})
        yield from _named(function, schema_rules.malformed(schema))
        yield from _named(function, schema_rules.arrays_without_items(schema))


def typed_enums(body: Body) -> Iterator[str]:
    for function in functions_of(body):
        yield from _named(function, schema_rules.untyped_enums(function.get("parameters", {})))


def strict_functions(body: Body) -> Iterator[str]:
    for function in functions_of(body):
        if function.get("strict"):
            yield from _named(function, schema_rules.openai_strict(function.get("parameters", {})))


def _named(function: dict[str, Any], problems: Iterator[str]) -> Iterator[str]:
    for problem in problems:
        yield f"Invalid schema for function '{function['name']}': In context={problem}"


def choice_of_tool(body: Body) -> Iterator[str]:
    names = [function["name"] for function in functions_of(body)]
    for key in ("tool_choice", "parallel_tool_calls"):
        if body.get(key) is not None and not names:
            yield f"Invalid value for '{key}': only allowed when 'tools' are specified."
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("function", {}).get("name") not in names:
        yield "Tool choice names a function that is not in 'tools'."


def answer_schema(body: Body) -> Iterator[str]:
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_object":
        if "json" not in str(body["messages"]).lower():
            yield "'messages' must contain the word 'json' in some form"
        return
    named = wanted.get("json_schema") or {}
    if wanted and not NAME.fullmatch(str(named.get("name", ""))):
        yield "Missing or invalid parameter: 'response_format.json_schema.name'."
        return
    schema = named.get("schema", {})
    problems = [*schema_rules.malformed(schema)] if wanted else []
    if named.get("strict"):
        problems += schema_rules.openai_strict(schema)
        if {"anyOf", "oneOf"} & set(schema) or schema.get("type") != "object":
            problems.append("$: the root is an object and no union")
    for problem in problems:
        yield f"Invalid schema for response_format '{named.get('name')}': {problem}"


def one_limit(body: Body) -> Iterator[str]:
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."


RULES = (
    Rule("fields-required", "model and messages", REFERENCE, required_fields),
    Rule("fields-known", "no field the endpoint does not know", REFUSAL, known_fields),
    Rule("roles", "one of the six roles", REFERENCE, message_roles),
    Rule("content", "text, null only beside calls", SDK_TOOL_MESSAGE, message_content),
    Rule("speaker", "names without white space and a few signs", REFUSAL, speaker_names),
    Rule("call-shape", "arguments are text, ids have 40 characters", REFUSAL, call_shape),
    Rule("calls-answered", "each call is answered right after, once", REFUSAL, answered_calls),
    Rule("tool-shape", "1 to 128 functions with known fields", REFERENCE, tool_shape),
    Rule("tool-name", "64 plain characters, unique", SDK_FUNCTION, tool_names),
    Rule("description", "at most 1024 characters", REFUSAL, descriptions),
    Rule("root-shape", "an object without a union at the root", ROOT_UNION, root_shape),
    Rule("schema-valid", "a JSON schema whose arrays say what they hold", REFUSAL, valid_schema),
    Rule(
        "enum-type",
        "every enum says its type; only strict mode insists, and so do endpoints of this wire",
        Source("fixture", "OpenAI's strict mode, and Gemini behind OpenAI-shaped gateways"),
        typed_enums,
    ),
    Rule("strict", "the subset of Structured Outputs", STRICT, strict_functions),
    Rule("tool-choice", "a choice names an offered tool", REFERENCE, choice_of_tool),
    Rule("answer-schema", "a named schema of the strict subset", STRICT, answer_schema),
    Rule("one-limit", "one name for the limit of output tokens", REFUSAL, one_limit),
)
