"""Who asks, and who owns a record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from retold.errors import InvalidInput
from retold.text import require_id

ScopeKind = Literal["agent", "user", "project", "org"]
SCOPE_KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """One ownership boundary; ``str(scope)`` is ``kind:id``.

    Raises InvalidInput for an unknown kind, a blank id or control characters.
    """

    kind: ScopeKind
    id: str

    def __post_init__(self) -> None:
        if self.kind not in SCOPE_KINDS:
            raise InvalidInput(f"unknown scope kind {self.kind!r}; choose one of {SCOPE_KINDS}")
        require_id(self.id, "scope id", allow_slash=True)

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> Scope:
        """Read ``kind:id``; raise InvalidInput when it is something else."""
        if not isinstance(text, str):
            raise InvalidInput(f"a scope is read from a string, not {type(text).__name__}")
        kind, separator, scope_id = text.partition(":")
        if not separator:
            raise InvalidInput(f"scope {text!r} is not of the form kind:id, such as user:ana")
        return cls(kind, scope_id)  # type: ignore[arg-type]  # __post_init__ checks the kind


@dataclass(frozen=True, slots=True)
class Principal:
    """The agent and user on whose behalf a call is made.

    ``session_id`` is the external session id, as the host knows it. Agent and user ids hold no
    ``/``, so that ``agent:<agent>/<user>`` cannot mean two pairs.
    """

    agent_id: str
    user_id: str
    session_id: str | None = None
    project_id: str | None = None

    def __post_init__(self) -> None:
        require_id(self.agent_id, "agent_id", allow_slash=False)
        require_id(self.user_id, "user_id", allow_slash=False)
        for name in ("session_id", "project_id"):
            value = getattr(self, name)
            if value is not None:
                require_id(value, name, allow_slash=True)

    @property
    def private_scope(self) -> Scope:
        """Return the scope only this agent and user pair can reach."""
        return known_scope("agent", f"{self.agent_id}/{self.user_id}")

    @property
    def user_scope(self) -> Scope:
        """Return the user's own scope, reachable by a granted agent."""
        return known_scope("user", self.user_id)


@lru_cache(maxsize=1024)
def known_scope(kind: ScopeKind, scope_id: str) -> Scope:
    """Return the scope, checked once; every call asks for the same few many times."""
    return Scope(kind, scope_id)


@dataclass(frozen=True, slots=True)
class Grant:
    """What one agent may do in one shared scope."""

    agent_id: str
    scope: Scope
    can_read: bool
    can_write: bool

    def __post_init__(self) -> None:
        require_id(self.agent_id, "agent_id", allow_slash=False)
        if not isinstance(self.scope, Scope):
            raise InvalidInput(
                f"a grant needs a Scope, not {type(self.scope).__name__}; "
                'pass Scope("user", "ana") or the like'
            )
