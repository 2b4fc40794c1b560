"""OpenAI's Chat Completions, which most other endpoints speak too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from retold.hosted.dialects import Dialect, spoken
from retold.hosted.replies import Reply, count, items
from retold.hosted.schemas import strict_schema
from retold.models import CompletionRequest, TokenUsage

_STOPPED: Final = {"content_filter": "refused", "length": "cut_short"}


def arguments_of(request: CompletionRequest, model: str, dialect: Dialect) -> dict[str, object]:
    """Return the arguments of ``chat.completions.create``."""
    system, prompt = spoken(request, dialect)
    messages = [{"role": "system", "content": system}] if system else []
    arguments: dict[str, object] = {
        "model": model,
        dialect.limit: request.max_output_tokens,
        "messages": [*messages, {"role": "user", "content": prompt}],
    }
    if dialect.structure == "schema":
        schema = strict_schema(request.schema, all_required=True)
        named = {"name": request.task, "schema": schema, "strict": True}
        arguments["response_format"] = {"type": "json_schema", "json_schema": named}
    elif dialect.structure == "object":
        arguments["response_format"] = {"type": "json_object"}
    return arguments


def reply_of(body: Mapping[str, object]) -> Reply | None:
    """Return what an answer says; None for a body that is no answer of this protocol."""
    choice = next(iter(items(body, "choices")), None)
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, Mapping):
        return None
    stopped = "refused" if message.get("refusal") else None
    usage = body.get("usage")
    used: Mapping[str, object] = usage if isinstance(usage, Mapping) else {}
    return Reply(
        text=_text(message),
        value=None,
        stopped=stopped or _STOPPED.get(str(choice.get("finish_reason"))),
        model=str(body.get("model") or ""),
        usage=TokenUsage(count(used, "prompt_tokens"), count(used, "completion_tokens"), 1)
        if used
        else None,
    )


def _text(message: Mapping[str, object]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in items(message, "content"))
