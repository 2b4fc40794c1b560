"""Reading what an extractor answered.

The schema is strict; the reading is not. A candidate that is not as it must be costs only itself,
null is what is left out, and a field that nobody asked for is ignored, except one that names
another place to store: a proposal never chooses its scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from math import isnan
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from retold.errors import InvalidCompletion
from retold.ingest.extraction.schemas import CandidateReply, MentionReply
from retold.models import (
    CandidateRecord,
    EntityMention,
    KnownRecord,
    RejectedCandidate,
    RejectionReason,
    SessionSummary,
)

LineNumber = int
T = TypeVar("T", bound=BaseModel)

_PLACES: Final = frozenset(
    "scope scope_id scopes write_target user_id agent_id project_id principal owner".split()
)
_HINTS: Final = {"line": int, "confidence": int | float, "updates": str, "entities": list | tuple}
MOST_CANDIDATES: Final = 1000
"""A model that lists more repeats itself. Every refusal is kept, and writing millions of them would
hold everybody else up for minutes."""

_DATE_CHARS: Final = len("2026-03-01")


@dataclass(frozen=True, slots=True)
class ReadExtraction:
    """One answer as read: candidates with their positions, what could not be read, a summary."""

    candidates: tuple[tuple[int, CandidateRecord], ...]
    rejected: tuple[RejectedCandidate, ...]
    summary: SessionSummary | None = field(repr=False)


def labels_of(records: Sequence[KnownRecord]) -> dict[str, KnownRecord]:
    """Return the records by the labels under which a model is shown them: K1, K2 and so on."""
    return {f"K{number}": record for number, record in enumerate(records, start=1)}


def read_extraction(
    value: Mapping[str, object],
    turns: Mapping[LineNumber, int],
    known: Mapping[str, KnownRecord],
    *,
    first_position: int = 0,
) -> ReadExtraction:
    """Return what a model's answer proposes. Never raises, whatever JSON ``value`` is made of.

    ``turns`` gives the turn number of each line that was shown, ``known`` the records by label.
    """
    candidates: list[tuple[int, CandidateRecord]] = []
    rejected: list[RejectedCandidate] = []
    for position, item in enumerate(_items(value), start=first_position):
        read = _candidate(item, turns, known)
        if isinstance(read, CandidateRecord):
            candidates.append((position, read))
        else:
            reason, detail = read
            rejected.append(RejectedCandidate(position, reason, detail))
    return ReadExtraction(tuple(candidates), tuple(rejected), _summary(value.get("summary")))


def require_extraction(value: Mapping[str, object]) -> None:
    """Raise InvalidCompletion for an answer that has no list of candidates, or an endless one."""
    candidates = value.get("candidates")
    if not isinstance(candidates, list | tuple):
        raise InvalidCompletion("the extractor's answer has no list `candidates`")
    if len(candidates) > MOST_CANDIDATES:
        raise InvalidCompletion(
            f"the extractor's answer has more than {MOST_CANDIDATES} candidates"
        )


def read_moment(text: str, *, ends: bool = False) -> datetime:
    """Return the moment that ISO 8601 text names; naive when it has no offset.

    A bare date is the first moment of that day in UTC, or with ``ends`` the first one after it; the
    last day of the calendar then stands for its end.
    Raises ValueError for anything else.
    """
    cleaned = text.strip()
    moment = datetime.fromisoformat(cleaned)
    try:
        if len(cleaned) != _DATE_CHARS:
            return moment if moment.tzinfo is None else moment.astimezone(UTC)
        if ends and moment.date() == date.max:  # how models write "for ever"
            return datetime.max.replace(tzinfo=UTC)
        day = moment.date() + timedelta(days=1) if ends else moment.date()
    except OverflowError:
        raise ValueError("beyond the calendar") from None
    return datetime.combine(day, time(), UTC)


def read_strictly(model: type[T], value: object) -> T | None:
    """Return the value as that model; None when it is anything else."""
    try:
        return model.model_validate(value)
    except (ValidationError, RecursionError):
        return None


def _items(value: Mapping[str, object]) -> Iterator[object]:
    found = value.get("candidates")
    if isinstance(found, list | tuple):
        yield from found


def _candidate(
    item: object, turns: Mapping[LineNumber, int], known: Mapping[str, KnownRecord]
) -> CandidateRecord | tuple[RejectionReason, str]:
    if not isinstance(item, Mapping):
        return "malformed_candidate", "not an object"
    places = sorted(str(key) for key in item if str(key).lower() in _PLACES and item[key])
    if places:
        return "foreign_scope", ", ".join(places)
    asked = _without_bad_hints(item)
    try:
        reply = CandidateReply.model_validate(asked)
    except ValidationError as invalid:
        fields = sorted({str(error["loc"][0]) for error in invalid.errors(include_input=False)})
        return "malformed_candidate", ", ".join(fields)
    return _record(reply, turns, known)


def _without_bad_hints(item: Mapping[str, object]) -> dict[str, object]:
    """Return the fields that were asked for, without the hints that cannot be read."""
    asked = {key: item[key] for key in CandidateReply.model_fields if item.get(key) is not None}
    for name, kinds in _HINTS.items():
        if name in asked and (isinstance(asked[name], bool) or not isinstance(asked[name], kinds)):
            del asked[name]
    entities = asked.get("entities")
    if isinstance(entities, list | tuple):
        asked["entities"] = [one for one in map(_mention_fields, entities) if one]
    return asked


def _mention_fields(value: object) -> dict[str, object] | None:
    """Return the fields of a mention; None drops one that cannot be read."""
    if not isinstance(value, Mapping):
        return None
    fields = {key: value[key] for key in MentionReply.model_fields if value.get(key) is not None}
    read = read_strictly(MentionReply, fields)
    return fields if read is not None and read.name.strip() else None


def _record(
    reply: CandidateReply, turns: Mapping[LineNumber, int], known: Mapping[str, KnownRecord]
) -> CandidateRecord | tuple[RejectionReason, str]:
    moments: dict[str, datetime | None] = {}
    for name in ("event_at", "valid_from", "valid_until", "review_at"):
        text = getattr(reply, name)
        try:
            moments[name] = read_moment(text, ends=name == "valid_until") if text else None
        except ValueError:
            return "malformed_candidate", name
    updated = known.get((reply.updates or "").strip().upper())
    return CandidateRecord(
        type=reply.type,
        content=reply.content,
        attribute=reply.attribute,
        source_kind=reply.source_kind or "user_statement",
        evidence=reply.quote,
        evidence_turn=None if reply.line is None else turns.get(reply.line),
        mentions=tuple(EntityMention(one.kind, one.name, one.role) for one in reply.entities),
        confidence=_within_bounds(reply.confidence),
        updates=None if updated is None else updated.record_id,
        **moments,
    )


def _within_bounds(confidence: float | None) -> float | None:
    if confidence is None or isnan(confidence):
        return None
    return min(max(confidence, 0.0), 1.0)


def _summary(value: object) -> SessionSummary | None:
    if isinstance(value, str):
        value = {"content": value}
    if not isinstance(value, Mapping):
        return None
    found = value.get("decisions")
    decisions = found if isinstance(found, list | tuple) else ()
    content = value.get("content")
    if not isinstance(content, str) or not content.strip():
        return None
    kept = tuple(each for each in decisions if isinstance(each, str) and each.strip())
    return SessionSummary(content, kept)
