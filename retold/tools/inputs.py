"""What a model may send to each tool; the schemas are made from these models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core.core_schema import ValidationInfo

from retold.errors import InvalidInput
from retold.ingest.admission import (
    MAX_ATTRIBUTE_CHARS,
    MAX_CONTENT_CHARS,
    MAX_EVIDENCE_CHARS,
    MAX_MENTIONS,
    MAX_REASON_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
)
from retold.ingest.entities import MAX_NAME_CHARS
from retold.models import EntityKind, LinkRole, MemoryType
from retold.retrieve.request import MAX_ENTITIES, MAX_QUERIES, MAX_QUERY_CHARS, checked_moment
from retold.text import MAX_ID_CHARS, require_text

MAX_K: Final = 20
MAX_GET_IDS: Final = 20

ModelSourceKind = Literal["user_statement", "tool_result", "agent_inference"]
"""What a model may claim; the host and the extractor write the other kinds."""

CONTENT: Final = (
    "One fact in one plain sentence that names its subject, such as 'The user lives in Porto'."
)
EVIDENCE: Final = (
    "Verbatim quote from this conversation that states the fact: copy it from one message, "
    "unchanged."
)
SOURCE_KIND: Final = (
    "user_statement when the user said it, tool_result when a tool of yours returned it, "
    "agent_inference when you conclude it."
)
REASON: Final = "Why, in a few words; kept in the audit trail."
RECORD_ID: Final = "A record id as a memory tool showed it, such as mem_1a2b3c4d."


def _filled(value: str, info: ValidationInfo) -> str:
    return require_text(value, info.field_name or "text", MAX_QUERY_CHARS)


def _moment(value: object, info: ValidationInfo) -> datetime | None:
    name = info.field_name or "moment"
    try:
        moment = datetime.fromisoformat(value.strip() if isinstance(value, str) else "")
    except ValueError:
        raise InvalidInput(
            f"`{name}` is no ISO 8601 date and time; pass the like of 2026-03-19T09:00:00+00:00."
        ) from None
    return checked_moment(moment, name)


def _whole(value: object) -> object:
    """Take 8.0 for 8: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_FILLED: Final = AfterValidator(_filled)

Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Count = Annotated[int, Field(ge=1, le=MAX_K), BeforeValidator(_whole)]
TurnNumber = Annotated[int, Field(ge=1), BeforeValidator(_whole)]
Query = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS), _FILLED]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS), _FILLED]
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARS), _FILLED]
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS), _FILLED]
Attribute = Annotated[str, Field(min_length=1, max_length=MAX_ATTRIBUTE_CHARS), _FILLED]
Reason = Annotated[
    str, Field(min_length=1, max_length=MAX_REASON_CHARS, description=REASON), _FILLED
]
Quote = Annotated[
    str, Field(min_length=1, max_length=MAX_EVIDENCE_CHARS, description=EVIDENCE), _FILLED
]
Content = Annotated[
    str, Field(min_length=1, max_length=MAX_CONTENT_CHARS, description=CONTENT), _FILLED
]


class ToolInput(BaseModel):
    """Values are never coerced, and unknown fields are refused. A repr shows no field."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def __repr_args__(self) -> tuple[()]:
        return ()


class SearchInput(ToolInput):
    """Arguments of memory_search."""

    queries: list[Query] = Field(
        min_length=1,
        max_length=MAX_QUERIES,
        description="One to three standalone search phrases. Write them as if to a colleague: "
        "name the subject, not the pronoun.",
    )
    types: list[MemoryType] = Field(
        default=[],
        description="Only memories of these types: semantic (facts and preferences), episodic "
        "(what happened or was decided), procedural (how something is done). Omit for all.",
    )
    entities: list[Name] = Field(
        default=[],
        max_length=MAX_ENTITIES,
        description="Names of people, projects or repositories the task is about.",
    )
    since: Moment | None = Field(
        default=None, description="Only what happened at or after this moment, with UTC offset."
    )
    until: Moment | None = Field(
        default=None, description="Only what happened before this moment, with UTC offset."
    )
    k: Count | None = Field(default=None, description="Most memories to return.")
    include_history: bool = Field(
        default=False, description="Also return what was replaced or has expired."
    )


class GetInput(ToolInput):
    """Arguments of memory_get."""

    ids: list[Id] = Field(
        min_length=1,
        max_length=MAX_GET_IDS,
        description="Record ids as a memory tool showed them, such as mem_1a2b3c4d.",
    )


class EntityInput(ToolInput):
    """Somebody or something a memory concerns."""

    kind: EntityKind = Field(description="What it is.")
    name: Name = Field(description="Its name, such as Priya or acme/website.")
    role: LinkRole = Field(
        description="about for the subject of the memory, mentions for what it also names."
    )
    entity_id: Id | None = Field(
        default=None,
        description="Pass this when an earlier call answered entity_ambiguous, or when memory_get "
        "showed you the exact entity.",
    )


class WriteInput(ToolInput):
    """Arguments of memory_write."""

    type: MemoryType = Field(
        description="semantic for a fact or preference, episodic for an event or a decision with "
        "its reason, procedural for how something is to be done."
    )
    content: Content
    attribute: Attribute | None = Field(
        default=None,
        description="Names the one current value this is, such as home_city or timezone: a new "
        "value replaces the old one. Required for semantic and procedural memories. Any entity "
        "prefix is ignored.",
    )
    write_target: str | None = Field(
        default=None, description="Where to keep it. Omit this field to use personal memory."
    )
    source_kind: ModelSourceKind = Field(default="user_statement", description=SOURCE_KIND)
    evidence: Quote | None = Field(
        default=None,
        description=EVIDENCE + " Without one the memory stays unconfirmed and expires.",
    )
    event_at: Moment | None = Field(
        default=None,
        description="When it happened, with UTC offset; the time of the quoted message unless "
        "given.",
    )
    entities: list[EntityInput] = Field(
        default=[],
        max_length=MAX_MENTIONS,
        description="Whom and what it concerns. Without one it is about the user.",
    )
    tags: list[Tag] = Field(default=[], max_length=MAX_TAGS, description="Short labels.")


class ConfirmInput(ToolInput):
    """Arguments of memory_revise that confirm an unconfirmed record."""

    id: Id = Field(description=RECORD_ID)
    action: Literal["confirm"]
    reason: Reason
    evidence: Quote


class SupersedeInput(ToolInput):
    """Arguments of memory_revise that replace a record by a new statement."""

    id: Id = Field(description=RECORD_ID)
    action: Literal["supersede"]
    reason: Reason
    content: Content
    source_kind: ModelSourceKind = Field(default="user_statement", description=SOURCE_KIND)
    evidence: Quote | None = None
    evidence_turn: TurnNumber | None = Field(
        default=None,
        description="Number of the message the quote stands in; a hint, never decisive.",
    )


class ExpireInput(ToolInput):
    """Arguments of memory_revise that take a record out of use."""

    id: Id = Field(description=RECORD_ID)
    action: Literal["expire"]
    reason: Reason


class MergeInput(ToolInput):
    """Arguments of memory_revise that make two entities one."""

    entity_id: Id = Field(description="Merging only: the entity that goes, by its full id.")
    merge_into: Id = Field(description="Merging only: the entity that stays, by its full id.")
    reason: Reason


class ForgetInput(ToolInput):
    """Arguments of memory_forget."""

    id: Id = Field(description=RECORD_ID)
    reason: Reason


REVISIONS: Final[dict[str, type[ConfirmInput] | type[SupersedeInput] | type[ExpireInput]]] = {
    "confirm": ConfirmInput,
    "supersede": SupersedeInput,
    "expire": ExpireInput,
}
RevisionInput = ConfirmInput | SupersedeInput | ExpireInput | MergeInput
