"""The one path of every tool call: parse, handle, answer; nothing is ever raised."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any, Final

from retold.config.base import JSON
from retold.errors import InvalidSubject, RequestError, RetoldError
from retold.retrieve.render import fence_token
from retold.text.frames import MEMORY_TOOL_NAMES
from retold.tools import answers, changing, parsing, reading, render
from retold.tools.answers import ToolResult
from retold.tools.caller import Answer, Caller

logger = logging.getLogger(__name__)

READS: Final = ("memory_search", "memory_get")
NO_TOOL: Final = "memory_tool"
"""Stands for a tool that is not there."""
_OWN_WORDS: Final = {
    "about": "the content opens with somebody else's name; say whom it is about",
    "event_at": "a fact or procedure cannot be dated ahead, nor later than the words that state "
    "it: leave event_at out, or store what is planned as an episodic memory",
}
"""In place of messages that name arguments which the tools do not have, by field."""
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
        """Return the tools that may be called now, each with the symbolic write targets.

        Where the host searches once per user turn and nobody else does, there is no memory_search.
        """
        store = self._caller.parts.store
        targets: tuple[str, ...] = ()
        if not store.read_only:
            with store.read() as tx:
                targets = tuple(self._caller.targets.on_offer(tx))
        left_out = set() if targets else {"memory_write"}
        if store.read_only:
            left_out |= set(MEMORY_TOOL_NAMES) - set(READS)
        if self._host_searches_alone:
            left_out.add("memory_search")
        return {name: targets for name in MEMORY_TOOL_NAMES if name not in left_out}

    @property
    def _host_searches_alone(self) -> bool:
        return self._caller.parts.config.retrieval.trigger.mode == "auto"

    def call(self, name: object, arguments: object, *, context: str | None = None) -> ToolResult:
        """Answer one call; ``context`` is the host's text for the query rewriter."""
        frame_id = self._caller.parts.new_id()
        known = name if isinstance(name, str) and name in MEMORY_TOOL_NAMES else NO_TOOL
        try:
            return self._answered(known, arguments, frame_id, context)
        except Exception as failure:  # whatever breaks, a model's loop must go on and be told
            logger.error(  # noqa: TRY400  # a message of others could carry what memories say
                "a tool call failed",
                extra={"tool": known, "error": type(failure).__name__, "at": _place_of(failure)},
            )
            return _error_result(known, frame_id, answers.failure_data())

    def _answered(
        self, name: str, arguments: object, frame_id: str, context: str | None
    ) -> ToolResult:
        try:
            text, data = self._handled(name, arguments, frame_id, context)
        except RetoldError as refusal:
            _log_refusal(name, refusal)
            return _error_result(name, frame_id, _explained(answers.error_data(refusal)))
        return ToolResult(name, text, data)

    def _handled(self, name: str, arguments: object, frame_id: str, context: str | None) -> Answer:
        if name == NO_TOOL or (name == "memory_search" and self._host_searches_alone):
            raise answers.UnknownTool(allowed=list(self.on_offer()))
        self._guard()
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


def _log_refusal(name: str, refusal: RetoldError) -> None:
    """Tell operators in full what a model is told the kind of; our messages hold no content."""
    facts = {"tool": name, "code": refusal.code}
    if isinstance(refusal, RequestError):
        logger.info("a tool call was refused", extra=facts)
    else:
        logger.warning("a tool could not be served", extra={**facts, "reason": refusal.message})


def _place_of(failure: Exception) -> str:
    """Return the file and line that raised."""
    frames = traceback.extract_tb(failure.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown"


def _error_result(name: str, frame_id: str, error: dict[str, JSON]) -> ToolResult:
    text = render.error_text(name, fence_token(frame_id), error)
    return ToolResult(name, text, {"error": error}, is_error=True)


def _explained(error: dict[str, Any]) -> dict[str, JSON]:
    """Return an error in the words of the tools, with the argument that mends a missing subject."""
    field = error.get("field")
    if field in _OWN_WORDS:
        error["message"] = _OWN_WORDS[field]
    if field == "about" or (error["code"] == InvalidSubject.code and field != "attribute"):
        error["example"] = ABOUT_EXAMPLE
    return error
