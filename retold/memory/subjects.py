"""Who and what a claim names, as an application passes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from retold.errors import NotFound
from retold.models import Entity, EntityKind, EntityMention, LinkRole, Principal
from retold.policy.grants import readable_scopes
from retold.store import Store, Transaction
from retold.text import normalize_alias, require_list

Named = str | Entity | EntityMention
"""A name, the id of an entity, or the entity itself."""


def subjects(
    store: Store, principal: Principal, about: Named | None, mentions: Sequence[Named]
) -> tuple[EntityMention, ...]:
    """Return the entities of a claim, the subject first; the argument decides the role.

    Text is a name unless it is the id of an entity. Raises NotFound alike for the id of an absent
    entity and of one in a scope that the principal may not read.
    """
    named = [] if about is None else [_mention(about, "person", "about")]
    given = [
        *named,
        *(_mention(o, "other", "mentions") for o in require_list(mentions, "mentions")),
    ]
    if not any(_is_id(one.text) and one.entity_id is None for one in given):
        return tuple(given)
    with store.read() as tx:
        return tuple(_identified(tx, principal, one) for one in given)


def _mention(named: Named, kind: EntityKind, role: LinkRole) -> EntityMention:
    if isinstance(named, EntityMention):
        return replace(named, role=role)
    if isinstance(named, Entity):
        return EntityMention(named.kind, named.canonical, role, named.id)
    return EntityMention(kind, named, role)


def _identified(tx: Transaction, principal: Principal, mention: EntityMention) -> EntityMention:
    """Return the mention with the entity whose id its text is; a user id may look like one."""
    if mention.entity_id is not None or not _is_id(mention.text):
        return mention
    codes = tuple(tx.scopes.codes(readable_scopes(tx, principal)).values())
    entity = tx.entities.resolve_in(mention.text, codes)
    known = tx.entities.by_alias([normalize_alias(mention.text)], codes)
    if entity is not None:
        return EntityMention(entity.kind, entity.canonical, mention.role, entity.id)
    if known or mention.text == principal.user_id:
        return mention
    raise NotFound(f"no entity {mention.text!r}")


def _is_id(text: object) -> bool:
    """Return whether text has the form of a public id."""
    try:
        return isinstance(text, str) and str(UUID(text)) == text
    except ValueError:
        return False
