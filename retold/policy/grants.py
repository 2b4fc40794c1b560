"""Which scopes a principal may read, write and use by default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from retold.models import Grant, Principal, Scope

Right = Literal["read", "write"]


class _Grants(Protocol):
    def list_for(self, agent_id: str) -> list[Grant]: ...


class GrantReader(Protocol):
    """An open transaction, as far as grants go."""

    @property
    def grants(self) -> _Grants:
        """Return the repository of grants."""
        ...


def readable_scopes(tx: GrantReader, principal: Principal) -> tuple[Scope, ...]:
    """Return the scopes the principal may read now, the private scope first.

    Costs one statement; the answer holds for this transaction only.
    """
    return allowed_scopes(principal, tx.grants.list_for(principal.agent_id), "read")


def writable_scopes(tx: GrantReader, principal: Principal) -> tuple[Scope, ...]:
    """Return the scopes the principal may write now, the private scope first.

    Costs one statement; the answer holds for this transaction only.
    """
    return allowed_scopes(principal, tx.grants.list_for(principal.agent_id), "write")


def allowed_scopes(
    principal: Principal, grants: Iterable[Grant], right: Right
) -> tuple[Scope, ...]:
    """Return the private scope, then the granted scopes in their own order, each once."""
    granted = (
        grant.scope
        for grant in grants
        if grant.agent_id == principal.agent_id
        and (grant.can_read if right == "read" else grant.can_write)
        and belongs_to(principal, grant.scope)
    )
    return tuple(dict.fromkeys((principal.private_scope, *sorted(granted))))


def default_scope(principal: Principal, grants: Iterable[Grant]) -> Scope:
    """Return where a claim of this principal goes when nobody names a scope.

    The user scope needs both rights, so that what is written there can be found again; otherwise
    it is the private scope. ``grants`` are those of the principal's agent.
    """
    known = tuple(grants)
    user = principal.user_scope
    both = user in allowed_scopes(principal, known, "read") and user in allowed_scopes(
        principal, known, "write"
    )
    return user if both else principal.private_scope


def belongs_to(principal: Principal, scope: Scope) -> bool:
    """Return whether a grant on this scope may take effect for this principal.

    A user scope, and the user part of a private agent scope, must be the principal's own: a grant
    that names another user is ignored, however it came into the store.
    """
    if scope.kind == "user":
        return scope.id == principal.user_id
    if scope.kind == "agent":
        _, separator, user_id = scope.id.partition("/")
        return not separator or user_id == principal.user_id
    return True
