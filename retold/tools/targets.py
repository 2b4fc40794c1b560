"""Where a model may write: names that the host gives to scopes, as far as grants allow now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from retold.errors import InvalidInput, InvalidWriteTarget
from retold.models import Principal, Scope
from retold.policy.grants import default_scope, writable_scopes
from retold.store import Transaction
from retold.text import require_id

PERSONAL: Final = "personal"
CURRENT_PROJECT: Final = "current_project"


@dataclass(frozen=True, slots=True)
class WriteTargets:
    """The symbolic targets of one conversation.

    ``named`` None is the default map: ``personal``, wherever claims of the principal go by
    default, and ``current_project`` when the principal has one. A host's own map says exactly
    which scope a name stands for, and its ``personal`` needs a grant like any other.
    """

    principal: Principal
    named: Mapping[str, Scope] | None = None

    def __post_init__(self) -> None:
        if self.named is None:
            return
        for name, scope in self.named.items():
            require_id(name, "write target", allow_slash=True)
            if not isinstance(scope, Scope):
                raise InvalidInput(
                    f"write target {name!r} must stand for a Scope, such as Scope('user', 'ana')"
                )

    def on_offer(self, tx: Transaction) -> dict[str, Scope]:
        """Return the targets that the principal may write at this moment, in order."""
        if self.named is None:
            grants = tx.grants.list_for(self.principal.agent_id)
            offered = {PERSONAL: default_scope(self.principal, grants)}
            project_id = self.principal.project_id
            if project_id is not None:
                offered[CURRENT_PROJECT] = Scope("project", project_id)
        else:
            offered = dict(self.named)
        writable = writable_scopes(tx, self.principal)
        return {name: scope for name, scope in offered.items() if scope in writable}

    def resolve(self, tx: Transaction, target: str | None) -> Scope:
        """Return the scope of a target; None means ``personal``.

        A ``personal`` of the host's own map that nobody named is returned whether it may be
        written or not: the write path refuses it, and notes the denial. Raises InvalidWriteTarget
        for any other target that is not on offer, naming those that are.
        """
        offered = self.on_offer(tx)
        wanted = PERSONAL if target is None else target
        if wanted in offered:
            return offered[wanted]
        if target is None and self.named is not None and PERSONAL in self.named:
            return self.named[PERSONAL]
        raise InvalidWriteTarget(
            "this conversation does not offer that write target",
            field="write_target",
            allowed=list(offered),
        )
