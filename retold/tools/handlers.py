"""One call path for all five tools: parse, handle, answer; nothing is ever raised."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from retold.config import RetoldConfig
from retold.config.base import JSON
from retold.errors import InvalidSubject, NotFound, RetoldError, StoreUnavailable
from retold.ingest.ingestor import Ingestor
from retold.ingest.revision import Revision
from retold.models import EntityMention, Principal, Record, SearchRequest, WriteRequest, WriteResult
from retold.protocols import RecordActivator
from retold.retrieve import lookup
from retold.retrieve.render import fence_token, short_ids
from retold.retrieve.retriever import Retriever
from retold.store import Store, Transaction
from retold.text.frames import MEMORY_TOOL_NAMES
from retold.tools import answers, parsing, render
from retold.tools.answers import ToolResult
from retold.tools.inputs import (
    MAX_K,
    ConfirmInput,
    EntityInput,
    ExpireInput,
    MergeInput,
    SupersedeInput,
)
from retold.tools.shown import PREFIX, ShownIds, bare_id, is_short, the_one
from retold.tools.targets import WriteTargets
from retold.util import IdSource

logger = logging.getLogger(__name__)

MAX_RELATED: Final = 60
"""Other versions and conflicting records shown by one memory_get, the newest first."""

WRITES: Final = ("memory_write", "memory_revise", "memory_forget")
ABOUT_EXAMPLE: Final = {"entities": [{"kind": "person", "name": "Priya", "role": "about"}]}

Answer = tuple[str, dict[str, JSON]]
"""Text and data."""


@dataclass(frozen=True, slots=True)
class ToolParts:
    """What the handlers work with; the same for every conversation of a process."""

    config: RetoldConfig
    store: Store
    ingestor: Ingestor
    revision: Revision
    retriever: Retriever
    activator: RecordActivator
    shown: ShownIds
    new_id: IdSource


class ToolHandlers:
    """The five tools for one principal.

    ``call`` answers whatever a model sends, and raises nothing: a refusal says how to correct the
    call, and after one nothing is stored. ``guard`` raises while the conversation is over.
    """

    def __init__(
        self,
        parts: ToolParts,
        principal: Principal,
        targets: WriteTargets,
        guard: Callable[[], None],
    ) -> None:
        """Bind the parts to a principal."""
        self._parts = parts
        self._principal = principal
        self._targets = targets
        self._guard = guard
        self._handlers: Mapping[str, Callable[[dict[str, Any], str, str | None], Answer]] = {
            "memory_search": self._search,
            "memory_get": self._get,
            "memory_write": self._write,
            "memory_revise": self._revise,
            "memory_forget": self._forget,
        }

    def on_offer(self) -> dict[str, tuple[str, ...]]:
        """Return the tools that may be called now, each with its symbolic write targets."""
        if self._parts.store.read_only:
            return dict.fromkeys(MEMORY_TOOL_NAMES[:2], ())
        with self._parts.store.read() as tx:
            targets = tuple(self._targets.on_offer(tx))
        offered = dict.fromkeys(MEMORY_TOOL_NAMES, targets)
        if not targets:
            del offered["memory_write"]
        return offered

    @property
    def default_k(self) -> int:
        """Return how many memories a search returns that asks for no number."""
        return min(self._parts.config.retrieval.default_k, MAX_K)

    def call(self, name: object, arguments: object, *, context: str | None = None) -> ToolResult:
        """Answer one call; ``context`` is the host's text for the query rewriter."""
        frame_id = self._parts.new_id()
        known = name if isinstance(name, str) and name in MEMORY_TOOL_NAMES else "memory_tool"
        try:
            if known not in self._handlers:
                return _unknown(str(name), fence_token(frame_id))
            text, data = self._handled(known, arguments, frame_id, context)
            return ToolResult(known, text, data)
        except RetoldError as refusal:
            error = _with_example(answers.error_data(refusal))
            logger.info("a tool call was refused", extra={"tool": known, "code": refusal.code})
        except Exception as failure:  # whatever breaks: a model's loop must go on and be told
            error = _failure()
            logger.error(  # noqa: TRY400  # a traceback could carry what memories say
                "a tool call failed", extra={"tool": known, "error": type(failure).__name__}
            )
        return ToolResult(known, _error_text(known, frame_id, error), error, is_error=True)

    def _handled(self, name: str, arguments: object, frame_id: str, context: str | None) -> Answer:
        self._guard()
        if name in WRITES and self._parts.store.read_only:
            raise StoreUnavailable
        return self._handlers[name](parsing.as_object(arguments), frame_id, context)

    # -- the five tools ------------------------------------------------------------------------

    def _search(self, arguments: dict[str, Any], frame_id: str, context: str | None) -> Answer:
        given = parsing.parse_search(arguments)
        request = SearchRequest(
            queries=tuple(given.queries),
            k=given.k or self.default_k,
            context=context,
            types=tuple(given.types) or None,
            entities=tuple(given.entities) or None,
            since=given.since,
            until=given.until,
            include_history=given.include_history,
        )
        response = self._parts.retriever.search(self._principal, request)
        self._note(result.record.id for result in response.results)
        self._note(one for r in response.results for one in r.explanation.conflicts_with)
        return response.text, answers.search_data(response)

    def _get(self, arguments: dict[str, Any], frame_id: str, context: str | None) -> Answer:
        given = parsing.parse_get(arguments)
        asked = {one: self._full_id(one, "ids") for one in dict.fromkeys(given.ids)}
        with self._parts.store.read() as tx:
            found = lookup.get(tx, self._principal, list(asked.values()))
            missing = [one for one, full in asked.items() if full in found.missing]
            if not found.found:
                raise _not_found(missing)
            related = self._related(tx, found)
            entities = {
                entity.id: entity
                for view in found
                for entity_id in view.entity_ids
                if (entity := tx.entities.get(entity_id)) is not None
            }
        text = render.get_text(found.found, related, entities, missing, frame_id=frame_id)
        self._note(one for view in found for one in render.related_ids(view))
        records = [
            {
                **answers.record_data(view),
                "entities": [
                    {"entity_id": one, "kind": entities[one].kind, "name": entities[one].canonical}
                    for one in view.entity_ids
                    if one in entities
                ],
            }
            for view in found
        ]
        others = [answers.record_data(view) for view in related.values()]
        return text, {
            "records": answers.plain(records),
            "related": answers.plain(others),
            "missing": answers.plain(missing),
        }

    def _write(self, arguments: dict[str, Any], frame_id: str, context: str | None) -> Answer:
        given = parsing.parse_write(arguments)
        if given.attribute is None and given.type != "episodic":
            raise InvalidSubject(
                f"a {given.type} memory needs an attribute: the name of the one current value it "
                "is, such as home_city",
                field="attribute",
            )
        with self._parts.store.read() as tx:
            scope = self._targets.resolve(tx, given.write_target)
        request = WriteRequest(
            type=given.type,
            content=given.content,
            attribute=given.attribute,
            scope=scope,
            source_kind=given.source_kind,
            evidence=given.evidence,
            mentions=tuple(map(_mention, given.entities)),
            event_at=given.event_at,
            tags=tuple(given.tags),
        )
        return self._written(
            "memory_write", self._parts.ingestor.write(self._principal, request), frame_id
        )

    def _revise(self, arguments: dict[str, Any], frame_id: str, context: str | None) -> Answer:
        given = parsing.parse_revise(arguments)
        revision, who = self._parts.revision, self._principal
        if isinstance(given, MergeInput):
            return self._merged(given, frame_id)
        record_id = self._full_id(given.id, "id")
        try:
            match given:
                case SupersedeInput():
                    result = revision.supersede(
                        who,
                        record_id,
                        content=given.content,
                        reason=given.reason,
                        source_kind=given.source_kind,
                        quote=given.evidence,
                        evidence_turn=given.evidence_turn,
                    )
                    return self._written("memory_revise", result, frame_id)
                case ConfirmInput():
                    record = revision.confirm(
                        who, record_id, reason=given.reason, quote=given.evidence, trusted=False
                    )
                case ExpireInput():
                    record = revision.expire(who, record_id, reason=given.reason)
        except NotFound:
            raise _not_found([given.id]) from None
        return self._changed("memory_revise", record, frame_id)

    def _forget(self, arguments: dict[str, Any], frame_id: str, context: str | None) -> Answer:
        given = parsing.parse_forget(arguments)
        record_id = self._full_id(given.id, "id")
        try:
            record = self._parts.revision.forget(self._principal, record_id, reason=given.reason)
        except NotFound:
            raise _not_found([given.id]) from None
        return self._changed("memory_forget", record, frame_id)

    # -- what they share -----------------------------------------------------------------------

    def _merged(self, given: MergeInput, frame_id: str) -> Answer:
        touched = self._parts.revision.merge(
            self._principal,
            bare_id(given.entity_id, "entity_id"),
            bare_id(given.merge_into, "merge_into"),
            reason=given.reason,
        )
        token = fence_token(frame_id)
        lines = [
            f"merged {render.inline(given.entity_id, token)} into "
            f"{render.inline(given.merge_into, token)}; {len(touched)} records moved"
        ]
        data = {
            "outcome": "merged",
            "entity_id": given.entity_id,
            "merge_into": given.merge_into,
            "record_ids": touched,
        }
        return render.result_text("memory_revise", token, lines), {
            key: answers.plain(value) for key, value in data.items()
        }

    def _written(self, name: str, result: WriteResult, frame_id: str) -> Answer:
        activation, reason = self._parts.activator.activate_written(
            self._principal, result.record_id, actor=self._principal.agent_id
        )
        self._note((result.record_id, *result.other_ids))
        token = fence_token(frame_id)
        data: dict[str, object] = {
            "record_id": result.record_id,
            "status": result.status,
            "outcome": result.outcome,
            "note": result.note,
            "source_kind": result.source_kind,
            "other_ids": result.other_ids,
            "activation": activation,
            "activation_reason": reason,
            "timings_ms": result.timings_ms,
        }
        lines = render.write_lines(result, activation, token)
        return render.result_text(name, token, lines), {
            key: answers.plain(value) for key, value in data.items()
        }

    def _changed(self, name: str, record: Record, frame_id: str) -> Answer:
        self._note((record.id,))
        outcome = {"deleted": "forgotten"}.get(record.status, record.status)
        short = PREFIX + short_ids((record.id,))[record.id]
        text = render.result_text(name, fence_token(frame_id), [f"{short} is {outcome} now"])
        return text, {"record_id": record.id, "status": record.status, "outcome": outcome}

    def _related(self, tx: Transaction, found: lookup.Lookup) -> dict[str, lookup.RecordView]:
        own = {view.id for view in found}
        wanted = [
            one
            for view in found
            for one in reversed(render.related_ids(view)[1:])
            if one not in own
        ]
        ids = list(dict.fromkeys(wanted))[:MAX_RELATED]
        if not ids:
            return {}
        return {view.id: view for view in lookup.get(tx, self._principal, ids)}

    def _full_id(self, given: str, field: str) -> str:
        """Return the full id for an id as a model wrote it."""
        bare = bare_id(given, field)
        if not is_short(bare):
            return bare
        return the_one(self._parts.shown.ending_with(self._principal, bare), bare, field)

    def _note(self, record_ids: Iterable[str]) -> None:
        self._parts.shown.note(self._principal, record_ids)


def _mention(given: EntityInput) -> EntityMention:
    return EntityMention(given.kind, given.name, given.role, given.entity_id)


def _not_found(given: list[str]) -> NotFound:
    """Return one refusal for missing, unreadable and unwritable ids, as the model wrote them."""
    named = ", ".join(repr(one) for one in given)
    return NotFound(f"no record {named}; search again and use an id as it was shown")


def _with_example(data: dict[str, Any]) -> dict[str, JSON]:
    """Return an error with the argument that mends it, where the subject is what is missing."""
    error = data["error"]
    nobody = error["code"] == InvalidSubject.code and error.get("field") != "attribute"
    if error.get("field") == "about":
        error["message"] = (
            "the content opens with a name that is not the user's; say whom it is about"
        )
    if nobody or error.get("field") == "about":
        error["example"] = ABOUT_EXAMPLE
    return data


def _failure() -> dict[str, JSON]:
    message = "the memory failed; go on without it and tell the user"
    return {"error": {"code": answers.INTERNAL, "message": message}}


def _unknown(name: str, token: str) -> ToolResult:
    error: dict[str, JSON] = {
        "code": answers.UNKNOWN_TOOL,
        "message": "there is no such tool here",
        "allowed": list(MEMORY_TOOL_NAMES),
    }
    text = render.error_text("memory_tool", token, error)
    return ToolResult(answers.well_formed(name[:100]), text, {"error": error}, is_error=True)


def _error_text(name: str, frame_id: str, error: Mapping[str, Any]) -> str:
    return render.error_text(name, fence_token(frame_id), error["error"])
