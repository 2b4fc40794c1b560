"""What a tool answers: text for the model, data for the program."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from retold.config.base import JSON
from retold.errors import RequestError, RetoldError
from retold.models import Record, Scope, SearchResponse
from retold.retrieve.lookup import RecordView

RECORD_FIELDS: Final = tuple(one.name for one in dataclasses.fields(RecordView))


class UnknownTool(RequestError):
    """There is no such tool here."""

    code = "unknown_tool"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer of one tool call.

    ``text`` is what the model sees. ``data`` holds JSON values only: what was asked for, with full
    ids, or under ``error`` a code, a message and what helps to correct the call. After an error
    nothing was stored.
    """

    name: str = field(repr=False)
    text: str = field(repr=False)
    data: Mapping[str, JSON] = field(repr=False)
    is_error: bool = False

    @property
    def code(self) -> str | None:
        """Return the error's code; None for an answer."""
        error = self.data.get("error")
        return str(error["code"]) if self.is_error and isinstance(error, Mapping) else None


def well_formed(text: str) -> str:
    """Return the text with lone surrogates replaced, which no encoding carries."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def plain(value: object) -> JSON:
    """Return a value of ours as JSON: dataclasses as objects, moments as ISO 8601, scopes as text.

    Lone surrogates are replaced.
    """
    if isinstance(value, str):
        return well_formed(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Scope):
        return str(value)
    if isinstance(value, Mapping):
        return {well_formed(str(key)): plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, Sequence | set | frozenset):
        return [plain(item) for item in value]
    return well_formed(str(value))


def plain_object(values: Mapping[str, object]) -> dict[str, JSON]:
    """Return an object whose values are made plain."""
    return {key: plain(value) for key, value in values.items()}


def record_data(record: Record | RecordView) -> dict[str, JSON]:
    """Return what a caller may see of a record as JSON values."""
    return {name: plain(getattr(record, name)) for name in RECORD_FIELDS if hasattr(record, name)}


def search_data(response: SearchResponse) -> dict[str, JSON]:
    """Return a search as JSON values, with full ids and every field of the explanations."""
    return {
        "search_id": response.search_id,
        "results": [
            {
                **record_data(result.record),
                "score": result.score,
                "explanation": plain(result.explanation),
            }
            for result in response.results
        ],
        "empty_reason": plain(response.empty_reason),
        "degraded": plain(response.degraded),
        "waiting_sessions": response.waiting_sessions,
        "rewritten_queries": plain(response.rewritten_queries),
        "log": response.log,
        "timings_ms": plain(response.timings_ms),
    }


def error_data(error: RetoldError) -> dict[str, JSON]:
    """Return an error as JSON values: code, message and details.

    A request's own mistakes are told in full. Of everything else a model learns the kind only:
    messages about files and models are the operator's.
    """
    if not isinstance(error, RequestError):
        kind = inspect.getdoc(type(error)) or "the memory cannot be used now"
        return {"code": error.code, "message": kind.splitlines()[0]}
    details = {key: value for key, value in error.details.items() if value is not None}
    return plain_object({"code": error.code, "message": error.message, **details})


def failure_data() -> dict[str, JSON]:
    """Return the error of a call that broke for reasons that are nobody's request."""
    message = "the memory failed; go on without it and tell the user"
    return {"code": "internal_error", "message": message}
