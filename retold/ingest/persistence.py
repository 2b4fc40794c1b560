"""Carry out a decision inside the write transaction: rows, links, evidence, conflicts, event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from retold.config import IngestionConfig, PolicyConfig
from retold.ingest.decision import (
    Decision,
    Disagree,
    Insert,
    Note,
    Reinforce,
    Supersede,
    SupersededOnArrival,
)
from retold.ingest.links import Links
from retold.ingest.plan import Applied, Plan, Source
from retold.ingest.trace import WriteTrace
from retold.models import Entity, EvidenceRow, Record, RecordStatus, WriteKind
from retold.policy.lifecycle import (
    INITIAL_CONFIDENCE,
    Observation,
    expiry_of,
    initial_status,
    reinforced,
)
from retold.policy.temporal import stated_end
from retold.store import Transaction
from retold.store.lexical import IndexText, Prepared, prepared
from retold.store.records import NewRecord

REINDEX_BATCH: Final = 500
"""Records in memory at once while many are indexed again."""


def text_of(
    content: Prepared, record: Record | NewRecord, primary: Entity | None, aliases: Iterable[str]
) -> IndexText:
    """Return what the full-text index holds for a record: content, subject words, aliases."""
    named = record.attribute is not None and not record.attribute_derived
    words = (record.attribute or "").replace("_", " ").strip("- ") if named else ""
    subject = " ".join(part for part in (words, primary.canonical if primary else "") if part)
    return IndexText(content, prepared(subject), prepared(" ".join(aliases)))


def reindex_text(tx: Transaction, record: Record) -> None:
    """Write a record's full-text row again after its subject or aliases changed."""
    entity = record.subject_entity_id
    primary = None if entity is None else tx.entities.get(entity)
    aliases = tx.entities.aliases_for_record(record.seq)
    text = text_of(prepared(record.content), record, primary, aliases)
    tx.lexical.delete(record.seq)
    tx.lexical.add(record.seq, text)
    tx.records.set_token_count(record.seq, text.token_count)


def reindex_linked(tx: Transaction, entity_ids: Sequence[str]) -> int:
    """Write every record linked to some entities anew after their aliases changed; count them."""
    seqs = sorted({seq for seq, _, _ in tx.entities.record_seqs_of(entity_ids)})
    for start in range(0, len(seqs), REINDEX_BATCH):
        batch = seqs[start : start + REINDEX_BATCH]
        for record in tx.records.by_seqs(batch).values():
            if record.status != "deleted":
                reindex_text(tx, record)
        tx.entities.touch_records(batch)
    return len(seqs)


class Persistence:
    """Apply one decision for one plan; made anew for every attempt under the lock."""

    def __init__(
        self,
        tx: Transaction,
        plan: Plan,
        links: Links,
        source: Source,
        *,
        cfg: IngestionConfig,
        policy: PolicyConfig,
        trace: WriteTrace,
    ) -> None:
        """Take the open write transaction and everything decided outside it."""
        self._tx = tx
        self._plan = plan
        self._links = links
        self._source = source
        self._cfg = cfg
        self._policy = policy
        self._trace = trace

    def apply(self, decision: Decision, facts: Mapping[str, Any]) -> Applied:
        """Write everything the decision asks for; ``facts`` go into the event."""
        if isinstance(decision, Reinforce):
            return self._reinforce(decision, facts)
        if isinstance(decision, Supersede):
            return self._supersede(decision, facts)
        if isinstance(decision, SupersededOnArrival):
            return self._arrive_late(decision, facts)
        if isinstance(decision, Disagree):
            return self._disagree(decision, facts)
        return self._insert(decision, facts)

    def _insert(self, decision: Insert, facts: Mapping[str, Any]) -> Applied:
        with self._trace.stage("persistence"):
            record = self._store(self._initial_status())
            self._note_all(record, decision.notes)
        others = tuple(note.record.id for note in decision.notes)
        extra = {
            "flags": [{"id": n.record.id, "rule": n.rule} for n in decision.notes],
            "temporary_coexists_with": [other.id for other in decision.coexists_with],
        }
        self._event("record.created", record, {**facts, **_present(extra)})
        kind: WriteKind = "flagged" if decision.notes else "created"
        return self._applied(record, kind, others)

    def _supersede(self, decision: Supersede, facts: Mapping[str, Any]) -> Applied:
        old, keep = decision.record, decision.keep_attribute_of
        with self._trace.stage("persistence"):
            touched = [self._close(closed) for closed in (old, *decision.also)]
            record = self._store(
                self._initial_status(),
                supersedes=old,
                attribute=None if keep is None else (keep.attribute, keep.attribute_derived),
            )
            self._tx.records.set_superseder([other.id for other in decision.also], record.seq)
            self._note_all(record, decision.notes)
        extra = {
            "supersedes": old.id,
            "rule": decision.rule,
            "also_superseded": [sibling.id for sibling in decision.also],
            "attribute_aliased_from": self._plan.key.attribute
            if keep is not None and keep.attribute != self._plan.key.attribute
            else None,
        }
        for closed in touched:
            self._event("record.superseded", closed, {"superseded_by": record.id})
        self._event("record.created", record, {**facts, **_present(extra)})
        return self._applied(record, "superseded", (old.id,), touched)

    def _arrive_late(self, decision: SupersededOnArrival, facts: Mapping[str, Any]) -> Applied:
        with self._trace.stage("persistence"):
            record = self._store("superseded", superseded_by=decision.by)
        self._event("record.created", record, {**facts, "superseded_on_arrival_by": decision.by.id})
        return self._applied(record, "superseded_on_arrival", (decision.by.id,))

    def _disagree(self, decision: Disagree, facts: Mapping[str, Any]) -> Applied:
        with self._trace.stage("persistence"):
            record = self._store("provisional")
            self._note_all(record, (decision.note, *decision.others))
        extra = {"conflict_with": decision.record.id, "rule": decision.note.rule}
        self._event("record.created", record, {**facts, **extra})
        return self._applied(record, "conflict", (decision.record.id,), (decision.record,))

    def _reinforce(self, decision: Reinforce, facts: Mapping[str, Any]) -> Applied:
        known = decision.record
        backing = self._plan.backing
        independent = not self._tx.evidence.has_counted_source(
            known.seq, self._source.type, self._source.id
        )
        observation = Observation(
            backing.source_kind,
            self._source.ref,
            backing.quote,
            verified=backing.verified,
            independent=independent,
        )
        with self._trace.stage("persistence"):
            after = reinforced(
                known,
                observation,
                self._tx.now,
                cfg=self._cfg,
                policy=self._policy,
                may_promote=decision.may_promote,
            )
            changed = after is not known
            stored = self._tx.records.update(after) if changed else known
            if self._is_new_sighting(known):
                self._add_evidence(known.seq, counted=observation.counted)
        extra = {
            "counted": observation.counted,
            "status": stored.status,
            "attribute_aliased_from": self._plan.key.attribute if decision.aliased else None,
        }
        kind = "record.reinforced" if changed else "record.observed"
        self._event(kind, stored, {**facts, **_present(extra)})
        outcome: WriteKind = "reinforced" if changed else "already_reinforced"
        return self._applied(stored, outcome, (known.id,))

    def _is_new_sighting(self, known: Record) -> bool:
        """Return whether this very span is not yet among the record's observations."""
        check = self._plan.backing.check
        if not check.found and self._source.type == "session":
            return False
        return not any(
            (row.source_type, row.source_id, row.locator, row.span)
            == (self._source.type, self._source.id, self._source.turn, check.span)
            for row in self._tx.evidence.list_for(known.seq)
        )

    def _store(
        self,
        status: RecordStatus,
        *,
        supersedes: Record | None = None,
        superseded_by: Record | None = None,
        attribute: tuple[str | None, bool] | None = None,
    ) -> Record:
        plan, request = self._plan, self._plan.request
        name, derived = attribute or (plan.key.attribute, plan.key.derived)
        primary = self._links.primary
        new = NewRecord(
            type=request.type,
            content=request.content,
            scope=plan.setting.scope,
            subject_entity_id=primary.id if primary else None,
            attribute=name,
            attribute_derived=derived,
            source_kind=plan.backing.source_kind,
            source_ref=self._source.ref,
            creator_agent_id=plan.setting.principal.agent_id,
            evidence=plan.backing.quote,
            event_at=plan.event_at,
            expires_at=self._expiry(status),
            valid_from=request.valid_from,
            valid_until=request.valid_until or self._stated_end(),
            review_at=request.review_at,
            confidence=self._confidence(),
            status=status,
            supersedes_id=supersedes.id if supersedes else None,
            superseded_by_id=superseded_by.id if superseded_by else None,
            version=supersedes.version + 1 if supersedes else 1,
            temporary=plan.temporary,
            tags=request.tags,
        )
        text = text_of(plan.indexed, new, primary, self._links.aliases)
        record = self._tx.records.insert(new, token_count=text.token_count)
        for entity_id, role in self._links.links:
            self._tx.entities.link(record.seq, entity_id, role)
        self._tx.embeddings.insert(record.seq, plan.vector)
        self._tx.embeddings.note_text(named=plan.named)
        if plan.tokens is not None:
            self._tx.token_vectors.put(record.seq, plan.tokens)
        self._tx.lexical.add(record.seq, text)
        self._add_evidence(record.seq, counted=plan.backing.verified)
        return record

    def _add_evidence(self, record_seq: int, *, counted: bool) -> None:
        backing = self._plan.backing
        self._tx.evidence.insert(
            record_seq,
            EvidenceRow(
                source_type=self._source.type,
                source_id=self._source.id,
                locator=self._source.turn,
                span=backing.check.span,
                quote=backing.quote,
                source_kind=backing.source_kind,
                score=backing.check.score,
                judge=backing.check.judge,
                noted_at=self._tx.now,
                counted=counted,
                user_id=self._user_id(),
            ),
            session_id=self._source.session_id,
        )

    def _close(self, record: Record) -> Record:
        return self._tx.records.update(replace(record, status="superseded"))

    def _note_all(self, record: Record, notes: Sequence[Note]) -> None:
        for note in notes:
            self._tx.records.insert_conflict(
                record, note.record, kind=note.kind, rule=note.rule, score=note.score
            )

    def _initial_status(self) -> RecordStatus:
        return initial_status(self._plan.backing.source_kind, self._plan.request.type)

    def _confidence(self) -> float:
        given = self._plan.request.confidence
        usual = INITIAL_CONFIDENCE[self._plan.backing.source_kind]
        return usual if given is None else min(given, usual)

    def _stated_end(self) -> datetime | None:
        if not self._plan.temporary:
            return None
        return stated_end(self._plan.request.content, self._plan.event_at)

    def _expiry(self, status: RecordStatus) -> datetime | None:
        return expiry_of(
            self._plan.backing.source_kind,
            status,
            self._tx.now,
            self._cfg,
            temporary=self._plan.temporary,
            valid_until=self._plan.request.valid_until or self._stated_end(),
        )

    def _event(self, kind: str, record: Record, payload: Mapping[str, Any]) -> None:
        session = self._plan.setting.session
        timings = self._trace.event_timings()
        with self._trace.stage("event_log"):
            self._tx.events.append(
                kind,
                self._plan.setting.actor,
                record_id=record.id,
                session_id=session.id if session else None,
                user_id=self._user_id(),
                payload={**payload, **timings},
            )

    def _user_id(self) -> str | None:
        setting = self._plan.setting
        return None if setting.is_host else setting.principal.user_id

    def _applied(
        self,
        record: Record,
        kind: WriteKind,
        others: tuple[str, ...],
        also_touched: Sequence[Record] = (),
    ) -> Applied:
        return Applied(
            record_id=record.id,
            status=record.status,
            kind=kind,
            other_ids=others,
            source_kind=record.source_kind,
            touched=(record.seq, *(other.seq for other in also_touched)),
        )


def _present(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what a write had nothing to say about."""
    return {key: value for key, value in payload.items() if value not in (None, [], ())}
