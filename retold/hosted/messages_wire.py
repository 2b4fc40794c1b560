"""Anthropic's Messages: what is sent for a question, and what an answer says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from retold.hosted.dialects import Dialect, spoken
from retold.hosted.replies import Reply, count, items
from retold.hosted.schemas import strict_schema
from retold.models import CompletionRequest, TokenUsage

_STOPPED: Final = {
    "refusal": "refused",
    "max_tokens": "cut_short",
    "model_context_window_exceeded": "too_long",
}
_INPUT: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def arguments_of(request: CompletionRequest, model: str, dialect: Dialect) -> dict[str, object]:
    """Return the arguments of ``messages.create``."""
    system, prompt = spoken(request, dialect)
    arguments: dict[str, object] = {
        "model": model,
        "max_tokens": request.max_output_tokens,
        "messages": [{"role": "user", "content": prompt}],
    }
    if system:
        arguments["system"] = system
    schema = strict_schema(request.schema, all_required=False)
    if dialect.structure == "schema":
        arguments["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    elif dialect.structure == "object":
        arguments["tools"] = [{"name": request.task, "input_schema": schema}]
        arguments["tool_choice"] = {"type": "tool", "name": request.task}
    return arguments


def reply_of(body: Mapping[str, object]) -> Reply | None:
    """Return what an answer says; None for a body that is no answer of this protocol."""
    if not isinstance(body.get("content"), list):
        return None
    blocks = items(body, "content")
    text = "".join(str(one.get("text", "")) for one in blocks if one.get("type") == "text")
    inputs = [one.get("input") for one in blocks if one.get("type") == "tool_use"]
    value = next((one for one in inputs if isinstance(one, dict)), None)
    usage = body.get("usage")
    used: Mapping[str, object] = usage if isinstance(usage, Mapping) else {}
    return Reply(
        text=text,
        value=value,
        stopped=_STOPPED.get(str(body.get("stop_reason"))),
        model=str(body.get("model") or ""),
        usage=TokenUsage(sum(count(used, name) for name in _INPUT), count(used, "output_tokens"), 1)
        if used
        else None,
    )
