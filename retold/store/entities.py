"""Entities, their aliases and their links to records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from retold.errors import InvalidInput, NotFound
from retold.models import Entity, EntityKind, EntityStatus, LinkRole, Scope
from retold.store.codec import from_text, to_json, to_text
from retold.store.queries import load_queries
from retold.text import normalize_alias, normalize_ws

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("entities")


class EntityRepository:
    """Aliases are normalised by the caller. Active means provisional or confirmed.

    At most one active entity of a scope stands for a user (``principal_user_id``).
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def get(self, entity_id: str) -> Entity | None:
        """Return the entity as it stands, merged or deleted ones included; None when absent."""
        row = self._tx.one(QUERIES["get"], {"id": entity_id})
        return None if row is None else self._entity(row)

    def require(self, entity_id: str) -> Entity:
        """Return the entity as it stands. Raises NotFound."""
        entity = self.get(entity_id)
        if entity is None:
            raise NotFound(f"no entity {entity_id!r}")
        return entity

    def resolve(self, entity_id: str) -> Entity | None:
        """Return the entity that survives all merges of this one; None when absent."""
        row = self._tx.one(QUERIES["resolve"], {"id": entity_id})
        return None if row is None else self._entity(row)

    def resolve_in(self, entity_id: str, scope_codes: Iterable[int]) -> Entity | None:
        """Return what survived all merges of this one; None unless both lie in the scopes.

        Absent and foreign ids run one and the same statement.
        """
        bindings = {"id": entity_id, "scope_codes": to_json(list(scope_codes))}
        row = self._tx.one(QUERIES["resolve_in"], bindings)
        return None if row is None else self._entity(row)

    def by_alias(
        self,
        norms: Iterable[str],
        scope_codes: Iterable[int],
        kinds: Iterable[EntityKind] | None = None,
    ) -> dict[str, list[Entity]]:
        """Return the active entities behind each alias, oldest first, merges followed.

        Aliases without a hit are absent. One statement whatever the number of aliases.
        """
        found: dict[str, list[Entity]] = {}
        rows = self._tx.run(
            QUERIES["by_alias"],
            {
                "norms": to_json(list(dict.fromkeys(norms))),
                "scope_codes": to_json(list(scope_codes)),
                "kinds": None if kinds is None else to_json(list(kinds)),
            },
        )
        for norm, *row in list(rows):
            found.setdefault(norm, []).append(self._entity(row))
        return found

    def principal(self, scope: Scope, user_id: str) -> Entity | None:
        """Return the active entity that stands for the user in the scope; None when none does."""
        code = self._tx.scopes.code(scope)
        row = self._tx.one(QUERIES["principal"], {"scope_code": code, "user_id": user_id})
        return None if row is None else self._entity(row)

    def principals(self, user_id: str) -> list[Entity]:
        """Return the active entities that stand for the user in any scope, oldest first."""
        return self._entities(list(self._tx.run(QUERIES["principals"], {"user_id": user_id})))

    def list_principal_named(self, scope: Scope, alias_norm: str) -> list[Entity]:
        """Return active persons of the scope that carry the alias, marked principals first."""
        bindings = {"scope_code": self._tx.scopes.code(scope), "alias_norm": alias_norm}
        return self._entities(list(self._tx.run(QUERIES["list_principal_named"], bindings)))

    def list_in_scopes(self, scope_codes: Iterable[int], limit: int) -> list[Entity]:
        """Return up to ``limit`` active entities of some scopes, oldest first."""
        bindings = {"scope_codes": to_json(list(scope_codes)), "limit": limit}
        return self._entities(list(self._tx.run(QUERIES["list_in_scopes"], bindings)))

    def insert(
        self,
        kind: EntityKind,
        canonical: str,
        scope: Scope,
        aliases: Iterable[str],
        *,
        principal_user_id: str | None = None,
        status: EntityStatus = "provisional",
    ) -> Entity:
        """Store a new entity with its aliases. Raises InvalidInput for a second principal."""
        if principal_user_id is not None:
            self._refuse_second_principal(scope, principal_user_id)
        entity_id = self._tx.new_id()
        self._tx.run(
            QUERIES["insert"],
            {
                "id": entity_id,
                "kind": kind,
                "canonical": canonical,
                "scope_code": self._tx.scopes.require(scope),
                "status": status,
                "principal_user_id": principal_user_id,
                "created_at": to_text(self._tx.now),
            },
        )
        for alias in aliases:
            self.add_alias(entity_id, alias)
        return self.require(entity_id)

    def insert_twin(self, entity_id: str, scope: Scope, *, name: str | None = None) -> Entity:
        """Store a copy of an entity in another scope and return it.

        The twin has the kind of the surviving original; with a ``name`` it is known by that alone,
        without one by the original's name and every alias. A principal's twin stands for the same
        user; where the scope has that principal already, it is the twin. Raises NotFound.
        """
        original = self.resolve(entity_id)
        if original is None:
            raise NotFound(f"no entity {entity_id!r}")
        user_id = original.principal_user_id
        present = None if user_id is None else self.principal(scope, user_id)
        if present is not None:
            return present
        canonical = original.canonical if name is None else normalize_ws(name)
        aliases = original.aliases if name is None else filter(None, [normalize_alias(name)])
        return self.insert(original.kind, canonical, scope, aliases, principal_user_id=user_id)

    def add_alias(self, entity_id: str, alias_norm: str) -> bool:
        """Add an alias; False when the entity carries it already. Raises NotFound."""
        bindings = {"entity_seq": self._require_seq(entity_id), "alias_norm": alias_norm}
        self._tx.run(QUERIES["add_alias"], bindings)
        return self._tx.changes() > 0

    def set_principal(self, entity_id: str, user_id: str) -> None:
        """Let the entity stand for the user. Raises NotFound, and InvalidInput for a second one."""
        entity = self.require(entity_id)
        self._refuse_second_principal(entity.scope, user_id, besides=entity_id)
        self._tx.run(QUERIES["set_principal"], {"id": entity_id, "user_id": user_id})

    def set_status(self, entity_id: str, status: EntityStatus) -> None:
        """Confirm or delete an entity; merging has its own method. Raises NotFound."""
        self._require_seq(entity_id)
        self._tx.run(QUERIES["set_status"], {"id": entity_id, "status": status})

    def link(self, record_seq: int, entity_id: str, role: LinkRole) -> None:
        """Link a record to an entity; ``about`` wins over ``mentions``. Raises NotFound."""
        bindings = {"record_seq": record_seq, "entity_id": entity_id, "role": role}
        self._tx.run(QUERIES["link"], bindings)
        if self._tx.changes() == 0:
            self._require_seq(entity_id)

    def unlink(self, record_seq: int) -> None:
        """Remove every link of a record."""
        self._tx.run(QUERIES["unlink"], {"record_seq": record_seq})

    def links_of(self, record_seqs: Iterable[int]) -> dict[int, list[tuple[str, LinkRole]]]:
        """Return (entity id, role) per linked record, about before mentions."""
        links: dict[int, list[tuple[str, LinkRole]]] = {}
        rows = self._tx.run(QUERIES["links_of"], {"seqs": to_json(list(record_seqs))})
        for record_seq, entity_id, role in rows:
            links.setdefault(record_seq, []).append((entity_id, role))
        return links

    def aliases_for_record(self, record_seq: int) -> tuple[str, ...]:
        """Return the aliases of the record's entities that live in its own scope, sorted."""
        rows = self._tx.run(QUERIES["aliases_for_record"], {"record_seq": record_seq})
        return tuple(row[0] for row in rows)

    def record_seqs_of(self, entity_ids: Iterable[str]) -> list[tuple[int, str, LinkRole]]:
        """Return (record key, entity id, role), about before mentions, then newest first."""
        rows = self._tx.run(QUERIES["record_seqs_of"], {"ids": to_json(list(entity_ids))})
        return [(seq, entity_id, role) for seq, entity_id, role in rows]

    def merge(self, source_id: str, target_id: str) -> list[int]:
        """Merge one entity into another of its scope and kind; return the touched record keys.

        Links, aliases, display subjects and a principal's mark move to the target; revision and
        index version of every touched record rise, and their full-text rows are the caller's to
        rewrite. Raises NotFound, and InvalidInput for a circle, two scopes, two kinds, two
        principals or an entity that is no longer active.
        """
        source, target = self.require(source_id), self.require(target_id)
        _refuse_merge(source, target)
        keys = {
            "source_seq": self._require_seq(source_id),
            "target_seq": self._require_seq(target_id),
        }
        touched = [row[0] for row in self._tx.run(QUERIES["touched_by_merge"], keys)]
        self._tx.run(QUERIES["repoint_subjects"], {**keys, "target_id": target_id})
        for step in ("repoint_links", "drop_links", "union_aliases", "set_merged"):
            self._tx.run(QUERIES[step], keys)
        if source.principal_user_id is not None:
            self.set_principal(target_id, source.principal_user_id)
        self.touch_records(touched)
        return touched

    def touch_records(self, record_seqs: Sequence[int]) -> None:
        """Raise revision and index version of records whose entities or aliases have changed."""
        if record_seqs:
            bindings = {"seqs": to_json(list(record_seqs)), "version": self._tx.version()}
            self._tx.run(QUERIES["bump"], bindings)

    def _require_seq(self, entity_id: str) -> int:
        row = self._tx.one(QUERIES["keys"], {"id": entity_id})
        if row is None:
            raise NotFound(f"no entity {entity_id!r}")
        return int(row[0])

    def _refuse_second_principal(
        self, scope: Scope, user_id: str, *, besides: str | None = None
    ) -> None:
        present = self.principal(scope, user_id)
        if present is not None and present.id != besides:
            raise InvalidInput(
                f"entity {present.id!r} already stands for user {user_id!r} in {scope}; merge them"
            )

    def _entities(self, rows: Iterable[Sequence[Any]]) -> list[Entity]:
        return [self._entity(row) for row in rows]

    def _entity(self, row: Sequence[Any]) -> Entity:
        return Entity(
            id=row[0],
            kind=row[1],
            canonical=row[2],
            scope=self._tx.scopes.get(row[3]),
            status=row[4],
            merged_into=row[5],
            principal_user_id=row[6],
            aliases=tuple(json.loads(row[8])),
            created_at=from_text(row[7]),
        )


def _refuse_merge(source: Entity, target: Entity) -> None:
    """Raise InvalidInput unless both are distinct active entities of one scope and kind."""
    if source.id == target.id:
        raise InvalidInput(f"entity {source.id!r} cannot be merged into itself")
    for entity in (source, target):
        if entity.status not in ("provisional", "confirmed"):
            raise InvalidInput(
                f"entity {entity.id!r} is {entity.status}; merge active entities only"
            )
    if source.scope != target.scope:
        raise InvalidInput("a merge stays inside one scope; write the claim there instead")
    if source.kind != target.kind:
        raise InvalidInput(f"a {source.kind} cannot be merged into a {target.kind}")
    if source.principal_user_id is not None and target.principal_user_id is not None:
        raise InvalidInput("both entities stand for users; two users are never merged")
