"""The objects a model is asked to answer with, and the schemas it is sent for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from retold.models import EntityKind, MemoryType, ReviewOutcome

ModelSource = Literal["user_statement", "tool_result", "agent_inference"]
_UNUSED: Final = ("title", "default", "properties")


class Reply(BaseModel):
    """A closed object of a model's answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MentionReply(Reply):
    """A person or thing that a claim is about or mentions."""

    name: str = Field(description="As the transcript writes it.")
    kind: EntityKind
    role: Literal["about", "mentions"]


class CandidateReply(Reply):
    """One fact worth keeping."""

    type: MemoryType
    content: str = Field(description="One sentence that stands alone.")
    quote: str = Field(description="Copied to the letter from one line.")
    line: int | None = Field(default=None, description="The number of that line.")
    source_kind: ModelSource | None = None
    attribute: str | None = Field(default=None, description="snake_case, such as home_city.")
    entities: tuple[MentionReply, ...] = ()
    event_at: str | None = Field(default=None, description="ISO 8601 with an offset.")
    valid_from: str | None = Field(default=None, description="ISO 8601 with an offset.")
    valid_until: str | None = Field(default=None, description="ISO 8601 with an offset.")
    review_at: str | None = Field(default=None, description="ISO 8601 with an offset.")
    confidence: float | None = Field(default=None, description="From 0 to 1.")
    updates: str | None = Field(default=None, description="Label of a known record, such as K1.")


class SummaryReply(Reply):
    """What happened."""

    content: str
    decisions: tuple[str, ...] = ()


class ExtractionReply(Reply):
    """The answer to the extraction prompt."""

    candidates: tuple[CandidateReply, ...]
    summary: SummaryReply


class RevisionReply(Reply):
    """Fields to be stored otherwise than proposed; null leaves one as it is."""

    content: str | None = None
    attribute: str | None = None
    valid_from: str | None = Field(default=None, description="ISO 8601 with an offset.")
    valid_until: str | None = Field(default=None, description="ISO 8601 with an offset.")
    review_at: str | None = Field(default=None, description="ISO 8601 with an offset.")
    confidence: float | None = Field(default=None, description="From 0 to 1, never higher.")


class DecisionReply(Reply):
    """What becomes of one candidate."""

    candidate: int = Field(description="The number of the candidate.")
    outcome: ReviewOutcome
    reason: str = Field(description="One short sentence.")
    revision: RevisionReply | None = None


class ReviewReply(Reply):
    """The answer to the review prompt."""

    decisions: tuple[DecisionReply, ...]


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return a JSON schema that every provider accepts.

    Every object is closed and requires all its fields, optional ones are nullable, nothing is a
    reference, and there is no union at the root.
    """
    schema = model.model_json_schema()
    shared = schema.pop("$defs", {})
    closed = _closed(schema, shared)
    assert isinstance(closed, dict)  # an object stays one
    return closed


def _closed(value: object, shared: Mapping[str, Any]) -> object:
    if isinstance(value, list):
        return [_closed(item, shared) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _closed(shared[value["$ref"].rpartition("/")[2]], shared)
    kept = {key: _closed(item, shared) for key, item in value.items() if key not in _UNUSED}
    if "properties" in value:
        properties = {name: _closed(one, shared) for name, one in value["properties"].items()}
        kept |= {
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    return kept
