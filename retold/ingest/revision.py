"""Confirm, replace, expire, forget and merge what is already stored."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from retold.config import RetoldConfig
from retold.errors import InvalidInput, NotFound
from retold.index.vector import VectorIndex
from retold.ingest import evidence
from retold.ingest.admission import admitted_quote, admitted_reason
from retold.ingest.assent import asks_anything_else, is_assent
from retold.ingest.denials import Denials
from retold.ingest.entities import is_personal, principal_names
from retold.ingest.evidence import EvidenceRules
from retold.ingest.ingestor import Ingestor
from retold.ingest.persistence import reindex_text
from retold.ingest.preparation import refuse_forgotten
from retold.models import (
    ACTIVE_STATUSES,
    EntityMention,
    EvidenceCheck,
    EvidenceRow,
    Principal,
    Record,
    Scope,
    SourceKind,
    Turn,
    WriteRequest,
    WriteResult,
)
from retold.policy.grants import allowed_scopes, readable_scopes
from retold.policy.lifecycle import confirmed
from retold.protocols import ContentPolicy, EquivalenceJudge
from retold.store import Store, Transaction
from retold.store.candidates import CandidateRepository
from retold.text import require_id

Change = Literal["confirm", "expire", "forget"]


class Revision:
    """Change the life of stored records; every verb is one transaction.

    An id that is missing, unreadable or unwritable is answered by one NotFound, raised before
    anything about the record is looked at.
    """

    def __init__(
        self,
        store: Store,
        index: VectorIndex,
        ingestor: Ingestor,
        judge: EquivalenceJudge,
        cfg: RetoldConfig,
        *,
        content_policy: ContentPolicy | None = None,
    ) -> None:
        """Take the parts; nothing is opened or loaded."""
        self._store = store
        self._index = index
        self._ingestor = ingestor
        self._judge = judge
        self._cfg = cfg
        self._denials = Denials(store, cfg.audit)
        self._content_policy = content_policy

    def confirm(
        self,
        principal: Principal,
        record_id: str,
        *,
        reason: str,
        quote: str | None = None,
        trusted: bool,
        actor: str | None = None,
    ) -> Record:
        """Confirm a provisional record and clear its provisional expiry.

        Without ``trusted`` (a model asks) a quote of the user is required that supports the claim,
        and instructions that came from a tool are refused. Raises NotFound or InvalidInput.
        """
        reason = admitted_reason(reason, self._content_policy)
        quote = None if quote is None else admitted_quote(quote, self._content_policy)
        check = self._check_confirmation(principal, record_id, quote, trusted=trusted)

        def change(tx: Transaction, record: Record) -> Record:
            if record.status != "provisional":
                raise InvalidInput(f"record {record_id!r} is {record.status} already")
            if not trusted and _is_tool_procedure(record):
                raise InvalidInput(
                    f"record {record_id!r} holds instructions from a tool; "
                    "the host or an operator confirms those"
                )
            if check is not None:
                refuse_forgotten(tx, check)
            after = tx.records.update(confirmed(record, tx.now, self._cfg.ingestion))
            if check is not None and quote is not None and check.turn is not None:
                self._add_confirming_quote(tx, after, principal, quote, check)
            return after

        return self._change(principal, record_id, "confirm", reason, change, actor=actor)

    def expire(
        self, principal: Principal, record_id: str, *, reason: str, actor: str | None = None
    ) -> Record:
        """Take an active record out of retrieval. Raises NotFound or InvalidInput."""
        reason = admitted_reason(reason, self._content_policy)

        def change(tx: Transaction, record: Record) -> Record:
            return tx.records.update(replace(record, status="expired"))

        return self._change(principal, record_id, "expire", reason, change, actor=actor)

    def forget(
        self, principal: Principal, record_id: str, *, reason: str, actor: str | None = None
    ) -> Record:
        """Turn a record into a tombstone that no search and no reader shows.

        Its full-text row, token vectors and entity links go in the same transaction; its text stays
        in the file until an operator erases it, and the words behind it are not taken up again by a
        replay.
        Records of any status can be forgotten, once. Raises NotFound or InvalidInput.
        """
        reason = admitted_reason(reason, self._content_policy)

        def change(tx: Transaction, record: Record) -> Record:
            tx.evidence.suppress(record.seq)
            tx.lexical.delete(record.seq)
            tx.token_vectors.delete(record.seq)
            tx.entities.unlink(record.seq)
            return tx.records.update(replace(record, status="deleted"))

        return self._change(
            principal, record_id, "forget", reason, change, actor=actor, any_status=True
        )

    def supersede(
        self,
        principal: Principal,
        record_id: str,
        *,
        content: str,
        reason: str,
        source_kind: SourceKind = "user_statement",
        quote: str | None = None,
        evidence_turn: int | None = None,
        event_at: datetime | None = None,
        may_add_turn: bool = False,
        actor: str | None = None,
    ) -> WriteResult:
        """Replace an active record by a new claim under the same key.

        The quote is checked as for any write, and the new claim needs authority over the old one.
        It inherits attribute, tags, links and their roles. ``evidence_turn`` is a hint where the
        quote stands. Raises NotFound or InvalidInput, which names both source kinds when authority
        is lacking.
        """
        reason = admitted_reason(reason, self._content_policy)
        with self._denials.noted(principal), self._store.read() as tx:
            old = self._require_writable(tx, principal, record_id)
            _require_active(old, tx.now)
            mentions = _mentions_of(tx, old, readable_scopes(tx, principal))
        request = WriteRequest(
            type=old.type,
            content=content,
            attribute=None if old.attribute_derived else old.attribute,
            scope=old.scope,
            source_kind=source_kind,
            evidence=quote,
            evidence_turn=evidence_turn,
            mentions=mentions,
            event_at=event_at,
            tags=old.tags,
            actor=actor,
        )
        return self._ingestor.replace(
            principal, old, request, reason=reason, may_add_turn=may_add_turn
        )

    def merge(
        self,
        principal: Principal,
        entity_id: str,
        merge_into: str,
        *,
        reason: str,
        trusted: bool = False,
        actor: str | None = None,
    ) -> list[str]:
        """Merge one entity into another of its scope and kind; return the touched record ids.

        A record of another scope that links to it, as files of version 1 hold them, is touched but
        returned only to those who may read it. The event names the records that moved, so that an
        operator can part the two again. With ``trusted`` (an application asks) grants are not
        looked at.
        Raises NotFound for an entity the principal cannot read and write, InvalidInput for a
        circle, two kinds or two scopes.
        """
        reason = admitted_reason(reason, self._content_policy)
        with self._denials.noted(principal), self._store.write() as tx:
            if not trusted:
                for wanted in (entity_id, merge_into):
                    self._require_entity(tx, principal, wanted)
            moved = tx.records.list_linked_to(entity_id)
            touched = tx.entities.merge(entity_id, merge_into)
            records = list(tx.records.by_seqs(touched).values())
            for record in records:
                if record.status != "deleted":
                    reindex_text(tx, record)
            tx.events.append(
                "entity.merged",
                actor or principal.agent_id,
                entity_id=entity_id,
                user_id=principal.user_id,
                payload={
                    "merge_into": merge_into,
                    "moved": [record.id for record in moved],
                    "touched": len(records),
                    "reason": reason,
                },
            )
            self._index.note_own_write(tx, touched)
            readable = readable_scopes(tx, principal)
        return [record.id for record in records if trusted or record.scope in readable]

    def _change(
        self,
        principal: Principal,
        record_id: str,
        verb: Change,
        reason: str,
        change: Callable[[Transaction, Record], Record],
        *,
        actor: str | None,
        any_status: bool = False,
    ) -> Record:
        with self._denials.noted(principal), self._store.write() as tx:
            record = self._require_writable(tx, principal, record_id)
            if record.status == "deleted" or not any_status:
                _require_active(record, tx.now)
            after = change(tx, record)
            tx.events.append(
                "record.status",
                actor or principal.agent_id,
                record_id=record.id,
                user_id=principal.user_id,
                payload=_status_payload(verb, record, after, reason),
            )
            self._index.note_own_write(tx, [record.seq])
            return after

    def _require_writable(self, tx: Transaction, principal: Principal, record_id: str) -> Record:
        """Return the record. One NotFound for missing, unreadable and unwritable ones.

        The scope is part of the look-up, so all three run the same statements.
        """
        require_id(record_id, "record_id", allow_slash=True)
        codes = _codes_of(tx, principal)
        found = CandidateRepository(tx).readable_records([record_id], codes)
        if record_id not in found:
            raise NotFound(f"no record {record_id!r}")
        return tx.records.by_seqs([found[record_id]])[found[record_id]]

    def _require_entity(self, tx: Transaction, principal: Principal, entity_id: str) -> None:
        """Raise one NotFound for missing, unreadable and unwritable entities."""
        require_id(entity_id, "entity_id", allow_slash=True)
        found = CandidateRepository(tx).readable_entities([entity_id], _codes_of(tx, principal))
        if entity_id not in found:
            raise NotFound(f"no entity {entity_id!r}")

    def _check_confirmation(
        self, principal: Principal, record_id: str, quote: str | None, *, trusted: bool
    ) -> EvidenceCheck | None:
        with self._store.read() as tx:
            record = self._require_readable_quietly(tx, principal, record_id)
            turns = _turns_of(tx, principal)
            names = (
                principal_names(tx, principal, record.scope)
                if record is not None and is_personal(record.scope, principal)
                else (principal.user_id,)
            )
        if record is None or (quote is None and trusted):
            return None
        if quote is None:
            raise InvalidInput("confirm needs evidence: quote the user's words")
        rules = EvidenceRules(self._cfg.ingestion.evidence, self._cfg.policy)
        check = evidence.locate(turns, quote, "user_statement", rules=rules)
        scored = evidence.score(
            check, quote, record.content, names=names, judge=self._judge, rules=rules
        )
        if _is_user_support(scored) or self._answers_support(turns, check, record, names, rules):
            return scored
        raise InvalidInput(
            "the quote is no user turn that supports the record, and no clear yes to one of the "
            "assistant that does; quote the user's own words"
        )

    def _answers_support(
        self,
        turns: tuple[Turn, ...],
        check: EvidenceCheck,
        record: Record,
        names: tuple[str, ...],
        rules: EvidenceRules,
    ) -> bool:
        """Return whether the quote is a user's turn that says yes to a supporting one before it."""
        if check.turn is None or check.turn.role != "user" or check.span is None:
            return False
        if check.span != (0, len(check.turn.content)) or not is_assent(check.turn.content):
            return False
        at = next((i for i, turn in enumerate(turns) if turn is check.turn), 0)
        before = turns[at - 1] if at else None
        if before is None or before.role != "assistant" or not before.is_evidence:
            return False
        if asks_anything_else(before.content):
            return False
        verdict = self._judge.support(before.content, record.content, names=names)
        return verdict is not None and verdict.entails >= rules.cfg.entail_floor

    def _require_readable_quietly(
        self, tx: Transaction, principal: Principal, record_id: str
    ) -> Record | None:
        try:
            return self._require_writable(tx, principal, record_id)
        except NotFound:
            return None

    def _add_confirming_quote(
        self,
        tx: Transaction,
        record: Record,
        principal: Principal,
        quote: str,
        check: EvidenceCheck,
    ) -> None:
        assert check.turn is not None  # callers look first
        session = tx.sessions.get(check.turn.session_id)
        if session is None:
            return
        tx.evidence.insert(
            record.seq,
            EvidenceRow(
                source_type="session",
                source_id=session.conversation_id,
                locator=check.turn.turn,
                span=check.span,
                quote=quote,
                source_kind=check.source_kind,
                score=check.score,
                judge=check.judge,
                noted_at=tx.now,
                counted=not tx.evidence.has_counted_source(
                    record.seq, "session", session.conversation_id
                ),
                user_id=principal.user_id,
            ),
            session_id=session.id,
        )


def _codes_of(tx: Transaction, principal: Principal) -> tuple[int, ...]:
    """Return the codes of the scopes that the principal may both read and write."""
    grants = tx.grants.list_for(principal.agent_id)
    writable = allowed_scopes(principal, grants, "write")
    both = [scope for scope in allowed_scopes(principal, grants, "read") if scope in writable]
    return tuple(tx.scopes.codes(both).values())


def _require_active(record: Record, now: datetime) -> None:
    status = record.status_at(now)
    if status not in ACTIVE_STATUSES:
        raise InvalidInput(f"record {record.id!r} is {status}: history cannot be revised")


def _is_tool_procedure(record: Record) -> bool:
    return record.type == "procedural" and record.source_kind == "tool_result"


def _is_user_support(check: EvidenceCheck) -> bool:
    return (
        check.found
        and check.supported
        and check.score is not None
        and check.turn is not None
        and check.turn.role == "user"
    )


def _turns_of(tx: Transaction, principal: Principal) -> tuple[Turn, ...]:
    if principal.session_id is None:
        return ()
    session = tx.sessions.latest(principal.agent_id, principal.user_id, principal.session_id)
    return tuple(tx.sessions.turns(session.conversation_id)) if session else ()


def _mentions_of(
    tx: Transaction, record: Record, readable: Collection[Scope]
) -> tuple[EntityMention, ...]:
    """Return the record's links as explicit mentions, the primary subject first.

    A file of version 1 may hold links to entities that the caller cannot read; those are nobody's
    to pass on.
    """
    links = tx.entities.links_of([record.seq]).get(record.seq, [])
    ordered = sorted(links, key=lambda link: (link[0] != record.subject_entity_id, link[1]))
    found = [(tx.entities.get(entity_id), role) for entity_id, role in ordered]
    return tuple(
        EntityMention(entity.kind, entity.canonical, role, entity.id)
        for entity, role in found
        if entity is not None and entity.scope in readable
    )


def _status_payload(verb: Change, before: Record, after: Record, reason: str) -> dict[str, Any]:
    return {
        "action": verb,
        "from": before.status,
        "to": after.status,
        "reason": reason,
    }
