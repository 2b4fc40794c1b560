"""What a search request must look like before anything is looked up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

from retold.errors import InvalidInput
from retold.models import MEMORY_TYPES, MemoryType, SearchRequest, Trigger
from retold.store.codec import in_utc
from retold.text import require_bool, require_text

MAX_QUERIES = 3
MAX_QUERY_CHARS = 100_000
"""A pasted page is a query; a pasted book is a mistake."""
MAX_ENTITIES = 64
MAX_ENTITY_CHARS = 200


def checked_request(request: SearchRequest) -> SearchRequest:
    """Return the request with tuples for lists and moments in UTC.

    Raises InvalidInput naming the field and the choices: one to three queries that are not blank,
    k of at least 1, known types, named entities, aware moments, a window that is not empty.
    """
    queries = _texts(request.queries, "queries", MAX_QUERIES, MAX_QUERY_CHARS)
    if type(request.k) is not int or request.k < 1:
        raise InvalidInput("`k` must be a whole number of at least 1.", field="k")
    require_bool(request.include_history, "include_history")
    if request.trigger not in get_args(Trigger):
        raise InvalidInput(f"`trigger` must be one of {get_args(Trigger)}.", field="trigger")
    since = checked_moment(request.since, "since")
    until = checked_moment(request.until, "until")
    if since is not None and until is not None and since >= until:
        raise InvalidInput("`since` must lie before `until`; `until` is exclusive.", field="since")
    entities = request.entities
    if entities is not None:
        entities = _texts(entities, "entities", MAX_ENTITIES, MAX_ENTITY_CHARS)
    return replace(
        request,
        queries=queries,
        context=_context(request.context),
        types=_types(request.types),
        entities=entities,
        since=since,
        until=until,
        known_at=checked_moment(request.known_at, "known_at"),
        as_of=checked_moment(request.as_of, "as_of"),
    )


def _texts(values: object, field: str, most: int, max_chars: int) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        kind = "string" if isinstance(values, str) else type(values).__name__
        raise InvalidInput(f"`{field}` must be a list of strings, not one {kind}.", field=field)
    texts = tuple(values)
    if not 1 <= len(texts) <= most:
        raise InvalidInput(f"`{field}` must hold 1 to {most} strings.", field=field)
    return tuple(require_text(text, field, max_chars) for text in texts)


def _context(context: str | None) -> str | None:
    """Return the host's text with lone surrogates replaced: it is logged, never searched."""
    if context is not None and not isinstance(context, str):
        raise InvalidInput("`context` must be a string or None.", field="context")
    return context and context.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ")


def _types(types: object) -> tuple[MemoryType, ...] | None:
    if types is None:
        return None
    chosen: tuple[MemoryType, ...] = ()
    if isinstance(types, Iterable) and not isinstance(types, str):
        named = list(types)
        chosen = tuple(dict.fromkeys(named)) if all(isinstance(one, str) for one in named) else ()
    unknown = [name for name in chosen if name not in MEMORY_TYPES]
    if unknown or not chosen:
        choices = ", ".join(MEMORY_TYPES)
        raise InvalidInput(f"`types` must name some of {choices}; None means all.", field="types")
    return chosen


def checked_moment(moment: datetime | None, field: str) -> datetime | None:
    """Return the moment in UTC; None stays None. Raises InvalidInput with a corrected example."""
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        raise InvalidInput(f"`{field}` must be a datetime with a UTC offset.", field=field)
    if moment.tzinfo is None or moment.utcoffset() is None:
        corrected = moment.replace(tzinfo=UTC).isoformat()
        raise InvalidInput(
            f"`{field}` has no UTC offset; pass the like of {corrected}.", field=field
        )
    return in_utc(moment)
