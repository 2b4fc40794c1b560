"""The one path of every tool call: parse, handle, answer; nothing is ever raised."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from retold.config.base import JSON
from retold.errors import InvalidSubject, RetoldError, StoreUnavailable
from retold.retrieve.render import fence_token
from retold.text.frames import MEMORY_TOOL_NAMES
from retold.tools import answers, changing, parsing, reading, render
from retold.tools.answers import ToolResult
from retold.tools.caller import Answer, Caller

logger = logging.getLogger(__name__)

READS: Final = ("memory_search", "memory_get")
NO_TOOL: Final = "memory_tool"
"""Stands for a tool that is not there."""
ABOUT_EXAMPLE: Final = {"entities": [{"kind": "person", "name": "Priya", "role": "about"}]}


class ToolHandlers:
    """The five tools for one caller.

    ``call`` answers whatever a model sends, and raises nothing: a refusal says how to correct the
    call, and after one nothing is stored. ``guard`` raises while the conversation is over.
    """

    def __init__(self, caller: Caller, guard: Callable[[], None]) -> None:
        """Bind the tools to a caller."""
        self._caller = caller
        self._guard = guard

    @property
    def default_k(self) -> int:
        """Return how many memories a search returns that asks for no number."""
        return self._caller.default_k

    def on_offer(self) -> dict[str, tuple[str, ...]]:
        """Return the tools that may be called now, each with the symbolic write targets."""
        store = self._caller.parts.store
        if store.read_only:
            return dict.fromkeys(READS, ())
        with store.read() as tx:
            targets = tuple(self._caller.targets.on_offer(tx))
        offered = dict.fromkeys(MEMORY_TOOL_NAMES, targets)
        if not targets:
            del offered["memory_write"]
        return offered

    def call(self, name: object, arguments: object, *, context: str | None = None) -> ToolResult:
        """Answer one call; ``context`` is the host's text for the query rewriter."""
        frame_id = self._caller.parts.new_id()
        known = name if isinstance(name, str) and name in MEMORY_TOOL_NAMES else NO_TOOL
        try:
            text, data = self._handled(known, arguments, frame_id, context)
            return ToolResult(known, text, data)
        except RetoldError as refusal:
            error = _explained(answers.error_data(refusal))
            logger.info("a tool call was refused", extra={"tool": known, "code": refusal.code})
        except Exception as failure:  # whatever breaks, a model's loop must go on and be told
            error = answers.failure_data()
            logger.error(  # noqa: TRY400  # a traceback could carry what memories say
                "a tool call failed", extra={"tool": known, "error": type(failure).__name__}
            )
        text = render.error_text(known, fence_token(frame_id), error)
        return ToolResult(known, text, {"error": error}, is_error=True)

    def _handled(self, name: str, arguments: object, frame_id: str, context: str | None) -> Answer:
        if name == NO_TOOL:
            raise answers.UnknownTool(allowed=list(MEMORY_TOOL_NAMES))
        self._guard()
        if name not in READS and self._caller.parts.store.read_only:
            raise StoreUnavailable
        given = parsing.as_object(arguments)
        if name == "memory_search":
            return reading.search(self._caller, given, context)
        if name == "memory_get":
            return reading.get(self._caller, given, frame_id)
        if name == "memory_write":
            return changing.write(self._caller, given, frame_id)
        if name == "memory_revise":
            return changing.revise(self._caller, given, frame_id)
        return changing.forget(self._caller, given, frame_id)


def _explained(error: dict[str, Any]) -> dict[str, JSON]:
    """Return an error in the words of the tools, with the argument that mends a missing subject."""
    if error.get("field") == "about":
        error["message"] = "the content opens with somebody else's name; say whom it is about"
    if error.get("field") == "about" or (
        error["code"] == InvalidSubject.code and error.get("field") != "attribute"
    ):
        error["example"] = ABOUT_EXAMPLE
    return error
