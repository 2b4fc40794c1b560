"""The loopback model refuses what the providers refuse, and the real clients understand it."""

from __future__ import annotations

import contextlib
import copy
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import anthropic
import openai
import pytest

from tests.loopback import Call, Fault, LoopbackModel, Reply, anthropic_rules, openai_rules
from tests.loopback.rules import first_breach

ROOT = Path(__file__).parents[2]
SCHEMA = {
    "type": "object",
    "properties": {
        "q": {"type": "string"},
        "kinds": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["q"],
    "additionalProperties": False,
}


def anthropic_body():
    use = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"q": "home"}}
    tool = {"name": "look_up", "description": "Look.", "input_schema": copy.deepcopy(SCHEMA)}
    return {
        "model": "claude-x",
        "max_tokens": 100,
        "system": "Be brief.",
        "tools": [tool],
        "messages": [
            {"role": "user", "content": "Where do I live?"},
            {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, use]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Oslo"}],
            },
        ],
    }


def openai_body():
    call = {"name": "look_up", "arguments": '{"q": "home"}'}
    function = {"name": "look_up", "description": "Look.", "parameters": copy.deepcopy(SCHEMA)}
    return {
        "model": "gpt-x",
        "tools": [{"type": "function", "function": function}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Where do I live?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "Oslo"},
        ],
    }


def put(*path_and_value):
    """Return an edit that sets one place of a body."""
    *path, last, value = path_and_value

    def edit(body):
        for step in path:
            body = body[step]
        if value is ...:
            del body[last]
        elif isinstance(body, list) and last == len(body):
            body.append(value)
        else:
            body[last] = value

    return edit


def schema_of(body):
    tool = body["tools"][0]
    return tool["input_schema"] if "input_schema" in tool else tool["function"]["parameters"]


def in_schema(*path_and_value):
    edit = put(*path_and_value)
    return lambda body: edit(schema_of(body))


def strict_anthropic(body):
    body["tools"][0]["strict"] = True
    schema_of(body)["properties"]["q"]["minLength"] = 1


def many_optional(body):
    body["tools"][0]["strict"] = True
    names = [f"p{number}" for number in range(25)]
    schema_of(body).update(properties={name: {"type": "string"} for name in names}, required=[])


def twice(body):
    body["tools"].append(copy.deepcopy(body["tools"][0]))


def choice_without_tools(body):
    del body["tools"]
    body["tool_choice"] = "auto"


IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Oslo"}
LONG_ID = "c" * 41


def long_id(body):
    body["messages"][2]["tool_calls"][0]["id"] = LONG_ID
    body["messages"][3]["tool_call_id"] = LONG_ID


OPEN = {"name": "open", "strict": True, "schema": {"type": "object", "properties": {}}}

ANTHROPIC = [
    ("fields-required", put("max_tokens", ...)),
    ("fields-required", put("messages", [])),
    ("fields-known", put("user", "ana")),
    ("fields-known", put("messages", 0, "name", "ana")),
    ("fields-known", put("tools", 0, "parameters", {})),
    ("roles", put("messages", 0, {"role": "system", "content": "Be brief."})),
    ("roles", put("messages", 0, {"role": "assistant", "content": "Hello."})),
    ("content", put("messages", 0, "content", "")),
    ("content", put("messages", 0, "content", None)),
    ("blocks", put("messages", 0, "content", "  ")),
    ("blocks", put("messages", 1, "content", 1, "input", '{"q": "home"}')),
    ("blocks", put("messages", 2, "content", 0, "name", "look_up")),
    ("blocks", put("messages", 2, "content", 0, "content", {"city": "Oslo"})),
    ("block-owner", put("messages", 2, "role", "assistant")),
    ("use-id", put("messages", 1, "content", 1, "id", "call.1")),
    ("calls-answered", put("messages", 2, "content", [{"type": "text", "text": "Well?"}])),
    ("calls-answered", put("messages", 2, ...)),
    ("answers-called", put("messages", 2, "content", 1, RESULT | {"tool_use_id": "toolu_9"})),
    ("answers-called", put("messages", 2, "content", 1, RESULT)),
    ("results-first", put("messages", 2, "content", [{"type": "text", "text": "So:"}, RESULT])),
    ("final-space", put("messages", 3, {"role": "assistant", "content": "You live in "})),
    ("tool-name", put("tools", 0, "name", "memory.search")),
    ("tool-name", put("tools", 0, "name", "m" * 65)),
    ("tool-name", twice),
    ("root-object", in_schema("type", ...)),
    ("root-union", in_schema("oneOf", [{"required": ["q"]}])),
    ("schema-valid", in_schema("properties", "q", "type", "text")),
    ("schema-valid", in_schema("required", "q")),
    ("schema-valid", in_schema("properties", "q", {"$ref": "#/$defs/gone"})),
    ("property-key", in_schema("properties", "the question", {"type": "string"})),
    ("enum-type", in_schema("properties", "q", {"enum": ["a"]})),
    ("strict", strict_anthropic),
    ("strict", many_optional),
    ("tool-choice", put("tool_choice", {"type": "tool", "name": "search"})),
    ("answer-schema", put("output_config", {"format": {"type": "json_object"}})),
    (
        "answer-schema",
        put("output_config", {"format": {"type": "json_schema", "schema": OPEN["schema"]}}),
    ),
]
OPENAI = [
    ("fields-required", put("model", ...)),
    ("fields-known", put("max_turns", 3)),
    ("fields-known", put("messages", 1, "id", "m1")),
    ("roles", put("messages", 0, "role", "host")),
    ("content", put("messages", 1, "content", None)),
    ("content", put("messages", 3, "content", {"city": "Oslo"})),
    ("content", put("messages", 3, "content", [IMAGE])),
    ("speaker", put("messages", 1, "name", "Ana Maria")),
    ("call-shape", put("messages", 2, "tool_calls", 0, "function", "arguments", {"q": "home"})),
    ("call-shape", long_id),
    ("calls-answered", put("messages", 3, ...)),
    ("calls-answered", put("messages", 3, "tool_call_id", "call_9")),
    ("calls-answered", put("messages", 2, {"role": "assistant", "content": "Hello."})),
    ("tool-shape", put("tools", [])),
    ("tool-shape", put("tools", 0, {"type": "function", "name": "look_up"})),
    ("tool-shape", put("tools", 0, "function", "input_schema", {})),
    ("tool-name", put("tools", 0, "function", "name", "memory search")),
    ("tool-name", twice),
    ("description", put("tools", 0, "function", "description", "d" * 1025)),
    ("root-shape", in_schema("anyOf", [{"required": ["q"]}])),
    ("root-shape", in_schema("type", ["object", "null"])),
    ("schema-valid", in_schema("properties", "kinds", "items", ...)),
    ("schema-valid", in_schema("properties", "q", "enum", [])),
    ("enum-type", in_schema("properties", "q", {"enum": ["a"]})),
    ("strict", put("tools", 0, "function", "strict", True)),
    ("tool-choice", choice_without_tools),
    ("answer-schema", put("response_format", {"type": "json_schema", "json_schema": {}})),
    ("answer-schema", put("response_format", {"type": "json_schema", "json_schema": OPEN})),
    ("answer-schema", put("response_format", {"type": "json_object"})),
    ("one-limit", lambda body: body.update(max_tokens=5, max_completion_tokens=5)),
]
CASES = [("anthropic", *case) for case in ANTHROPIC] + [("openai", *case) for case in OPENAI]
BODIES = {"anthropic": anthropic_body, "openai": openai_body}
RULES = {"anthropic": anthropic_rules.RULES, "openai": openai_rules.RULES}


def body_with(provider, edit):
    body = BODIES[provider]()
    edit(body)
    return body


@pytest.mark.parametrize("provider", RULES)
def test_sound_request_breaks_no_rule(provider):
    assert first_breach(RULES[provider], BODIES[provider]()) is None


@pytest.mark.parametrize(("provider", "rule", "edit"), CASES)
def test_request_that_breaks_one_rule_is_refused_for_it(provider, rule, edit):
    breach = first_breach(RULES[provider], body_with(provider, edit))

    assert breach is not None
    assert breach.rule == rule, breach


@pytest.mark.parametrize("provider", RULES)
def test_every_rule_has_a_source_and_a_request_that_breaks_it(provider):
    broken = {rule for owner, rule, _ in CASES if owner == provider}

    assert {rule.name for rule in RULES[provider]} == broken
    assert {rule.source.kind for rule in RULES[provider]} <= {"sdk", "docs", "report", "fixture"}
    assert all(rule.says and rule.source.place for rule in RULES[provider])


SOURCES = {
    rule.source.place: rule.source
    for rules in RULES.values()
    for rule in rules
    if rule.source.kind == "sdk"
}


@pytest.mark.parametrize("place", SOURCES)
def test_source_in_a_client_is_still_there(place):
    file, _, names = place.partition(": ")
    package = anthropic if file.startswith("anthropic/") else openai
    text = Path(package.__file__).parents[1].joinpath(file).read_text(encoding="utf-8")

    missing = [name for name in re.findall(r"\w+", names) if not re.search(rf"\b{name}\b", text)]
    assert missing == []


def clients(model):
    return (
        anthropic.Anthropic(base_url=model.url, api_key="k", max_retries=0),
        openai.OpenAI(base_url=f"{model.url}/v1", api_key="k", max_retries=0),
    )


def test_both_clients_read_text_and_calls_and_send_the_results():
    call = Call("look_up", {"q": "where, naïvely, 住?"})
    with LoopbackModel([Reply("Let me look.", (call,)), Reply("Oslo.")] * 2) as model:
        claude, gpt = clients(model)
        body = anthropic_body() | {"messages": anthropic_body()["messages"][:1]}
        asked = claude.messages.create(**body)
        use = asked.content[1]
        body["messages"] += [
            {"role": "assistant", "content": asked.content},
            {"role": "user", "content": [RESULT | {"tool_use_id": use.id, "is_error": True}]},
        ]
        told = claude.messages.create(**body)

        chat = openai_body() | {"messages": openai_body()["messages"][:2]}
        message = gpt.chat.completions.create(**chat).choices[0].message
        (tool_call,) = message.tool_calls
        result = {"role": "tool", "tool_call_id": tool_call.id, "content": "Oslo"}
        chat["messages"] += [message, result]
        said = gpt.chat.completions.create(**chat).choices[0]
        claude.close()
        gpt.close()

    assert (asked.stop_reason, use.name, use.input) == ("tool_use", "look_up", dict(call.arguments))
    assert (told.stop_reason, told.content[0].text) == ("end_turn", "Oslo.")
    assert json.loads(tool_call.function.arguments) == call.arguments
    assert (said.finish_reason, said.message.content) == ("stop", "Oslo.")
    seen = [(one.provider, one.system, one.user) for one in model.exchanges]
    assert seen[1::2] == [
        ("anthropic", "Be brief.", "Where do I live?"),
        ("openai", "Be brief.", "Where do I live?"),
    ]
    results = [(one.last.name, one.last.text, one.last.is_error) for one in model.exchanges[1::2]]
    assert results == [("look_up", "Oslo", True), ("look_up", "Oslo", None)]


def test_both_clients_read_the_same_answers_as_streams():
    call = Call("look_up", {"q": "where, naïvely, 住?", "kinds": ["a", "b"]})
    with LoopbackModel([Reply("Let me look there.", (call, call))] * 2) as model:
        claude, gpt = clients(model)
        body = anthropic_body() | {"messages": anthropic_body()["messages"][:1]}
        with claude.messages.stream(**body) as stream:
            heard = list(stream.text_stream)
            told = stream.get_final_message()
        chat = openai_body() | {"messages": openai_body()["messages"][:2]}
        with gpt.chat.completions.stream(**chat) as chunks:
            said = chunks.get_final_completion().choices[0]
        claude.close()
        gpt.close()

    assert "".join(heard) == told.content[0].text == "Let me look there."
    assert [block.input for block in told.content[1:]] == [call.arguments] * 2
    assert said.message.content == "Let me look there."
    arguments = [json.loads(one.function.arguments) for one in said.message.tool_calls]
    assert arguments == [call.arguments] * 2
    assert (told.stop_reason, said.finish_reason) == ("tool_use", "tool_calls")


def ask_wrongly(model):
    with model:
        claude, gpt = clients(model)
        with pytest.raises(anthropic.BadRequestError, match="first message must use"):
            claude.messages.create(**body_with("anthropic", ANTHROPIC[6][1]))
        with pytest.raises(openai.BadRequestError, match="responding to each 'tool_call_id'"):
            gpt.chat.completions.create(**body_with("openai", put("messages", 3, ...)))
        claude.close()
        gpt.close()


def test_clients_raise_what_they_raise_for_a_refusal_and_the_test_fails():
    model = LoopbackModel([])

    with pytest.raises(AssertionError):
        ask_wrongly(model)
    assert [breach.rule for breach in model.breaches] == ["roles", "calls-answered"]


def ask_once(model):
    with model, anthropic.Anthropic(base_url=model.url, api_key="k", max_retries=0) as claude:
        return claude.messages.create(**anthropic_body())


def test_script_that_is_too_short_fails_the_test():
    with pytest.raises(anthropic.BadRequestError, match="no step is left"):
        ask_once(model := LoopbackModel([]))
    with pytest.raises(AssertionError, match="ScriptOver"):
        model.assert_clean()


def test_script_that_is_too_long_fails_the_test():
    with pytest.raises(AssertionError, match="1 steps of the script were never asked for"):
        ask_once(LoopbackModel([Reply("Hi.")] * 2))


def test_script_may_be_a_function_of_what_the_model_sees():
    def echo(seen):
        return Reply(f"{seen.user} {sorted(seen.tools)}")

    with LoopbackModel(echo) as model:
        claude, gpt = clients(model)
        texts = [claude.messages.create(**anthropic_body()).content[0].text]
        answer = gpt.chat.completions.create(**openai_body()).choices[0]
        texts.append(answer.message.content)
        claude.close()
        gpt.close()

    assert texts == ["Where do I live? ['look_up']"] * 2


def test_request_without_a_key_is_refused():
    unsigned = {"headers": {"Authorization": openai.Omit()}}
    with LoopbackModel([]) as model:
        client = openai.OpenAI(base_url=f"{model.url}/v1", api_key="k", max_retries=0)
        with pytest.raises(openai.AuthenticationError):
            client.post("/chat/completions", cast_to=object, options=unsigned)
        client.close()


def test_pretend_model_serves_a_terminal_until_interrupted():
    command = [sys.executable, "-m", "tests.loopback"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        lines = [server.stdout.readline() for _ in range(4)]
        variables = dict(line.removeprefix("export ").strip().split("=", 1) for line in lines)
        client = anthropic.Anthropic(
            base_url=variables["ANTHROPIC_BASE_URL"], api_key=variables["ANTHROPIC_API_KEY"]
        )
        body = anthropic_body() | {"messages": [{"role": "user", "content": "Hello."}]}
        answer = client.messages.create(**body).content[0].text
        client.close()
        server.send_signal(signal.SIGINT)
        try:
            assert server.wait(timeout=60) == 0
        finally:
            server.kill()

    assert answer == "Hello! How can I help?"
    assert set(variables) == {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    }


def test_faults_are_what_the_clients_take_them_for():
    faults = [
        Fault(429, headers={"retry-after": "7"}),
        Fault(529),
        Fault(body=b'{"id": "msg', headers={"x-odd": "1"}),
        Fault(way="cut"),
    ]
    with LoopbackModel(faults) as model:
        claude, gpt = clients(model)
        with pytest.raises(anthropic.RateLimitError) as limited:
            claude.messages.create(**anthropic_body())
        with pytest.raises(anthropic.InternalServerError):
            claude.messages.create(**anthropic_body())
        with pytest.raises(json.JSONDecodeError):
            gpt.chat.completions.create(**openai_body())
        with pytest.raises(openai.APIConnectionError):
            gpt.chat.completions.create(**openai_body())
        claude.close()
        gpt.close()

    assert limited.value.response.headers["retry-after"] == "7"
    assert model.heads[0]["content-type"] == "application/json"


@pytest.mark.parametrize("way", ["hang", "drip"])
def test_server_that_never_ends_its_answer_ends_with_its_context(way):
    with LoopbackModel([Fault(way=way)]) as model:
        client = openai.OpenAI(base_url=f"{model.url}/v1", api_key="k", max_retries=0, timeout=0.05)
        create = client.chat.completions.with_streaming_response.create
        with contextlib.suppress(openai.APITimeoutError), create(**openai_body()) as response:
            assert response.status_code == 200
        client.close()

    assert len(model.bodies) == 1


def test_reasons_to_stop_reach_both_clients():
    with LoopbackModel([Reply("", stop="refusal"), Reply(refusal="No.")]) as model:
        claude, gpt = clients(model)
        stopped = claude.messages.create(**anthropic_body()).stop_reason
        refused = gpt.chat.completions.create(**openai_body()).choices[0].message.refusal
        claude.close()
        gpt.close()

    assert (stopped, refused) == ("refusal", "No.")
