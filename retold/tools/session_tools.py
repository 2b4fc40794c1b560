"""The tools of one conversation, in the shapes that SDKs of model providers take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from retold.errors import InvalidInput
from retold.tools.answers import ToolResult
from retold.tools.catalogue import DESCRIPTIONS
from retold.tools.handlers import ToolHandlers
from retold.tools.schemas import Schema, for_model, published_schema

Arguments = Mapping[str, Any] | str
Around = Callable[[Callable[[], ToolResult]], ToolResult]
"""Makes a call and returns its answer, with whatever has to happen before and after."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as any framework can register it.

    ``schema`` is the JSON schema to show a model; ``published_schema`` the full one, for a strict
    validator. ``callable`` takes the arguments, as an object or as JSON text, and never raises.
    Calling the tool itself does the same with keyword arguments.
    """

    name: str
    description: str = field(repr=False)
    schema: Schema = field(repr=False)
    published_schema: Schema = field(repr=False)
    callable: Callable[[Arguments], ToolResult] = field(repr=False)

    def __call__(self, /, **arguments: Any) -> ToolResult:  # noqa: ANN401  # any JSON value
        """Answer a call whose arguments are keywords."""
        return self.callable(arguments)


class SessionTools(Mapping[str, Tool]):
    """The tools that a model may call in one conversation, by name.

    What is on offer follows the grants of the moment: each look at the mapping, and each call,
    reads them anew. A read-only store offers memory_search and memory_get.
    """

    def __init__(self, handlers: ToolHandlers, around: Around = lambda call: call()) -> None:
        """Put the shapes on the handlers of one conversation; ``around`` makes every call."""
        self._handlers = handlers
        self._around = around

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __getitem__(self, name: str) -> Tool:
        return self._tool(name, self._handlers.on_offer()[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._handlers.on_offer())

    def __len__(self) -> int:
        return len(self._handlers.on_offer())

    def within(self, around: Around) -> SessionTools:
        """Return the same tools, each call of which is made by ``around``."""
        return SessionTools(self._handlers, around)

    def call(self, name: str, arguments: Arguments, *, context: str | None = None) -> ToolResult:
        """Answer one call of a model; arguments as an object or as JSON text.

        Never raises for anything a model can send: broken JSON, unknown tools and fields, foreign
        ids and a failing store are answers with ``is_error`` set. ``context`` is for the query
        rewriter and comes from the host, never from the model.
        """
        return self._around(lambda: self._handlers.call(name, arguments, context=context))

    async def acall(
        self, name: str, arguments: Arguments, *, context: str | None = None
    ) -> ToolResult:
        """Answer one call in a thread, so that the event loop goes on.

        A caller that is cancelled stops waiting; a write that was begun is finished or undone
        whole.
        """
        return await asyncio.to_thread(self.call, name, arguments, context=context)

    # -- shapes of SDKs ------------------------------------------------------------------------

    def anthropic(self) -> list[dict[str, Any]]:
        """Return the ``tools`` argument of Anthropic's ``messages.create``."""
        return [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in self._all()
        ]

    def openai(self) -> list[dict[str, Any]]:
        """Return the ``tools`` argument of OpenAI's ``chat.completions.create``."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                },
            }
            for tool in self._all()
        ]

    def answer_anthropic(
        self, message: object, *, others: Collection[str] = ()
    ) -> list[dict[str, Any]]:
        """Call what an assistant message asks for; return its tool_result blocks, in order.

        ``message`` is the SDK's message or a mapping with ``content``. Send the blocks back as the
        content of one user message; none means that the model is done. ``others`` names the tools
        that the application answers itself: every other unknown name is answered with an error,
        since the provider refuses a call without an answer. Raises InvalidInput for what is no
        message.
        """
        _require_message(message, ("content",), "the message that messages.create returned")
        blocks = []
        for block in _items(message, "content"):
            if _of(block, "type") != "tool_use" or _of(block, "name") in [*others]:
                continue
            result = self.call(_of(block, "name"), _of(block, "input"))
            answer = {
                "type": "tool_result",
                "tool_use_id": _of(block, "id"),
                "content": result.text,
            }
            blocks.append({**answer, "is_error": True} if result.is_error else answer)
        return blocks

    def answer_openai(
        self, message: object, *, others: Collection[str] = ()
    ) -> list[dict[str, Any]]:
        """Call what an assistant message asks for; return its tool messages, in order.

        ``message`` is ``response.choices[0].message`` or a mapping with ``tool_calls``. Append the
        messages after it; none means that the model is done. ``others`` and errors as for
        Anthropic.
        """
        _require_message(message, ("tool_calls", "content", "role"), "response.choices[0].message")
        messages = []
        for call in _items(message, "tool_calls"):
            function = _of(call, "function")
            name = _of(function, "name")
            if name in [*others]:
                continue
            result = self.call(name, _of(function, "arguments"))
            messages.append(
                {"role": "tool", "tool_call_id": _of(call, "id"), "content": result.text}
            )
        return messages

    async def aanswer_anthropic(
        self, message: object, *, others: Collection[str] = ()
    ) -> list[dict[str, Any]]:
        """Do as ``answer_anthropic`` in a thread."""
        return await asyncio.to_thread(self.answer_anthropic, message, others=others)

    async def aanswer_openai(
        self, message: object, *, others: Collection[str] = ()
    ) -> list[dict[str, Any]]:
        """Do as ``answer_openai`` in a thread."""
        return await asyncio.to_thread(self.answer_openai, message, others=others)

    def _all(self) -> list[Tool]:
        return [self._tool(name, targets) for name, targets in self._handlers.on_offer().items()]

    def _tool(self, name: str, write_targets: tuple[str, ...]) -> Tool:
        published = published_schema(
            name, write_targets=write_targets, default_k=self._handlers.default_k
        )
        return Tool(
            name=name,
            description=DESCRIPTIONS[name],
            schema=for_model(published),
            published_schema=published,
            callable=lambda arguments: self.call(name, arguments),
        )


def _require_message(message: object, names: tuple[str, ...], wanted: str) -> None:
    """Raise InvalidInput for an object without any of the fields, which asks for nothing."""
    has = message.__contains__ if isinstance(message, Mapping) else partial(hasattr, message)
    if not any(map(has, names)):
        raise InvalidInput(f"this is no message of an assistant; pass {wanted}", field="message")


def _of(thing: object, name: str) -> Any:  # noqa: ANN401  # an SDK's object or its JSON
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _items(message: object, name: str) -> list[Any]:
    found = _of(message, name)
    return list(found) if isinstance(found, list | tuple) else []
