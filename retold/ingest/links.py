"""The entities of a claim: whom it is about, and whom it names beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from retold.ingest.entities import EntityResolver
from retold.ingest.plan import Plan
from retold.ingest.subject import primary_mention
from retold.models import Entity, LinkRole, Resolution
from retold.store import Transaction


@dataclass(frozen=True, slots=True)
class Links:
    """The resolved entities of a claim; ``primary`` is None for a claim about nobody.

    ``aliases`` are those of the linked entities that live in the claim's own scope, sorted.
    """

    primary: Entity | None
    links: tuple[tuple[str, LinkRole], ...]
    aliases: tuple[str, ...] = field(repr=False)
    dropped: tuple[str, ...] = field(default=(), repr=False)


def resolver_for(tx: Transaction, plan: Plan, *, create: bool) -> EntityResolver:
    """Return what resolves the names of a claim in its scope; ``create`` makes unknown ones."""
    setting = plan.setting
    tx.scopes.codes(setting.scan_scopes)  # the transaction remembers them for all that follows
    return EntityResolver(
        tx,
        setting.principal,
        setting.scope,
        setting.readable,
        actor=setting.actor,
        create=create,
    )


def has_primary(plan: Plan) -> bool:
    """Return whether the claim is about somebody, named or implied."""
    named = primary_mention(plan.request.mentions) is not None
    return named or plan.setting.implies_principal


def links_of(plan: Plan, resolver: EntityResolver) -> Links:
    """Return the entities of a claim, its subject first.

    An ambiguous mention costs only its link and is among ``dropped``. Raises EntityAmbiguous for
    an ambiguous subject, NotFound for an unreadable entity id.
    """
    resolved = [resolver.resolve(mention) for mention in plan.request.mentions]
    about = primary_mention(plan.request.mentions)
    primary: Entity | None = None
    if about is not None:
        first = next(r for r in resolved if r.mention is about)
        primary = resolver.require_unambiguous(first).entity
    elif has_primary(plan):
        primary = resolver.principal_entity()
    links: dict[str, LinkRole] = {} if primary is None else {primary.id: "about"}
    for resolution in resolved:
        if resolution.mention.role == "about":
            resolver.require_unambiguous(resolution)
        if resolution.entity is not None:
            links.setdefault(resolution.entity.id, resolution.mention.role)
    linked = [primary, *(resolution.entity for resolution in resolved)]
    own = (entity for entity in linked if entity is not None and entity.scope == plan.setting.scope)
    aliases = sorted({alias for entity in own for alias in entity.aliases})
    dropped = tuple(r.mention.text for r in resolved if _is_dropped(r))
    return Links(primary, tuple(links.items()), tuple(aliases), dropped)


def same_subject(primary: Entity | None, plan: Plan, resolver: EntityResolver) -> Iterator[str]:
    """Yield the ids under which the scopes a claim is compared in know its subject."""
    if primary is None or primary.scope not in plan.setting.scan_scopes:
        return
    yield primary.id
    for scope in plan.setting.scan_scopes:
        twin = None if scope == primary.scope else resolver.counterpart(primary, scope)
        if twin is not None:
            yield twin.id


def _is_dropped(resolution: Resolution) -> bool:
    return resolution.outcome == "ambiguous" and resolution.mention.role == "mentions"
