"""Replies and refusals in the JSON that each provider sends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.loopback.conversation import Body, Call, Provider, Reply

PATHS: Mapping[str, Provider] = {
    "/v1/messages": "anthropic",
    "/v1/chat/completions": "openai",
}
ANTHROPIC_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def answer(provider: Provider, body: Body, reply: Reply, number: int) -> dict[str, Any]:
    """Return the response to the request with this number; ids follow from the number."""
    return _message(body, reply, number) if provider == "anthropic" else _chat(body, reply, number)


def refusal(provider: Provider, status: int, message: str) -> dict[str, Any]:
    """Return the body of an error answer."""
    if provider == "anthropic":
        kind = ANTHROPIC_ERRORS.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _message(body: Body, reply: Reply, number: int) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    for place, call in enumerate(reply.calls):
        content.append(
            {
                "type": "tool_use",
                "id": f"toolu_{number}_{place}",
                "name": call.name,
                "input": _object(call),
            }
        )
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": reply.stop or ("tool_use" if reply.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": _tokens(body),
            "output_tokens": _tokens(content),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def _object(call: Call) -> Mapping[str, Any]:
    if isinstance(call.arguments, str):
        raise TypeError("Anthropic's wire carries arguments as an object, never as text")
    return call.arguments


def _chat(body: Body, reply: Reply, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": reply.text or None,
        "refusal": reply.refusal,
        "annotations": [],
    }
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": call.name, "arguments": _text(call.arguments)},
            }
            for place, call in enumerate(reply.calls)
        ]
    asked, answered = _tokens(body), _tokens(message)
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": reply.stop or ("tool_calls" if reply.calls else "stop"),
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": answered,
            "total_tokens": asked + answered,
        },
    }


def _text(arguments: Mapping[str, Any] | str) -> str:
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False)


def _tokens(value: object) -> int:
    """Return a plausible number; nobody is billed."""
    return len(json.dumps(value, ensure_ascii=False)) // 4
