"""The audit trail's row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """One append-only audit entry: codes, ids, counts and digests, never content.

    ``seq`` and ``hash`` are set once stored. The hash covers seq, id, at, kind, the payload's
    digest and the previous hash; actor and ids live in ``event_refs`` beside it.
    """

    id: str
    at: datetime
    kind: str
    actor: str
    record_id: str | None = None
    entity_id: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    seq: int | None = None
    hash: str | None = None
