"""A turn as a host hands it over, and what it must be to be stored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from retold.errors import InvalidInput
from retold.ingest.origin import origin_of
from retold.models import TURN_ROLES, TurnOrigin, TurnRole
from retold.protocols import ContentPolicy
from retold.store.codec import require_aware
from retold.text import require_id, require_text

MAX_TURN_CHARS: Final = 1_000_000
MAX_NAME_CHARS: Final = 200
SILENT_ROLES: Final = ("system", "developer")
"""Roles of chats whose messages are instructions of an application, nobody's words."""


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn as a host hands it over.

    ``at`` None means now. ``origin`` None means what ``origin_of`` says. A message with the same
    ``external_key`` is recorded once.
    """

    role: TurnRole
    content: str = field(repr=False)
    origin: TurnOrigin | None = None
    at: datetime | None = None
    name: str | None = field(default=None, repr=False)
    tool_name: str | None = None
    external_key: str | None = None


def checked_turn(
    new: NewTurn, policy: ContentPolicy | None, *, may_be_wordless: bool = False
) -> NewTurn:
    """Return the turn as it is to be stored, its origin filled in and its content past the policy.

    ``may_be_wordless`` lets a content of blanks through as the empty text. Raises InvalidInput,
    whose details name the field.
    """
    if new.role not in TURN_ROLES:
        raise InvalidInput(f"unknown role {new.role!r}; choose one of {TURN_ROLES}", field="role")
    for label, value in (("name", new.name), ("tool_name", new.tool_name)):
        if value is not None:
            require_text(value, label, MAX_NAME_CHARS)
    if new.external_key is not None:
        require_id(new.external_key, "external_key", allow_slash=True)
    if may_be_wordless and _is_wordless(new.content):
        content = ""
    else:
        content = require_text(new.content, "content", MAX_TURN_CHARS)
        if policy is not None:
            content = policy.apply(content, where="turn")
    return replace(
        new,
        content=content,
        origin=new.origin or origin_of(new.role, new.tool_name or new.name, content),
        at=None if new.at is None else require_aware(new.at),
    )


def _is_wordless(content: object) -> bool:
    return isinstance(content, str) and not content.strip()
