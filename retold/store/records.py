"""Memories and their disagreements."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from retold.errors import NotFound
from retold.models import (
    RECORD_STATUSES,
    Conflict,
    MemoryType,
    Record,
    RecordStatus,
    Scope,
    SourceKind,
)
from retold.store.codec import (
    from_text,
    from_text_or_none,
    require_aware,
    require_aware_or_none,
    to_json,
    to_text,
    to_text_or_none,
    to_us,
    to_us_or_none,
)
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("records")


@dataclass(frozen=True, slots=True)
class NewRecord:
    """What a writer decides about a row; the store adds keys, moments and counters."""

    type: MemoryType
    content: str = field(repr=False)
    scope: Scope
    subject_entity_id: str | None
    attribute: str | None = field(repr=False)
    attribute_derived: bool
    source_kind: SourceKind
    source_ref: str | None
    creator_agent_id: str
    evidence: str | None = field(repr=False)
    event_at: datetime
    expires_at: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    review_at: datetime | None
    confidence: float
    status: RecordStatus
    supersedes_id: str | None
    version: int
    temporary: bool
    tags: tuple[str, ...] = field(repr=False)
    superseded_by_id: str | None = None


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """A disagreement with what a caller needs to decide whether the other side may be seen."""

    conflict: Conflict
    record_seq: int
    other_seq: int
    other_scope_code: int


class SubjectRow(NamedTuple):
    """What a comparison needs to know before it loads a whole record."""

    seq: int
    attribute: str
    content: str


def subject_of(entity_id: str | None, attribute: str | None) -> str | None:
    """Return the display value ``<entity id>/<attribute>``; ``-`` stands for no attribute."""
    return None if entity_id is None else f"{entity_id}/{attribute or '-'}"


class RecordRepository:
    """Rows of ``records`` and ``record_conflicts``."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def get(self, record_id: str) -> Record | None:
        """Return a record by public id; None when there is none."""
        return self.by_ids([record_id]).get(record_id)

    def require(self, record_id: str) -> Record:
        """Return a record by public id. Raises NotFound."""
        record = self.get(record_id)
        if record is None:
            raise NotFound(f"no record {record_id!r}")
        return record

    def by_ids(self, record_ids: Iterable[str]) -> dict[str, Record]:
        """Return those records that exist, keyed by public id, in the order asked."""
        wanted = list(dict.fromkeys(record_ids))
        seqs = dict(self._tx.run(QUERIES["seqs_by_ids"], {"ids": to_json(wanted)}))
        records = self.by_seqs(seqs.values())
        return {id_: records[seqs[id_]] for id_ in wanted if id_ in seqs}

    def by_seqs(self, seqs: Iterable[int]) -> dict[int, Record]:
        """Return those records that exist, keyed by integer key, in the order asked."""
        wanted = list(dict.fromkeys(int(seq) for seq in seqs))
        if not wanted:
            return {}
        rows = {row[0]: row for row in self._tx.run(QUERIES["by_seqs"], {"seqs": to_json(wanted)})}
        return {seq: self._record(rows[seq]) for seq in wanted if seq in rows}

    def insert(self, new: NewRecord, *, token_count: int = 0) -> Record:
        """Store a new row under the transaction's version and return it. Links come separately.

        ``token_count`` is how many index tokens it has. The row it supersedes learns which one
        stands in its place.
        """
        now = self._tx.now
        closed_at = now if new.status in ("superseded", "expired", "deleted") else None
        row = {
            "id": self._tx.new_id(),
            "type": new.type,
            "version": new.version,
            "content": new.content,
            "subject": subject_of(new.subject_entity_id, new.attribute),
            "subject_entity_id": new.subject_entity_id,
            "attribute": new.attribute,
            "attribute_derived": int(new.attribute_derived),
            "scope_code": self._tx.scopes.require(new.scope),
            "source_kind": new.source_kind,
            "source_ref": new.source_ref,
            "creator_agent_id": new.creator_agent_id,
            "evidence": new.evidence,
            "created_at": to_text(now),
            "created_us": to_us(now),
            "event_at": to_text(new.event_at),
            "event_us": to_us(new.event_at),
            "expires_at": to_text_or_none(new.expires_at),
            "expires_us": to_us_or_none(new.expires_at),
            "valid_from": to_text_or_none(new.valid_from),
            "valid_from_us": to_us_or_none(new.valid_from),
            "valid_until": to_text_or_none(new.valid_until),
            "valid_until_us": to_us_or_none(new.valid_until),
            "review_at": to_text_or_none(new.review_at),
            "closed_at": to_text_or_none(closed_at),
            "closed_us": to_us_or_none(closed_at),
            "confidence": new.confidence,
            "status": new.status,
            "supersedes_id": new.supersedes_id,
            "superseded_by_id": new.superseded_by_id,
            "temporary": int(new.temporary),
            "token_count": token_count,
            "index_version": self._tx.version(),
            "tags": to_json(list(new.tags)),
        }
        self._tx.run(QUERIES["insert"], row)
        seq = self._tx.inserted_key()
        if new.supersedes_id is not None:
            self.set_superseder([new.supersedes_id], seq)
        return _inserted(new, row, seq, now)

    def update(self, record: Record) -> Record:
        """Store the changeable fields of ``record`` and return it with the new revision.

        ``closed_at`` follows the status: set when the row leaves the active ones, kept afterwards.
        The index version moves only when something the indexes see has changed.
        """
        before = self.by_seqs([record.seq])[record.seq]
        closed_at = None if record.is_active else before.closed_at or self._tx.now
        seen = ("status", "expires_at", "subject", "subject_entity_id", "attribute", "source_kind")
        moved = any(getattr(before, name) != getattr(record, name) for name in seen)
        self._tx.run(
            QUERIES["update"],
            {
                "seq": record.seq,
                "index_version": self._tx.version() if moved else before.index_version,
                "status": record.status,
                "source_kind": record.source_kind,
                "source_ref": record.source_ref,
                "evidence": record.evidence,
                "confidence": record.confidence,
                "expires_at": to_text_or_none(record.expires_at),
                "expires_us": to_us_or_none(record.expires_at),
                "closed_at": to_text_or_none(closed_at),
                "closed_us": to_us_or_none(closed_at),
                "reinforcements": record.reinforcements,
                "last_reinforced_at": to_text_or_none(record.last_reinforced_at),
                "activation": record.activation,
                "category": record.category,
                "subject": subject_of(record.subject_entity_id, record.attribute),
                "subject_entity_id": record.subject_entity_id,
                "attribute": record.attribute,
                "attribute_derived": int(record.attribute_derived),
            },
        )
        return self.by_seqs([record.seq])[record.seq]

    def set_superseder(self, record_ids: Sequence[str], by_seq: int) -> None:
        """Remember the row that stands in the place of superseded ones: their validity ends there.

        A row that knows its superseder keeps it.
        """
        self._tx.run(
            QUERIES["set_superseder"], {"ids": to_json(list(record_ids)), "by_seq": by_seq}
        )

    def set_token_count(self, seq: int, token_count: int) -> None:
        """Remember how many index tokens a row has."""
        self._tx.run(QUERIES["set_token_count"], {"seq": seq, "token_count": token_count})

    def list_subject(
        self, entity_id: str, type_: MemoryType, attribute: str, *, max_others: int
    ) -> tuple[list[SubjectRow], bool]:
        """Return active, unexpired rows about an entity, and whether some were left out.

        All rows of the attribute come first, then up to ``max_others`` of other attributes, most
        recently reinforced first.
        """
        bindings: dict[str, str | int] = {
            "entity_id": entity_id,
            "type": type_,
            "attribute": attribute,
            "now_us": to_us(self._tx.now),
        }
        own = list(map(SubjectRow._make, self._tx.run(QUERIES["subject_own"], bindings)))
        bindings["limit"] = max_others + 1
        others = list(map(SubjectRow._make, self._tx.run(QUERIES["subject_others"], bindings)))
        return own + others[:max_others], len(others) > max_others

    def nearby_version(self, scope_codes: Sequence[int], type_: MemoryType) -> int:
        """Return the newest index version among rows of a type in some scopes; 0 for none."""
        bindings = {"scope_codes": to_json(list(scope_codes)), "type": type_}
        row = self._tx.one(QUERIES["nearby_version"], bindings)
        return 0 if row is None else int(row[0])

    def get_live_by_source_ref(self, source_ref: str, source_kind: SourceKind) -> Record | None:
        """Return the live record of one source, such as a session's summary."""
        bindings = {"source_ref": source_ref, "source_kind": source_kind}
        row = self._tx.one(QUERIES["live_by_source_ref"], bindings)
        return None if row is None else self.by_seqs([row[0]])[row[0]]

    def has_forgotten_of_source(self, source_ref: str, source_kind: SourceKind) -> bool:
        """Return whether a record of one source, such as a session's summary, was forgotten."""
        bindings = {"source_ref": source_ref, "source_kind": source_kind}
        row = self._tx.one(QUERIES["has_forgotten_of_source"], bindings)
        return bool(row and row[0])

    def insert_conflict(
        self, record: Record, other: Record, *, kind: str, rule: str, score: float | None
    ) -> None:
        """Note a disagreement in both directions."""
        for one, two in ((record, other), (other, record)):
            self._tx.run(
                QUERIES["insert_conflict"],
                {
                    "record_seq": one.seq,
                    "other_seq": two.seq,
                    "kind": kind,
                    "rule": rule,
                    "score": score,
                    "noted_at": to_text(self._tx.now),
                },
            )

    def conflicts_of(self, seqs: Iterable[int]) -> list[ConflictRow]:
        """Return the disagreements of some rows, in the order they were noted."""
        wanted = to_json([int(seq) for seq in seqs])
        return [
            ConflictRow(
                Conflict(row[1], row[2], row[3], row[4], row[5], from_text(row[6])),
                record_seq=row[0],
                other_seq=row[7],
                other_scope_code=row[8],
            )
            for row in self._tx.run(QUERIES["conflicts_of"], {"seqs": wanted})
        ]

    def list_page(
        self,
        scope_codes: Sequence[int],
        *,
        types: Sequence[MemoryType] | None,
        statuses: Sequence[RecordStatus],
        after_seq: int | None,
        limit: int,
    ) -> list[Record]:
        """Return one page, newest first, of rows older than ``after_seq``.

        An active row whose expiry has come is among the expired ones.
        """
        seqs = self._tx.run(
            QUERIES["page"],
            {
                "scope_codes": to_json(list(scope_codes)),
                "types": None if types is None else to_json(list(types)),
                "statuses": to_json(list(statuses)),
                "now_us": to_us(self._tx.now),
                "after_seq": after_seq,
                "limit": limit,
            },
        )
        return list(self.by_seqs([row[0] for row in seqs]).values())

    def count_by_status(self, scope_codes: Sequence[int]) -> dict[RecordStatus, int]:
        """Return how many rows of some scopes have each status; zeros included."""
        bindings = {"scope_codes": to_json(list(scope_codes)), "now_us": to_us(self._tx.now)}
        counted = dict(self._tx.run(QUERIES["count_by_status"], bindings))
        return {status: int(counted.get(status, 0)) for status in RECORD_STATUSES}

    def list_linked_to(self, entity_id: str) -> list[Record]:
        """Return every record linked to or about an entity, oldest first."""
        rows = self._tx.run(QUERIES["linked_to"], {"entity_id": entity_id})
        return list(self.by_seqs([row[0] for row in rows]).values())

    def seqs_at(
        self,
        which: str,
        at: datetime,
        scope_codes: Sequence[int],
        *,
        types: Sequence[MemoryType] | None,
        since: datetime | None,
        until: datetime | None,
    ) -> list[int]:
        """Return the rows eligible at a past moment; ``which`` is ``known_at`` or ``as_of``."""
        rows = self._tx.run(
            QUERIES[which],
            {
                "at_us": to_us(at),
                "scope_codes": to_json(list(scope_codes)),
                "types": None if types is None else to_json(list(types)),
                "since_us": to_us_or_none(since),
                "until_us": to_us_or_none(until),
            },
        )
        return [row[0] for row in rows]

    def _record(self, row: tuple[Any, ...]) -> Record:
        return Record(
            seq=row[0],
            id=row[1],
            type=row[2],
            version=row[3],
            revision=row[4],
            content=row[5],
            subject=row[6],
            subject_entity_id=row[7],
            attribute=row[8],
            attribute_derived=bool(row[9]),
            scope=self._tx.scopes.get(row[10]),
            source_kind=row[11],
            source_ref=row[12],
            creator_agent_id=row[13],
            evidence=row[14],
            created_at=from_text(row[15]),
            event_at=from_text(row[16]),
            expires_at=from_text_or_none(row[17]),
            valid_from=from_text_or_none(row[18]),
            valid_until=from_text_or_none(row[19]),
            review_at=from_text_or_none(row[20]),
            review_flagged_at=from_text_or_none(row[21]),
            closed_at=from_text_or_none(row[22]),
            confidence=row[23],
            status=row[24],
            supersedes_id=row[25],
            reinforcements=row[26],
            last_reinforced_at=from_text_or_none(row[27]),
            temporary=bool(row[28]),
            activation=row[29],
            category=row[30],
            token_count=row[31],
            index_version=row[32],
            tags=_listed(row[33]),
            entity_ids=_listed(row[34]),
        )


def _inserted(new: NewRecord, row: Mapping[str, Any], seq: int, now: datetime) -> Record:
    """Return a new row as it reads from the store: without links, which come separately."""
    return Record(
        seq=seq,
        id=row["id"],
        type=new.type,
        version=new.version,
        revision=1,
        content=new.content,
        subject=row["subject"],
        subject_entity_id=new.subject_entity_id,
        attribute=new.attribute,
        attribute_derived=new.attribute_derived,
        scope=new.scope,
        source_kind=new.source_kind,
        source_ref=new.source_ref,
        creator_agent_id=new.creator_agent_id,
        evidence=new.evidence,
        created_at=now,
        event_at=require_aware(new.event_at),
        expires_at=require_aware_or_none(new.expires_at),
        valid_from=require_aware_or_none(new.valid_from),
        valid_until=require_aware_or_none(new.valid_until),
        review_at=require_aware_or_none(new.review_at),
        review_flagged_at=None,
        closed_at=None if row["closed_at"] is None else now,
        confidence=new.confidence,
        status=new.status,
        supersedes_id=new.supersedes_id,
        reinforcements=0,
        last_reinforced_at=None,
        temporary=new.temporary,
        activation="conditional",
        category=None,
        token_count=row["token_count"],
        index_version=row["index_version"],
        tags=tuple(new.tags),
        entity_ids=(),
    )


def _listed(text: str) -> tuple[str, ...]:
    """Read a stored list; many are empty."""
    return () if text == "[]" else tuple(json.loads(text))
