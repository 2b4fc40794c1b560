"""Which agent may use which shared scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retold.models import Grant, Scope
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("grants")


class GrantRepository:
    """Rows only: which scopes may be granted at all is the host's rule."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def list_for(self, agent_id: str) -> list[Grant]:
        """Return the agent's grants, ordered by scope kind, then id.

        The codes of their scopes come with them, so that nobody asks for them again.
        """
        rows = self._tx.run(QUERIES["list_for"], {"agent_id": agent_id})
        note = self._tx.scopes.note
        return [
            Grant(agent_id, note(code, kind, scope_id), bool(can_read), bool(can_write))
            for code, kind, scope_id, can_read, can_write in rows
        ]

    def list_all(self) -> list[Grant]:
        """Return every grant, ordered by agent, scope kind, scope id."""
        return [
            Grant(agent_id, Scope(kind, scope_id), bool(can_read), bool(can_write))
            for agent_id, kind, scope_id, can_read, can_write in self._tx.run(QUERIES["list_all"])
        ]

    def set(self, agent_id: str, scope: Scope, *, can_read: bool, can_write: bool) -> None:
        """Store the agent's rights in the scope, replacing earlier ones."""
        self._tx.run(
            QUERIES["set"],
            {
                "agent_id": agent_id,
                "scope_code": self._tx.scopes.require(scope),
                "can_read": int(can_read),
                "can_write": int(can_write),
            },
        )

    def delete(self, agent_id: str, scope: Scope) -> bool:
        """Remove the agent's rights in the scope; False when there were none."""
        code = self._tx.scopes.code(scope)
        if code is None:
            return False
        self._tx.run(QUERIES["delete"], {"agent_id": agent_id, "scope_code": code})
        return self._tx.changes() > 0
