"""The audit trail: an append-only chain of hashes.

An event's hash covers seq, id, at, kind, the digest of its salted payload and the hash before it.
Actor and ids stand in ``event_refs``, and a payload may become NULL, so erasure and retention
leave the chain whole while an edited, removed or moved event breaks it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from retold.models import Event
from retold.store.codec import from_text, to_json, to_text
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("events")

GENESIS = bytes(32)
"""What the first event follows."""
SALT_BYTES = 16
VERIFY_BATCH = 1000
_DOMAIN = b"retold.event.1"

RandomBytes = Callable[[int], bytes]


class Link(NamedTuple):
    """The stored columns that the chain is made of, as SQLite holds them."""

    seq: int
    id: str
    at: str
    kind: str
    payload: str | None
    payload_salt: bytes
    payload_digest: bytes
    prev_hash: bytes
    hash: bytes


def payload_digest(salt: bytes, payload: str) -> bytes:
    """Return the digest of a payload's canonical JSON text.

    Without its salt a blanked payload, however short, cannot be guessed from the digest.
    """
    return hashlib.sha256(salt + payload.encode()).digest()


def chain_hash(
    *, seq: int, event_id: str, at: str, kind: str, digest: bytes, prev_hash: bytes
) -> bytes:
    """Return the hash of one link. Every field carries its length, so none flows into another."""
    hasher = hashlib.sha256(_DOMAIN)
    fields = (str(seq).encode(), event_id.encode(), at.encode(), kind.encode(), digest, prev_hash)
    for field in fields:
        hasher.update(len(field).to_bytes(8, "big"))
        hasher.update(field)
    return hasher.digest()


def is_intact(link: Link, prev_hash: bytes) -> bool:
    """Tell whether a link follows ``prev_hash`` unaltered; a blanked payload is no alteration."""
    if link.payload is not None:
        digest = payload_digest(link.payload_salt, link.payload)
        if digest != link.payload_digest:
            return False
    return link.prev_hash == prev_hash and link.hash == chain_hash(
        seq=link.seq,
        event_id=link.id,
        at=link.at,
        kind=link.kind,
        digest=link.payload_digest,
        prev_hash=prev_hash,
    )


class EventRepository:
    """Append and read; nothing here changes or removes an event.

    ``random_bytes`` gives the salts.
    """

    def __init__(self, tx: Transaction, random_bytes: RandomBytes = os.urandom) -> None:
        self._tx = tx
        self._random_bytes = random_bytes

    def append(
        self,
        kind: str,
        actor: str,
        *,
        record_id: str | None = None,
        entity_id: str | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        payload: Mapping[str, Any] | None = None,
        at: datetime | None = None,
        event_id: str | None = None,
    ) -> Event:
        """Append one event and return it as stored.

        The payload holds codes, ids, counts and digests, never content. ``at`` and ``event_id``
        are for history that happened before this store; else the transaction's moment and a new
        id. Call it in a write transaction.
        """
        content = dict(payload or {})
        moment = self._tx.now if at is None else at
        new_id = self._tx.new_id() if event_id is None else event_id
        refs = {
            "actor": actor,
            "record_id": record_id,
            "entity_id": entity_id,
            "session_id": session_id,
            "user_id": user_id,
        }
        seq, link_hash = self._chain(new_id, to_text(moment), kind, to_json(content))
        self._tx.run(QUERIES["insert_refs"], {"seq": seq, **refs})
        return Event(
            id=new_id,
            at=moment,
            kind=kind,
            payload=content,
            seq=seq,
            hash=link_hash.hex(),
            **refs,  # type: ignore[arg-type]  # actor is a str, the others may be None
        )

    def _chain(self, event_id: str, at: str, kind: str, payload: str) -> tuple[int, bytes]:
        head = self._tx.one(QUERIES["head"])
        assert head is not None  # a select without `from` has one row
        seq, prev_hash = int(head[0]), GENESIS if head[1] is None else bytes(head[1])
        salt = self._random_bytes(SALT_BYTES)
        digest = payload_digest(salt, payload)
        link_hash = chain_hash(
            seq=seq, event_id=event_id, at=at, kind=kind, digest=digest, prev_hash=prev_hash
        )
        self._tx.run(
            QUERIES["insert"],
            {
                "seq": seq,
                "id": event_id,
                "at": at,
                "kind": kind,
                "payload": payload,
                "payload_salt": salt,
                "payload_digest": digest,
                "prev_hash": prev_hash,
                "hash": link_hash,
            },
        )
        return seq, link_hash

    def list_for_record(self, record_id: str) -> list[Event]:
        """Return the record's events, oldest first."""
        return _events(self._tx.run(QUERIES["list_for_record"], {"record_id": record_id}))

    def list_for_entity(self, entity_id: str) -> list[Event]:
        """Return the entity's events, oldest first."""
        return _events(self._tx.run(QUERIES["list_for_entity"], {"entity_id": entity_id}))

    def list_for_session(self, session_id: str) -> list[Event]:
        """Return the segment's events, oldest first."""
        return _events(self._tx.run(QUERIES["list_for_session"], {"session_id": session_id}))

    def list_by_kind(self, kind: str, *, after_seq: int = 0, limit: int = 1000) -> list[Event]:
        """Return up to ``limit`` events of a kind after ``after_seq``, oldest first."""
        bindings = {"kind": kind, "after_seq": after_seq, "limit": limit}
        return _events(self._tx.run(QUERIES["list_by_kind"], bindings))

    def list_since(self, after_seq: int = 0, *, limit: int = 1000) -> list[Event]:
        """Return up to ``limit`` events after ``after_seq``, oldest first."""
        bindings = {"after_seq": after_seq, "limit": limit}
        return _events(self._tx.run(QUERIES["list_since"], bindings))

    def verify(self, *, batch: int = VERIFY_BATCH) -> int | None:
        """Return the seq of the first event that does not follow its predecessor; None when whole.

        A tail that was cut off is reported as the first missing seq.
        """
        prev_hash, last = GENESIS, 0
        while True:
            rows = list(self._tx.run(QUERIES["chain"], {"after_seq": last, "limit": batch}))
            for row in rows:
                link = Link(*row)
                if not is_intact(link, prev_hash):
                    return link.seq
                prev_hash, last = link.hash, link.seq
            if len(rows) < batch:
                break
        allocated = self._tx.one(QUERIES["last_allocated"])
        return last + 1 if allocated is not None and allocated[0] > last else None


def _events(rows: Iterable[tuple[Any, ...]]) -> list[Event]:
    return [_event(row) for row in rows]


def _event(row: tuple[Any, ...]) -> Event:
    seq, event_id, at, kind, payload, link_hash, actor, record_id, entity_id, session_id, user = row
    return Event(
        id=event_id,
        at=from_text(at),
        kind=kind,
        actor=actor or "",
        record_id=record_id,
        entity_id=entity_id,
        session_id=session_id,
        user_id=user,
        payload={} if payload is None else json.loads(payload),
        seq=seq,
        hash=bytes(link_hash).hex(),
    )
