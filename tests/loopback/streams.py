"""The same answers as server-sent events, cut into small pieces as providers cut them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.loopback.conversation import Body, Provider

PIECE = 7
"""Characters of text or arguments in one event: few, so that words and escapes are torn."""

Event = tuple[str | None, str]
"""The name of an event, if it has one, and its data."""


def events(provider: Provider, body: Body, response: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events that add up to a finished response."""
    if provider == "anthropic":
        for event in _message_events(response):
            yield event["type"], json.dumps(event)
        return
    for chunk in _chunks(body, response):
        yield None, json.dumps(chunk)
    yield None, "[DONE]"


def encoded(event: Event) -> bytes:
    """Return an event as it goes over the wire."""
    name, data = event
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data}\n\n".encode()


def _message_events(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    opening = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, whole = {**block, "text": ""}, block["text"]
            kind, key = "text_delta", "text"
        else:
            empty, whole = {**block, "input": {}}, json.dumps(block["input"])
            kind, key = "input_json_delta", "partial_json"
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for piece in _pieces(whole):
            delta = {"type": kind, key: piece}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _chunks(body: Body, response: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    head = {key: response[key] for key in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    choice = response["choices"][0]

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        one = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**head, "choices": [one]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(choice["message"]["content"] or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(choice["message"].get("tool_calls", ())):
        function = call["function"]
        started = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield chunk({"tool_calls": [started]})
        for piece in _pieces(function["arguments"]):
            part = {"index": index, "function": {"arguments": piece}}
            yield chunk({"tool_calls": [part]})
    yield chunk({}, choice["finish_reason"])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": response["usage"]}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
