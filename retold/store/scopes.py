"""Scopes and the integer codes that rows carry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from retold.errors import StoreCorrupt
from retold.models import Scope
from retold.models.identity import ScopeKind, known_scope
from retold.store.codec import to_json
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("scopes")


class ScopeRepository:
    """Codes never change once committed, so one transaction may remember them.

    It remembers a missing one likewise, so that asking tells nothing about what others stored.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._by_code: dict[int, Scope] = {}
        self._codes: dict[Scope, int | None] = {}

    def code(self, scope: Scope) -> int | None:
        """Return the code; None when nothing was ever stored for the scope."""
        if scope not in self._codes:
            row = self._tx.one(QUERIES["code"], {"kind": scope.kind, "id": scope.id})
            self._note(scope, None if row is None else int(row[0]))
        return self._codes[scope]

    def require(self, scope: Scope) -> int:
        """Return the code, allocating one in a write transaction."""
        code = self.code(scope)
        if code is None:
            self._tx.run(QUERIES["insert"], {"kind": scope.kind, "id": scope.id})
            del self._codes[scope]
            code = self.code(scope)
        if code is None:
            raise StoreCorrupt("a scope could not be stored")
        return code

    def get(self, code: int) -> Scope:
        """Return the scope behind a code. Raises StoreCorrupt when there is none."""
        if code not in self._by_code:
            row = self._tx.one(QUERIES["get"], {"code": code})
            if row is None:
                raise StoreCorrupt(f"scope code {code} has no row")
            self.note(code, row[0], row[1])
        return self._by_code[code]

    def note(self, code: int, kind: ScopeKind, scope_id: str) -> Scope:
        """Return the scope that a statement of this transaction read, and remember its code."""
        scope = known_scope(kind, scope_id)
        self._note(scope, code)
        return scope

    def forget(self) -> None:
        """Remember no code: an undone savepoint may have handed some out that are free again."""
        self._by_code.clear()
        self._codes.clear()

    def codes(self, scopes: Iterable[Scope]) -> dict[Scope, int]:
        """Return the codes of those scopes that have one."""
        asked = tuple(dict.fromkeys(scopes))
        unknown = [scope for scope in asked if scope not in self._codes]
        if len(unknown) == 1:
            self.code(unknown[0])
        elif unknown:
            wanted = to_json([[scope.kind, scope.id] for scope in unknown])
            rows = self._tx.run(QUERIES["codes"], {"scopes": wanted})
            found = {(kind, scope_id): code for code, kind, scope_id in rows}
            for scope in unknown:
                self._note(scope, found.get((scope.kind, scope.id)))
        return {scope: code for scope in asked if (code := self._codes[scope]) is not None}

    def _note(self, scope: Scope, code: int | None) -> None:
        self._codes[scope] = code
        if code is not None:
            self._by_code[code] = scope
