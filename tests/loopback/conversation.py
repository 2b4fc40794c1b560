"""What a scripted model sees of a request, and what it answers, whoever's wire it goes over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Provider = Literal["anthropic", "openai"]
Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool; the server names it.

    ``arguments`` as text goes out unparsed, which only OpenAI's wire can do: a model's broken JSON.
    """

    name: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: text, calls, or both.

    ``stop`` is the provider's own word for why it stopped, where it did not end by itself;
    ``refusal`` is OpenAI's separate field for what a model says instead of an answer.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: str | None = None
    refusal: str | None = None


Way = Literal["answer", "cut", "hang", "drip"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something else than a model's answer, sent as it is.

    ``way`` is ``cut`` for a connection that ends in the middle of the body, ``hang`` for one where
    nothing comes, and ``drip`` for blanks that come one by one until the client gives up. A body
    that is None is the provider's own error object for the status.
    """

    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    way: Way = "answer"
    says: str = "the loopback model was told to fail"


@dataclass(frozen=True, slots=True)
class ToolShown:
    """A tool as the request offers it."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back for one call.

    ``is_error`` is None on OpenAI's wire, which has no such mark.
    """

    name: str
    arguments: Any
    text: str
    is_error: bool | None

    def payload(self) -> Any:
        """Return the text read as JSON; text that is none raises."""
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request in the same words for both providers.

    ``user`` is the last thing the user said and ``results`` what tools answered since, in order.
    ``tools`` is keyed by name.
    """

    provider: Provider
    system: str
    tools: Mapping[str, ToolShown]
    user: str
    results: tuple[ToolResult, ...]
    body: Body = field(repr=False)

    @property
    def last(self) -> ToolResult:
        """Return the newest tool result; IndexError when there is none."""
        return self.results[-1]


def exchange_of(provider: Provider, body: Body) -> Exchange:
    """Read a request that keeps the rules of its provider."""
    return _from_anthropic(body) if provider == "anthropic" else _from_openai(body)


def text_of(content: Any) -> str:
    """Return the text of a message: a string, or the text parts of a list, one a line."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    return "\n".join(part["text"] for part in parts if part.get("type") == "text")


def _from_anthropic(body: Body) -> Exchange:
    calls: dict[str, tuple[str, Any]] = {}
    user, results = "", []
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        for block in blocks:
            if block["type"] == "tool_use":
                calls[block["id"]] = (block["name"], block["input"])
        said = text_of(message["content"])
        if message["role"] == "user" and said:
            user, results = said, []
        for block in blocks:
            if block["type"] == "tool_result":
                name, arguments = calls[block["tool_use_id"]]
                text = text_of(block.get("content", ""))
                results.append(ToolResult(name, arguments, text, block.get("is_error", False)))
    tools = {
        tool["name"]: ToolShown(tool["name"], tool.get("description", ""), tool["input_schema"])
        for tool in body.get("tools", ())
    }
    system = text_of(body.get("system", ""))
    return Exchange("anthropic", system, tools, user, tuple(results), body)


def _from_openai(body: Body) -> Exchange:
    calls: dict[str, tuple[str, Any]] = {}
    user, system, results = "", [], []
    for message in body["messages"]:
        if message["role"] in ("system", "developer"):
            system.append(text_of(message["content"]))
        elif message["role"] == "user":
            user, results = text_of(message["content"]), []
        elif message["role"] == "tool":
            name, arguments = calls[message["tool_call_id"]]
            results.append(ToolResult(name, arguments, text_of(message["content"]), None))
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = (call["function"]["name"], _parsed(call["function"]["arguments"]))
    functions = [tool["function"] for tool in body.get("tools", ())]
    tools = {
        one["name"]: ToolShown(one["name"], one.get("description", ""), one.get("parameters", {}))
        for one in functions
    }
    return Exchange("openai", "\n".join(system), tools, user, tuple(results), body)


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
