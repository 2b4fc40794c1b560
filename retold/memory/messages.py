"""Chat messages as providers of models write them, made into turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from retold.errors import InvalidInput
from retold.ingest.turns import SILENT_ROLES, NewTurn

_SPEAKS: Final = ("content", "tool_calls", "function_call", "type")
"""A message has one of these, or it is not one that a provider of models writes."""

Message = Mapping[str, Any]


def new_turns(messages: Iterable[Message]) -> list[NewTurn]:
    """Return the turns of messages that hold text, in order.

    The results of tools that stand inside a message come before its own text, as turns of the
    tool. A result gets the name of the tool whose call is in the same list. Raises InvalidInput
    for what is no message, above all for one whose words stand where nobody looks for them; roles
    and texts are checked where turns are stored.
    """
    turns: list[NewTurn] = []
    names: dict[str, str] = {}
    for message in _each(messages):
        names.update(_calls(message))
        if message.get("role") in SILENT_ROLES:
            continue
        if not any(name in message for name in _SPEAKS):
            raise InvalidInput(
                "a message has no `content`: pass the like of {'role': 'user', 'content': '...'}",
                field="content",
            )
        key = message.get("external_key")
        key = message.get("id") if key is None else key
        turns += _results(message, names, key)
        content = _text(message.get("content"))
        if not content.strip():
            continue
        tool_name = message.get("tool_name")
        turns.append(
            NewTurn(
                message.get("role"),  # type: ignore[arg-type]  # checked where it is stored
                content,
                name=message.get("name"),
                tool_name=_named(names, message.get("tool_call_id"), tool_name),
                external_key=key,
            )
        )
    return turns


def _each(messages: object) -> list[Message]:
    given: list[Message] | None = None
    if isinstance(messages, Iterable) and not isinstance(messages, Mapping | str):
        given = list(messages)
    if given is None or not all(isinstance(message, Mapping) for message in given):
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
    if any(isinstance(text, Mapping | list) for text in texts):
        raise InvalidInput("a part of a message holds its text as a string under `text`")
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())


def _calls(message: Message) -> Iterator[tuple[str, str]]:
    """Yield (id, tool's name) of every call of a tool in the message, in any provider's shape."""
    found = [(message.get("call_id"), message.get("name"))]
    for call in _mappings(message.get("tool_calls")):
        function = call.get("function")
        named = function if isinstance(function, Mapping) else call
        found.append((call.get("id"), named.get("name")))
    found += [
        (part.get("id"), part.get("name"))
        for part in _mappings(message.get("content"))
        if part.get("type") == "tool_use"
    ]
    for call_id, name in found:
        if isinstance(call_id, str) and isinstance(name, str):
            yield call_id, name


def _results(message: Message, names: Mapping[str, str], key: object) -> Iterator[NewTurn]:
    """Yield a turn for every result of a tool that stands inside the message.

    The key of a result is the message's with the call's id: one message may hold several.
    """
    found = [
        (part.get("tool_use_id"), part.get("content"))
        for part in _mappings(message.get("content"))
        if part.get("type") == "tool_result"
    ]
    if message.get("type") == "function_call_output":
        found.append((message.get("call_id"), message.get("output")))
    for call_id, content in found:
        text = _text(content)
        if text.strip():
            yield NewTurn(
                "tool",
                text,
                tool_name=_named(names, call_id),
                external_key=None if key is None else f"{key}/{call_id}",
            )


def _named(names: Mapping[str, str], call_id: object, given: str | None = None) -> str | None:
    """Return the name that a message gives its tool, or else that of the call it answers."""
    if given is not None or not isinstance(call_id, str):
        return given
    return names.get(call_id)


def _mappings(value: object) -> Iterator[Message]:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        yield from (one for one in value if isinstance(one, Mapping))
