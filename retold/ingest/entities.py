"""Exact, scope-aware resolution of the people and things a claim names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from retold.errors import EntityAmbiguous, InvalidInput, NotFound
from retold.models import Entity, EntityMention, Principal, Resolution, Scope
from retold.store import Transaction
from retold.store.codec import to_json
from retold.text import normalize_alias, normalize_ws, require_limit, require_text

MIN_NAME_CHARS: Final = 2
MAX_NAME_CHARS: Final = 200
_PROVISIONED: Final = "provisioned_names/"


def provisioned_names(tx: Transaction, user_id: str) -> tuple[str, ...]:
    """Return the display names a host gave a user, as given."""
    stored = tx.meta.get_text(_PROVISIONED + user_id)
    return tuple(json.loads(stored)) if stored else ()


def provision_names(tx: Transaction, user_id: str, names: Iterable[str]) -> tuple[str, ...]:
    """Remember display names of a user for every scope of theirs; return all of them."""
    merged = dict.fromkeys((*provisioned_names(tx, user_id), *map(normalize_ws, names)))
    tx.meta.set_text(_PROVISIONED + user_id, to_json(list(merged)))
    return tuple(merged)


def principal_names(tx: Transaction, principal: Principal, scope: Scope) -> tuple[str, ...]:
    """Return what the principal is called in a scope of theirs, longest first.

    Holds the user id, the provisioned names and the name and aliases of the person entity there;
    names of fewer than two characters are left out because they occur in other words.
    """
    return names_of(tx, principal, scope)[0]


def names_of(
    tx: Transaction, principal: Principal, scope: Scope
) -> tuple[tuple[str, ...], str | None]:
    """Return ``principal_names``, and the one the principal goes by; None when only an id is known.

    The latter is the name of the person entity in a scope of theirs, else a provisioned one.
    """
    provisioned = provisioned_names(tx, principal.user_id)
    names = [principal.user_id, *provisioned]
    entity = None
    if is_personal(scope, principal):
        entity = tx.entities.principal(scope, principal.user_id)
    if entity is not None:
        names += [entity.canonical, *entity.aliases]
    known = (entity.canonical if entity else "", *provisioned)
    called = next((name for name in known if name and name != principal.user_id), None)
    kept = {name for name in map(normalize_ws, names) if len(name) >= MIN_NAME_CHARS}
    return tuple(sorted(kept, key=lambda name: (-len(name), name))), called


def list_entities(
    tx: Transaction, scopes: Iterable[Scope], name: str | None, limit: int
) -> tuple[Entity, ...]:
    """Return active entities of some scopes, oldest first; ``name`` None means all of them.

    Raises InvalidInput for a limit outside 1 to 1000 and for a blank name.
    """
    require_limit(limit)
    codes = tuple(tx.scopes.codes(scopes).values())
    if name is None:
        return tuple(tx.entities.list_in_scopes(codes, limit))
    alias = normalize_alias(require_text(name, "name", MAX_NAME_CHARS))
    return tuple(tx.entities.by_alias([alias], codes).get(alias, ())[:limit])


def is_personal(scope: Scope, principal: Principal) -> bool:
    """Return whether facts without a subject in this scope are about the principal."""
    return scope in (principal.user_scope, principal.private_scope)


class EntityResolver:
    """Resolve mentions for one record; with ``create`` it stores what is missing.

    Without ``create`` it only foretells: an entity that would be made stays None in the answer,
    so the same code plans outside the write lock and acts under it.
    """

    def __init__(
        self,
        tx: Transaction,
        principal: Principal,
        scope: Scope,
        readable: Sequence[Scope],
        *,
        actor: str,
        create: bool,
    ) -> None:
        """Take the record's own ``scope`` and the scopes the principal may read."""
        self._tx = tx
        self._principal = principal
        self._scope = scope
        self._readable = tuple(readable)
        self._actor = actor
        self._create = create

    def principal_entity(self) -> Entity | None:
        """Return the person entity of the principal in the record's scope.

        None when it is still to be made. Raises EntityAmbiguous when several persons there carry
        the user id and none is marked, as after a migration; who may not read the scope is told
        nothing of them and gets an entity of its own.
        """
        user_id = self._principal.user_id
        marked = self._tx.entities.principal(self._scope, user_id)
        if marked is not None:
            return marked
        named = self._tx.entities.list_principal_named(self._scope, normalize_alias(user_id))
        if len(named) > 1:
            if self._scope in self._readable:
                raise self._ambiguous(named)
            named = []
        if not self._create:
            return named[0] if named else None
        names = provisioned_names(self._tx, user_id)
        aliases = dict.fromkeys(normalize_alias(name) for name in (user_id, *names))
        if named:
            self._tx.entities.set_principal(named[0].id, user_id)
            for alias in aliases:
                self._tx.entities.add_alias(named[0].id, alias)
            return self._tx.entities.require(named[0].id)
        entity = self._tx.entities.insert(
            "person",
            names[0] if names else user_id,
            self._scope,
            aliases,
            principal_user_id=user_id,
        )
        self._created(entity, {"principal": True})
        return entity

    def resolve(self, mention: EntityMention) -> Resolution:
        """Return what a mention stands for, looking in the record's own scope first.

        A scope that the principal may only write is not looked into: the claim gets an entity of
        its own there, and nothing tells who else is known by that name.
        Raises NotFound for an explicit id the principal cannot read, InvalidInput for one of
        another kind.
        """
        if mention.entity_id is not None:
            return self._explicit(mention, mention.entity_id)
        require_text(mention.text, "entity name", MAX_NAME_CHARS)
        alias = normalize_alias(mention.text)
        if not alias:
            raise InvalidInput("an entity name holds no letters; name the subject")
        if self._is_principal(mention, alias):
            return Resolution(mention, self.principal_entity(), "resolved")
        own = self._by_alias(mention, alias, [s for s in self._readable if s == self._scope])
        marked = [e for e in own if e.principal_user_id == self._principal.user_id]
        own = marked or own
        if len(own) == 1:
            return Resolution(mention, own[0], "resolved")
        if len(own) > 1:
            return Resolution(mention, None, "ambiguous", tuple(e.id for e in own))
        elsewhere = self._by_alias(
            mention, alias, [scope for scope in self._readable if scope != self._scope]
        )
        if len(elsewhere) > 1:
            return Resolution(mention, None, "ambiguous", tuple(e.id for e in elsewhere))
        if elsewhere:
            return Resolution(mention, self._twin(elsewhere[0], mention), "twinned")
        return Resolution(mention, self._new(mention, alias), "created")

    def require_unambiguous(self, resolution: Resolution) -> Resolution:
        """Return the resolution of an ``about`` mention. Raises EntityAmbiguous."""
        if resolution.outcome != "ambiguous":
            return resolution
        found = [self._tx.entities.get(entity_id) for entity_id in resolution.candidates]
        raise self._ambiguous([entity for entity in found if entity is not None])

    def counterpart(self, entity: Entity, scope: Scope) -> Entity | None:
        """Return the same subject in another scope of the principal; None when unclear."""
        if entity.principal_user_id is not None:
            return self._tx.entities.principal(scope, entity.principal_user_id)
        code = self._tx.scopes.code(scope)
        if code is None:
            return None
        hits = self._tx.entities.by_alias(entity.aliases, [code], [entity.kind])
        found = {hit.id: hit for group in hits.values() for hit in group}
        return next(iter(found.values())) if len(found) == 1 else None

    def _is_principal(self, mention: EntityMention, alias: str) -> bool:
        if mention.kind != "person" or not is_personal(self._scope, self._principal):
            return False
        user_id = self._principal.user_id
        names = (user_id, *provisioned_names(self._tx, user_id))
        return alias in {normalize_alias(name) for name in names}

    def _explicit(self, mention: EntityMention, entity_id: str) -> Resolution:
        codes = self._tx.scopes.codes(self._readable).values()
        entity = self._tx.entities.resolve_in(entity_id, codes)
        if entity is None or entity.status == "deleted":
            raise NotFound(f"no entity {entity_id!r}")
        if entity.kind != mention.kind:
            raise InvalidInput(f"entity {entity_id!r} is a {entity.kind}, not a {mention.kind}")
        local = entity if entity.scope == self._scope else self._twin(entity, mention)
        return Resolution(mention, local, "explicit")

    def _twin(self, original: Entity, mention: EntityMention) -> Entity | None:
        """Return the entity's twin in the record's scope.

        Between the two personal scopes of the principal it takes every alias along; elsewhere it
        is known by the words of this mention only, since others search there.
        """
        present = self.counterpart(original, self._scope)
        if present is not None or not self._create:
            return present
        scopes = (original.scope, self._scope)
        stays_personal = all(is_personal(scope, self._principal) for scope in scopes)
        name = None if stays_personal else require_text(mention.text, "entity name", MAX_NAME_CHARS)
        twin = self._tx.entities.insert_twin(original.id, self._scope, name=name)
        self._created(twin, {"twin_of": original.id})
        return twin

    def _new(self, mention: EntityMention, alias: str) -> Entity | None:
        if not self._create:
            return None
        entity = self._tx.entities.insert(
            mention.kind, normalize_ws(mention.text), self._scope, [alias]
        )
        self._created(entity, {})
        return entity

    def _by_alias(
        self, mention: EntityMention, alias: str, scopes: Sequence[Scope]
    ) -> list[Entity]:
        codes = self._tx.scopes.codes(scopes).values()
        return self._tx.entities.by_alias([alias], codes, [mention.kind]).get(alias, [])

    def _created(self, entity: Entity, payload: dict[str, object]) -> None:
        self._tx.events.append(
            "entity.created",
            self._actor,
            entity_id=entity.id,
            payload={"kind": entity.kind, "scope": str(entity.scope), **payload},
        )

    @staticmethod
    def _ambiguous(entities: Sequence[Entity]) -> EntityAmbiguous:
        return EntityAmbiguous(
            f"{len(entities)} entities carry that name; pass one entity_id: "
            + ", ".join(entity.id for entity in entities),
            candidates=[
                {
                    "entity_id": entity.id,
                    "kind": entity.kind,
                    "canonical": entity.canonical,
                    "scope": str(entity.scope),
                }
                for entity in entities
            ],
        )
