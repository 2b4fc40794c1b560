"""Chat messages as providers of models write them, made into turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from retold.errors import InvalidInput
from retold.ingest.turns import NewTurn

SILENT_ROLES: Final = ("system", "developer")
"""Instructions of an application: nobody's words."""


def new_turns(messages: Iterable[Mapping[str, Any]]) -> list[NewTurn]:
    """Return the turns of messages that hold text, in order.

    Raises InvalidInput for what is no message; roles and texts are checked where turns are stored.
    """
    turns = []
    for message in _each(messages):
        content = _text(message.get("content"))
        if message.get("role") in SILENT_ROLES or not content.strip():
            continue
        key = message.get("external_key")
        turns.append(
            NewTurn(
                message.get("role"),  # type: ignore[arg-type]  # checked where it is stored
                content,
                name=message.get("name"),
                external_key=message.get("id") if key is None else key,
            )
        )
    return turns


def _each(messages: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    given = [] if isinstance(messages, Mapping | str) else list(messages)
    if isinstance(messages, Mapping | str) or not all(isinstance(m, Mapping) for m in given):
        raise InvalidInput(
            'messages must be a list such as [{"role": "user", "content": "..."}]; '
            "turn a client's own objects into dicts first"
        )
    return given


def _text(content: object) -> str:
    """Return the text of a message, the parts of a list on lines of their own."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        raise InvalidInput("message content must be text, a list of parts or None")
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())
