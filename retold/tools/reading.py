"""The tools that only read: memory_search and memory_get."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from retold.config.base import JSON
from retold.models import Entity, SearchRequest
from retold.retrieve import lookup
from retold.retrieve.lookup import Lookup, RecordView
from retold.store import Transaction
from retold.tools import answers, parsing, render
from retold.tools.caller import Answer, Caller, not_found
from retold.tools.shown import ids_in

MAX_RELATED: Final = 60
"""Other versions and conflicting records that one memory_get shows in full."""


def search(caller: Caller, arguments: Mapping[str, Any], context: str | None) -> Answer:
    """Answer memory_search. Raises InvalidInput and what the retriever raises."""
    given = parsing.parse_search(arguments)
    request = SearchRequest(
        queries=tuple(given.queries),
        k=given.k or caller.default_k,
        context=context,
        types=tuple(given.types) or None,
        entities=tuple(given.entities) or None,
        since=given.since,
        until=given.until,
        include_history=given.include_history,
    )
    response = caller.parts.retriever.search(caller.principal, request)
    caller.note(ids_in(response))
    return response.text, answers.search_data(response)


def get(caller: Caller, arguments: Mapping[str, Any], frame_id: str) -> Answer:
    """Answer memory_get. Raises InvalidInput, NotFound when none of the ids is readable."""
    given = parsing.parse_get(arguments)
    asked = {one: caller.full_id(one, "ids") for one in dict.fromkeys(given.ids)}
    with caller.parts.store.read() as tx:
        found = lookup.get(tx, caller.principal, list(asked.values()))
        missing = [one for one, full in asked.items() if full in found.missing]
        if not found.found:
            raise not_found(missing)
        related = _related(tx, caller, found)
        entities = _entities(tx, found)
    caller.note(one for view in found for one in render.related_ids(view))
    text = render.get_text(found.found, related, entities, missing, frame_id=frame_id)
    return text, answers.plain_object(
        {
            "records": [_record_data(view, entities) for view in found],
            "related": [answers.record_data(view) for view in related.values()],
            "missing": missing,
        }
    )


def _related(tx: Transaction, caller: Caller, found: Lookup) -> dict[str, RecordView]:
    """Return other versions and conflicting records of what was found, by id."""
    own = {view.id for view in found}
    wanted = (one for view in found for one in reversed(render.related_ids(view)))
    ids = [one for one in dict.fromkeys(wanted) if one not in own][:MAX_RELATED]
    return {view.id: view for view in lookup.get(tx, caller.principal, ids)} if ids else {}


def _entities(tx: Transaction, found: Lookup) -> dict[str, Entity]:
    """Return the linked entities by id; a view holds the readable ones only."""
    linked = dict.fromkeys(one for view in found for one in view.entity_ids)
    known = [tx.entities.get(entity_id) for entity_id in linked]
    return {entity.id: entity for entity in known if entity is not None}


def _record_data(view: RecordView, entities: Mapping[str, Entity]) -> dict[str, JSON]:
    linked = [
        {"entity_id": one, "kind": entities[one].kind, "name": entities[one].canonical}
        for one in view.entity_ids
        if one in entities
    ]
    return {**answers.record_data(view), "entities": answers.plain(linked)}
