"""Records by id, with what the caller may see of their links, conflicts and history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TypeVar

from retold.errors import InvalidInput, NotFound
from retold.models import (
    ACTIVE_STATUSES,
    MEMORY_TYPES,
    RECORD_STATUSES,
    MemoryRecord,
    MemoryType,
    Principal,
    Record,
    RecordStatus,
    Scope,
)
from retold.policy.grants import readable_scopes
from retold.retrieve.request import checked_moment
from retold.store import Transaction
from retold.store.candidates import CandidateRepository, Version
from retold.store.codec import to_us
from retold.store.inspection import InspectionRepository
from retold.text import require_id, require_limit

MAX_IDS = 100
WALK_BATCH = 500


@dataclass(frozen=True, slots=True)
class Operator:
    """Whoever keeps the store and may read every scope: never made for an agent."""


Reader = Principal | Operator
Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True)
class ConflictView:
    """A disagreement with another record that the caller may read.

    ``unresolved`` while both are active; from its expiry on a record is not.
    """

    record_id: str
    kind: str
    rule: str
    score: float | None
    noted_at: datetime
    unresolved: bool


@dataclass(frozen=True, slots=True)
class RecordView(MemoryRecord):
    """One record as a caller may see it, with what is known beside it.

    A forgotten record is a ``tombstone``: ids, moments and status stay, ``content``, ``evidence``
    and ``source_ref`` are None, tags and links empty. Entities, conflicts and lineage hold what
    the caller may read, and nothing tells that there is more. ``lineage`` runs from the oldest
    version to the newest, this record included. ``status`` is ``expired`` from ``expires_at`` on.
    ``evidence_supported`` says whether ``evidence`` was checked and backs the claim: a quote that
    failed its check, or that the judge could not score, is kept for audit only.
    """

    evidence_supported: bool
    conflicts: tuple[ConflictView, ...] = ()
    lineage: tuple[str, ...] = ()
    tombstone: bool = False


@dataclass(frozen=True, slots=True)
class Lookup:
    """What ``get`` found: a sequence of ``found``.

    ``missing`` holds the other ids: absent and unreadable ones alike.
    """

    found: tuple[RecordView, ...]
    missing: tuple[str, ...]

    def __iter__(self) -> Iterator[RecordView]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: int) -> RecordView:
        return self.found[place]


@dataclass(frozen=True, slots=True)
class Page:
    """One page, newest first: a sequence of ``records``.

    ``next_after`` is the id to continue after; None at the end.
    """

    records: tuple[RecordView, ...]
    next_after: str | None

    def __iter__(self) -> Iterator[RecordView]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, place: int) -> RecordView:
        return self.records[place]


@dataclass(frozen=True, slots=True)
class _Gate:
    """The scopes of one caller in one snapshot; every look-up passes through here."""

    codes: frozenset[int]
    repository: CandidateRepository

    @classmethod
    def open(cls, tx: Transaction, reader: Reader) -> _Gate:
        if isinstance(reader, Operator):
            codes = frozenset(InspectionRepository(tx).scope_codes())
        else:
            codes = frozenset(tx.scopes.codes(readable_scopes(tx, reader)).values())
        return cls(codes, CandidateRepository(tx))

    def within(self, tx: Transaction, scope: Scope | None) -> tuple[int, ...]:
        """Return the codes to look at; an unreadable scope is answered like an empty one."""
        if scope is None:
            return tuple(self.codes)
        code = tx.scopes.code(scope)
        return (code,) if code is not None and code in self.codes else ()

    def seqs(self, record_ids: Iterable[str]) -> dict[str, int]:
        return self.repository.readable_records(record_ids, self.codes)

    def versions(self, seqs: Iterable[int], at: datetime | None) -> dict[int, tuple[Version, ...]]:
        """Return the readable versions of each record's claim that were there at a moment."""
        until = None if at is None else to_us(at)
        seen: dict[int, tuple[Version, ...]] = {}
        readable: dict[int, tuple[Version, ...]] = {}
        for seq, family in self.repository.families(seqs).items():
            # Versions of one claim share their family: on a page of them it is looked at once.
            if id(family) not in seen:
                seen[id(family)] = tuple(
                    one
                    for one in family
                    if one.scope_code in self.codes and (until is None or one.created_us <= until)
                )
            readable[seq] = seen[id(family)]
        return readable


def get(tx: Transaction, reader: Reader, record_ids: Sequence[str]) -> Lookup:
    """Return the readable ones of 1 to 100 ids, in the order asked, history included.

    A foreign id runs the same statements as an unknown one. Raises InvalidInput for no ids, too
    many, or something that is not a string.
    """
    wanted = _checked_ids(record_ids)
    gate = _Gate.open(tx, reader)
    seqs = gate.seqs(wanted)
    views = {view.id: view for view in _views(tx, gate, [seqs[i] for i in wanted if i in seqs])}
    return Lookup(
        tuple(views[i] for i in wanted if i in views), tuple(i for i in wanted if i not in views)
    )


def history(
    tx: Transaction, reader: Reader, record_id: str, *, known_at: datetime | None = None
) -> tuple[RecordView, ...]:
    """Return every readable version of the claim that the record belongs to, oldest first.

    ``known_at`` shows the versions, conflicts and statuses of that moment: what was written or
    closed later is not told. Forgotten versions are tombstones whenever they are asked for.
    Raises NotFound alike for an unknown and an unreadable id, InvalidInput for a moment without a
    UTC offset.
    """
    at = checked_moment(known_at, "known_at")
    (wanted,) = _checked_ids([record_id])
    gate = _Gate.open(tx, reader)
    seq = gate.seqs([wanted]).get(wanted)
    if seq is None:
        raise NotFound(f"no record {record_id!r}")
    return tuple(_views(tx, gate, [one.seq for one in gate.versions([seq], at)[seq]], at))


def list_page(
    tx: Transaction,
    reader: Reader,
    *,
    scope: Scope | None = None,
    types: Collection[MemoryType] | None = None,
    statuses: Collection[RecordStatus] = ACTIVE_STATUSES,
    after: str | None = None,
    limit: int = 20,
) -> Page:
    """Return up to ``limit`` readable records, newest first, after the record ``after``.

    ``scope`` None takes every readable one; one that is not readable is answered like an empty one.

    An active record is among the expired ones from its expiry on, as it is for a search.
    An ``after`` that is not readable is answered like one past the end: an empty page. Raises
    InvalidInput for a limit outside 1 to 1000 and for unknown types or statuses, naming the
    choices.
    """
    require_limit(limit)
    wanted_types = None if types is None else _known(types, MEMORY_TYPES, "types")
    wanted = _known(statuses, RECORD_STATUSES, "status")
    gate = _Gate.open(tx, reader)
    after_seq = None
    if after is not None:
        after_seq = gate.seqs(_checked_ids([after])).get(after, 0)
    records = tx.records.list_page(
        gate.within(tx, scope),
        types=wanted_types,
        statuses=wanted,
        after_seq=after_seq,
        limit=limit + 1,
    )
    views = tuple(_views(tx, gate, [record.seq for record in records[:limit]]))
    return Page(views, views[-1].id if len(records) > limit else None)


def walk(
    tx: Transaction,
    reader: Reader,
    *,
    scope: Scope | None = None,
    types: Collection[MemoryType] | None = None,
    statuses: Collection[RecordStatus] = ACTIVE_STATUSES,
) -> Iterator[RecordView]:
    """Yield every readable record in the order they were stored, of this one snapshot.

    Memory stays flat however many there are. ``scope`` as in ``list_page``. Raises InvalidInput
    for unknown types or statuses, naming the choices.
    """
    gate = _Gate.open(tx, reader)
    batches = InspectionRepository(tx).walk(
        gate.within(tx, scope),
        types=None if types is None else _known(types, MEMORY_TYPES, "types"),
        statuses=_known(statuses, RECORD_STATUSES, "status"),
        batch=WALK_BATCH,
    )
    for seqs in batches:
        yield from _views(tx, gate, seqs)


def status_counts(
    tx: Transaction,
    reader: Reader,
    *,
    scope: Scope | None = None,
    types: Collection[MemoryType] | None = None,
) -> dict[RecordStatus, int]:
    """Return how many readable records have each status; statuses without any are left out."""
    codes = _Gate.open(tx, reader).within(tx, scope)
    return InspectionRepository(tx).count_by_status(codes, types)


def with_readable_links(
    tx: Transaction, records: Iterable[Record], scope_codes: Collection[int]
) -> list[Record]:
    """Return the records without entity and lineage links that lie outside the scopes."""
    given = list(records)
    repository = CandidateRepository(tx)
    named = dict.fromkeys(entity for record in given for entity in record.entity_ids)
    entities = repository.readable_entities(named, scope_codes) if named else frozenset()
    replaced = [one.supersedes_id for one in given if one.supersedes_id is not None]
    earlier = repository.readable_records(replaced, scope_codes) if replaced else {}
    return [
        record
        if entities.issuperset(record.entity_ids)
        and (record.supersedes_id is None or record.supersedes_id in earlier)
        else replace(
            record,
            entity_ids=tuple(one for one in record.entity_ids if one in entities),
            supersedes_id=record.supersedes_id if record.supersedes_id in earlier else None,
        )
        for record in given
    ]


def _views(
    tx: Transaction, gate: _Gate, seqs: Sequence[int], at: datetime | None = None
) -> list[RecordView]:
    """Return the records as they are now, or as they were at an earlier moment."""
    if not seqs:
        return []
    stored = [_as_of(record, tx.now, at) for record in tx.records.by_seqs(seqs).values()]
    conflicts = _conflicts(tx, gate, stored, at)
    versions = gate.versions(seqs, at)
    backed = gate.repository.backed(seqs)
    return [
        _view(
            record,
            conflicts=conflicts.get(record.seq, ()),
            lineage=tuple(one.record_id for one in versions[record.seq]),
            evidence_supported=record.seq in backed,
        )
        for record in with_readable_links(tx, stored, gate.codes)
    ]


def _as_of(record: Record, now: datetime, at: datetime | None) -> Record:
    """Return the record with its status now, or without what happened after ``at``.

    The row keeps no earlier statuses. One that was closed later was active; it carries an expiry
    that nothing but an unconfirmed record has, or was confirmed as far as the row tells.
    """
    if at is None or record.status == "deleted":
        return replace(record, status=record.status_at(now))
    if record.closed_at is not None and record.closed_at > at:
        own_end = record.temporary or record.source_kind == "session_summary"
        unconfirmed = record.expires_at is not None and not own_end
        record = replace(
            record, status="provisional" if unconfirmed else "confirmed", closed_at=None
        )
    if record.last_reinforced_at is not None and record.last_reinforced_at > at:
        record = replace(record, last_reinforced_at=None)
    return replace(record, status=record.status_at(at))


def _conflicts(
    tx: Transaction, gate: _Gate, records: Sequence[Record], at: datetime | None
) -> Mapping[int, tuple[ConflictView, ...]]:
    noted = []
    for row in tx.records.conflicts_of(record.seq for record in records):
        if row.other_scope_code not in gate.codes:
            continue
        if at is None or row.conflict.noted_at <= at:
            noted.append(row)
    if not noted:
        return {}
    others = tx.records.by_seqs(row.other_seq for row in noted).values()
    active = {
        one.seq for one in (*records, *(_as_of(o, tx.now, at) for o in others)) if one.is_active
    }
    found: dict[int, tuple[ConflictView, ...]] = {}
    for row in noted:
        view = ConflictView(
            record_id=row.conflict.other_id,
            kind=row.conflict.kind,
            rule=row.conflict.rule,
            score=row.conflict.score,
            noted_at=row.conflict.noted_at,
            unresolved=row.record_seq in active and row.other_seq in active,
        )
        found[row.record_seq] = (*found.get(row.record_seq, ()), view)
    return found


_COPIED = tuple(one.name for one in fields(MemoryRecord))


def _view(
    record: Record,
    *,
    conflicts: tuple[ConflictView, ...],
    lineage: tuple[str, ...],
    evidence_supported: bool,
) -> RecordView:
    values = {name: getattr(record, name) for name in _COPIED}
    if record.status == "deleted":
        values |= {
            "content": None,
            "evidence": None,
            "source_ref": None,
            "subject": None,
            "attribute": None,
            "tags": (),
            "entity_ids": (),
        }
        return RecordView(**values, evidence_supported=False, lineage=lineage, tombstone=True)
    return RecordView(
        **values, evidence_supported=evidence_supported, conflicts=conflicts, lineage=lineage
    )


def _checked_ids(record_ids: Sequence[str]) -> tuple[str, ...]:
    if isinstance(record_ids, str):
        raise InvalidInput("`ids` must be a list of record ids, not one string.", field="ids")
    ids = tuple(dict.fromkeys(require_id(one, "ids", allow_slash=True) for one in record_ids))
    if not 1 <= len(ids) <= MAX_IDS:
        raise InvalidInput(f"`ids` must hold 1 to {MAX_IDS} record ids.", field="ids")
    return ids


def _known(names: Iterable[Name], choices: Sequence[Name], what: str) -> tuple[Name, ...]:
    """Return the names. Raises InvalidInput for none, others, or what holds no names at all."""
    given = () if isinstance(names, str) or not isinstance(names, Iterable) else tuple(names)
    if not given or any(name not in choices for name in given):
        raise InvalidInput(f"`{what}` must name some of {', '.join(choices)}.", field=what)
    return given
