"""People, projects and things that memories are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from retold.models.identity import Scope

EntityKind = Literal["person", "project", "org", "repo", "product", "other"]
ENTITY_KINDS: tuple[EntityKind, ...] = get_args(EntityKind)
EntityStatus = Literal["provisional", "confirmed", "merged", "deleted"]
LinkRole = Literal["about", "mentions"]
ResolutionOutcome = Literal["explicit", "resolved", "created", "ambiguous", "twinned"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A named subject inside one scope. ``aliases`` are normalised, sorted.

    ``principal_user_id`` marks the person entity that stands for a user in that scope.
    """

    id: str
    kind: EntityKind
    canonical: str = field(repr=False)
    scope: Scope
    status: EntityStatus
    merged_into: str | None
    principal_user_id: str | None
    aliases: tuple[str, ...] = field(repr=False)
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A subject as the writer named it. An ``entity_id`` skips alias resolution."""

    kind: EntityKind
    text: str = field(repr=False)
    role: LinkRole
    entity_id: str | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of a mention.

    ``entity`` is None when the mention is ambiguous (``candidates`` lists entity ids) or when it
    is to be created under the write lock (outcome ``created`` or ``twinned``).
    """

    mention: EntityMention
    entity: Entity | None
    outcome: ResolutionOutcome
    candidates: tuple[str, ...] = ()
