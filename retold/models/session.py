"""Conversations and their turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from retold.models.record import SourceKind

TurnRole = Literal["user", "assistant", "tool"]
TURN_ROLES: tuple[TurnRole, ...] = get_args(TurnRole)
TurnOrigin = Literal["dialogue", "tool", "memory_tool", "recall", "summary", "host"]
EVIDENCE_ORIGINS: tuple[TurnOrigin, ...] = ("dialogue", "tool")
EndedBy = Literal["host", "idle"]


@dataclass(frozen=True, slots=True)
class Session:
    """One segment of a conversation.

    ``external_id`` is the host's id; ``segment`` counts from 1 and grows when an ended
    conversation goes on. All segments share ``conversation_id`` (the id of segment 1).
    """

    id: str
    external_id: str
    segment: int
    conversation_id: str
    agent_id: str
    user_id: str
    project_id: str | None
    started_at: datetime
    last_turn_at: datetime | None
    ended_at: datetime | None
    ended_by: EndedBy | None
    extraction_requested_at: datetime | None
    extracted_at: datetime | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. ``turn`` counts from 1 within its session segment."""

    session_id: str
    turn: int
    role: TurnRole
    content: str = field(repr=False)
    at: datetime
    origin: TurnOrigin = "dialogue"
    name: str | None = field(default=None, repr=False)
    tool_name: str | None = None
    external_key: str | None = None

    @property
    def is_evidence(self) -> bool:
        """Return whether a quote of this turn may back a claim."""
        return self.origin in EVIDENCE_ORIGINS


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    """Whether a quote exists, where, and which source kind it can carry.

    ``score`` is None when support was not scored; ``supported`` is False only when a score was
    measured and lies below the floor. ``note`` says why a claimed kind was lowered. ``before`` is
    what was said shortly before the quote, in its turn and in those before it.
    """

    found: bool
    turn: Turn | None
    span: tuple[int, int] | None
    source_kind: SourceKind
    score: float | None = None
    supported: bool = True
    judge: str | None = None
    note: str | None = None
    before: str = field(default="", repr=False)
