"""What only the application may do: grants, names of users, trusted writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Final

from retold.errors import InvalidInput
from retold.ingest.entities import MAX_NAME_CHARS, list_entities, provision_names
from retold.ingest.ingestor import Ingestor
from retold.ingest.persistence import reindex_linked
from retold.ingest.revision import Revision
from retold.models import (
    Entity,
    EntityMention,
    Grant,
    HostSource,
    MemoryType,
    Principal,
    Scope,
    SourceKind,
    WriteRequest,
    WriteResult,
)
from retold.store import Store, Transaction
from retold.text import normalize_alias, require_bool, require_id, require_list, require_text

HOST_AGENT: Final = "host"
BATCH: Final = 64
Progress = Callable[[int], None]
"""Called with the number of items stored so far."""


@dataclass(frozen=True, slots=True)
class HostItem:
    """One trusted claim for ``MemoryHost.write_many``.

    ``source`` names where it comes from; items of one source are one observation. ``subject`` is
    a name or an EntityMention, whose role does not matter; None stores a claim about nobody, which
    has no attribute either.
    """

    content: str = field(repr=False)
    type: MemoryType = "semantic"
    source_kind: SourceKind = "system"
    source: str | HostSource = "import"
    event_at: datetime | None = None
    subject: str | EntityMention | None = field(default=None, repr=False)
    attribute: str | None = field(default=None, repr=False)
    tags: tuple[str, ...] = field(default=(), repr=False)


class MemoryHost:
    """The application's own door: never hand it to a model."""

    def __init__(
        self, store: Store, ingestor: Ingestor, revision: Revision, *, actor: str = "admin"
    ) -> None:
        """Take an open store; ``actor`` is the name its events carry."""
        self._store = store
        self._ingestor = ingestor
        self._revision = revision
        self._actor = actor

    def grant(
        self, agent_id: str, scope: Scope | str, *, read: bool = True, write: bool = False
    ) -> Grant:
        """Let an agent use a shared scope, replacing an earlier grant on it.

        ``scope`` may be written ``kind:id``, such as ``project:apollo``. Raises InvalidInput for a
        private agent-user scope, whose ids hold a slash, and for a grant of nothing.
        """
        return set_grant(self._store, self._actor, agent_id, scope, read=read, write=write)

    def revoke(self, agent_id: str, scope: Scope | str) -> bool:
        """Take a grant away; return whether there was one."""
        return take_grant(self._store, self._actor, agent_id, scope)

    def grants(self) -> tuple[Grant, ...]:
        """Return every grant, by agent and scope."""
        with self._store.read() as tx:
            return tuple(tx.grants.list_all())

    def provision_user(self, user_id: str, names: Iterable[str] = ()) -> Entity:
        """Make the user's person entity and attach the names people use for them.

        The names hold in the user scope and in every private scope of this user, and what is
        stored about the user already is found by them from now on. In another scope than the
        user's own a name that stands for somebody else there goes on doing so.
        Raises InvalidInput for a name that already stands for another person in the user scope.
        """
        require_id(user_id, "user_id", allow_slash=False)
        given = tuple(
            require_text(name, "name", MAX_NAME_CHARS) for name in require_list(names, "names")
        )
        scope = Scope("user", user_id)
        with self._store.write() as tx:
            known = provision_names(tx, user_id, given)
            entity = tx.entities.principal(scope, user_id) or tx.entities.insert(
                "person",
                given[0] if given else user_id,
                scope,
                [normalize_alias(user_id)],
                principal_user_id=user_id,
                status="confirmed",
            )
            renamed = [
                one.id for one in tx.entities.principals(user_id) if self._attach(tx, one, known)
            ]
            tx.events.append(
                "principal.provisioned",
                self._actor,
                entity_id=entity.id,
                user_id=user_id,
                payload={"names": len(known), "reindexed": reindex_linked(tx, renamed)},
            )
            return tx.entities.require(entity.id)

    def entities(
        self, scope: Scope | str, name: str | None = None, *, limit: int = 100
    ) -> tuple[Entity, ...]:
        """Return people, projects and things of one scope, oldest first.

        ``name`` keeps those that go by exactly this name, None all. Raises InvalidInput for a
        limit outside 1 to 1000.
        """
        with self._store.read() as tx:
            return list_entities(tx, [_scope_of(scope)], name, limit)

    def merge(self, entity_id: str, merge_into: str, *, reason: str) -> tuple[str, ...]:
        """Merge two entities of one scope and kind; return the ids of the touched records.

        Raises NotFound for an unknown id, InvalidInput for a circle, two kinds, two scopes or two
        users.
        """
        with self._store.read() as tx:
            scope = tx.entities.require(require_id(entity_id, "entity_id", allow_slash=True)).scope
        touched = self._revision.merge(
            _principal_of(scope),
            entity_id,
            require_id(merge_into, "merge_into", allow_slash=True),
            reason=reason,
            trusted=True,
            actor=self._actor,
        )
        return tuple(touched)

    def write(
        self,
        scope: Scope | str,
        content: str,
        *,
        type: MemoryType = "semantic",  # the name the design gives it
        source_kind: SourceKind = "system",
        source: str | HostSource = "host",
        event_at: datetime | None = None,
        subject: str | EntityMention | None = None,
        attribute: str | None = None,
        tags: Iterable[str] = (),
        dedup: bool = True,
    ) -> WriteResult:
        """Store one trusted claim of up to 100,000 characters in any scope.

        ``source`` names the independent source it counts as. ``attribute`` names a value of the
        ``subject``: without a subject there is nothing it could be a value of, and it is left
        out. ``dedup`` False stores the claim beside whatever is there. Raises InvalidInput.
        """
        item = HostItem(
            content,
            type,
            source_kind,
            source,
            event_at,
            subject,
            attribute,
            require_list(tags, "tags"),
        )
        return self.write_many(scope, [item], dedup=dedup)[0]

    def write_many(
        self,
        scope: Scope | str,
        items: Iterable[HostItem | str],
        *,
        dedup: bool = True,
        progress: Progress | None = None,
    ) -> tuple[WriteResult, ...]:
        """Store many trusted claims and return one result each, in order.

        With ``dedup`` False batches go in whole transactions and a failing batch leaves nothing of
        itself; with it each claim has its own. What was stored before a failure stays: make the
        call again with the rest. ``progress`` hears how many are stored so far.
        """
        scope = _scope_of(scope)
        require_bool(dedup, "dedup")
        principal = _principal_of(scope)
        listed = items if isinstance(items, Iterator) else require_list(items, "items")
        requests = (self._request(scope, _item_of(item)) for item in listed)
        results: list[WriteResult] = []
        while batch := list(islice(requests, 1 if dedup else BATCH)):
            if dedup:
                results.append(self._ingestor.write(principal, batch[0]))
            else:
                results += self._ingestor.write_corpus(principal, batch)
            if progress is not None:
                progress(len(results))
        return tuple(results)

    def _request(self, scope: Scope, item: HostItem) -> WriteRequest:
        source = item.source
        subject = item.subject
        if isinstance(subject, str):
            subject = EntityMention("person", subject, "about")
        elif isinstance(subject, EntityMention):
            subject = replace(subject, role="about")
        elif subject is not None:
            raise InvalidInput("`subject` must be a name or an EntityMention.", field="subject")
        return WriteRequest(
            type=item.type,
            content=item.content,
            attribute=item.attribute,
            scope=scope,
            source_kind=item.source_kind,
            mentions=() if subject is None else (subject,),
            event_at=item.event_at,
            tags=require_list(item.tags, "tags"),
            host_source=HostSource("host", source) if isinstance(source, str) else source,
            actor=self._actor,
        )

    @staticmethod
    def _attach(tx: Transaction, entity: Entity, names: Iterable[str]) -> bool:
        """Let an entity go by the names; say whether one was new to it."""
        code = tx.scopes.require(entity.scope)
        aliases = dict.fromkeys(normalize_alias(name) for name in names)
        changed = False
        for alias, holders in tx.entities.by_alias(aliases, [code], ["person"]).items():
            if any(holder.id != entity.id for holder in holders):
                if entity.scope == Scope("user", str(entity.principal_user_id)):
                    raise InvalidInput(
                        f"a name of user {entity.principal_user_id!r} already stands for another "
                        "person in the user scope; merge the two entities first"
                    )
                del aliases[alias]
        for alias in aliases:
            changed = tx.entities.add_alias(entity.id, alias) or changed
        return changed


def set_grant(
    store: Store, actor: str, agent_id: str, scope: Scope | str, *, read: bool, write: bool
) -> Grant:
    """Store a grant as ``MemoryHost.grant`` does; no model is needed for it."""
    scope = _scope_of(scope)
    _check_grantable(agent_id, scope)
    if not (require_bool(read, "read") | require_bool(write, "write")):
        raise InvalidInput("grant read, write or both; use revoke to take a grant away")
    grant = Grant(agent_id, scope, read, write)
    with store.write() as tx:
        tx.grants.set(agent_id, scope, can_read=read, can_write=write)
        _append_change(tx, actor, grant)
    return grant


def take_grant(store: Store, actor: str, agent_id: str, scope: Scope | str) -> bool:
    """Take a grant away as ``MemoryHost.revoke`` does; return whether there was one."""
    scope = _scope_of(scope)
    require_id(agent_id, "agent_id", allow_slash=False)
    with store.write() as tx:
        existed = tx.grants.delete(agent_id, scope)
        if existed:
            _append_change(tx, actor, Grant(agent_id, scope, can_read=False, can_write=False))
    return existed


def _append_change(tx: Transaction, actor: str, grant: Grant) -> None:
    scope = grant.scope
    rights: Mapping[str, object] = {
        "agent_id": grant.agent_id,
        "scope": str(scope),
        "read": grant.can_read,
        "write": grant.can_write,
    }
    tx.events.append(
        "grant.changed",
        actor,
        user_id=scope.id if scope.kind == "user" else None,
        payload=rights,
    )


def _principal_of(scope: Scope) -> Principal:
    """Return the identity under which the host writes: the owner's in a personal scope."""
    if scope.kind == "user":
        return Principal(HOST_AGENT, scope.id)
    if scope.kind == "agent" and "/" in scope.id:
        agent_id, _, user_id = scope.id.partition("/")
        return Principal(agent_id, user_id)
    return Principal(HOST_AGENT, HOST_AGENT)


def _item_of(item: HostItem | str) -> HostItem:
    """Return the claim of an item that may be its text alone. Raises InvalidInput."""
    if not isinstance(item, HostItem | str):
        raise InvalidInput(f"an item is a HostItem or text, not {type(item).__name__}")
    return HostItem(item) if isinstance(item, str) else item


def _scope_of(scope: Scope | str) -> Scope:
    """Return the scope, read from ``kind:id`` where it is text. Raises InvalidInput."""
    return scope if isinstance(scope, Scope) else Scope.parse(scope)


def _check_grantable(agent_id: str, scope: Scope) -> None:
    require_id(agent_id, "agent_id", allow_slash=False)
    if scope.kind == "agent" and "/" in scope.id:
        raise InvalidInput(
            f"{scope} is private to one agent and user and cannot be granted; "
            "grant a user, project, org or plain agent scope"
        )
    if scope.kind == "user":
        require_id(scope.id, "user scope id", allow_slash=False)
