"""What a run stands on: the segment's words, what was forgotten of them, and the agent's rights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from retold.config import RetoldConfig
from retold.errors import EntityAmbiguous
from retold.ingest.entities import EntityResolver, principal_names
from retold.ingest.evidence import ForgottenSpan
from retold.ingest.extraction.candidates import ValidCandidate
from retold.ingest.extraction.checks import ACTOR
from retold.ingest.extraction.transcript import eligible_turns, without_spans
from retold.ingest.subject import attribute_key, primary_mention
from retold.models import (
    CandidateRecord,
    Entity,
    ExtractionContext,
    KnownEntity,
    KnownRecord,
    Principal,
    RejectedCandidate,
    ReviewItem,
    Scope,
    Session,
    Turn,
)
from retold.policy.grants import allowed_scopes, default_scope
from retold.store import Transaction

MayLeave = Callable[[Scope], bool]
"""Whether text of a scope may be shown to the model."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What one transaction saw; a run commits only while it is still so.

    ``turns`` are all of the segment, ``scope`` is where its memories go, ``updatable`` are the
    scopes that the agent may read and write.
    """

    session: Session
    principal: Principal
    turns: tuple[Turn, ...] = field(repr=False)
    forgotten: frozenset[ForgottenSpan]
    scope: Scope
    readable: tuple[Scope, ...]
    updatable: frozenset[Scope]
    names: tuple[str, ...] = field(repr=False)

    @property
    def shown(self) -> tuple[Turn, ...]:
        """Return the turns that a model may see: evidence, not blanked, forgotten words cut out."""
        return without_spans(eligible_turns(self.turns), self.forgotten)


def ground_of(tx: Transaction, session_id: str) -> Ground:
    """Return what a run of the segment stands on now. Raises NotFound."""
    session = tx.sessions.require(session_id)
    principal = Principal(
        session.agent_id, session.user_id, session.external_id, session.project_id
    )
    grants = tx.grants.list_for(principal.agent_id)
    readable = allowed_scopes(principal, grants, "read")
    scope = default_scope(principal, grants)
    return Ground(
        session=session,
        principal=principal,
        turns=tuple(tx.sessions.turns_of(session_id)),
        forgotten=frozenset(tx.evidence.list_suppressed(session.conversation_id)),
        scope=scope,
        readable=readable,
        updatable=frozenset(allowed_scopes(principal, grants, "write")) & frozenset(readable),
        names=principal_names(tx, principal, scope),
    )


def context_of(
    tx: Transaction, ground: Ground, cfg: RetoldConfig, may_leave: MayLeave
) -> ExtractionContext:
    """Return what a model is told beside the transcript, of scopes whose text may leave only."""
    ingestion, user_id = cfg.ingestion, ground.principal.user_id
    shown = tx.scopes.codes(scope for scope in ground.readable if may_leave(scope))
    found = tx.entities.list_in_scopes(shown.values(), ingestion.extraction_context_max_entities)
    known = tx.extraction.list_known(
        sorted(scope for scope in ground.updatable if may_leave(scope)),
        user_id,
        limit=ingestion.extraction_context_max_subjects,
    )
    return ExtractionContext(
        ground.principal,
        ground.scope,
        ground.updatable,
        names=ground.names,
        entities=tuple(
            KnownEntity(one.id, one.kind, one.scope, one.canonical)
            for one in found
            if one.principal_user_id != user_id
        ),
        records=tuple(
            KnownRecord(
                row.record_id, row.type, row.scope, row.attribute, row.content, about=row.about
            )
            for row in known
        ),
    )


def with_subject(
    tx: Transaction, ground: Ground, valid: ValidCandidate, cfg: RetoldConfig
) -> ReviewItem | RejectedCandidate:
    """Return the candidate beside what is stored about its subject where it would go.

    One whose subject may be several people or things is refused, and nobody is shown them.
    """
    resolver = EntityResolver(
        tx, ground.principal, ground.scope, ground.readable, actor=ACTOR, create=False
    )
    try:
        subject = _subject_of(valid.candidate, resolver)
    except EntityAmbiguous as several:
        return RejectedCandidate(
            valid.position,
            "entity_ambiguous",
            None,
            valid.candidate,
            entity_ids=ids_of(several),
        )
    turn = without_spans([valid.turn], ground.forgotten)
    return ReviewItem(
        valid.candidate,
        turn[0] if turn else replace(valid.turn, content=""),
        () if subject is None else _live_records(tx, ground, valid.candidate, subject, cfg),
    )


def ids_of(several: EntityAmbiguous) -> tuple[str, ...]:
    """Return the entities that an ambiguous name may mean."""
    candidates = several.details.get("candidates", ())
    assert isinstance(candidates, list)  # as the resolver raises it
    return tuple(str(one["entity_id"]) for one in candidates)


def _subject_of(candidate: CandidateRecord, resolver: EntityResolver) -> Entity | None:
    """Return whom the candidate is about; None for somebody who is still unknown."""
    for mention in candidate.mentions:
        if mention.role == "about":
            resolver.require_unambiguous(resolver.resolve(mention))
    about = primary_mention(candidate.mentions)
    return resolver.principal_entity() if about is None else resolver.resolve(about).entity


def _live_records(
    tx: Transaction,
    ground: Ground,
    candidate: CandidateRecord,
    subject: Entity,
    cfg: RetoldConfig,
) -> tuple[KnownRecord, ...]:
    """Return what is active about the subject there: all of the attribute, and some others."""
    if subject.scope != ground.scope or candidate.type == "episodic":
        return ()
    key = attribute_key(candidate.type, candidate.content, candidate.attribute)
    rows, _ = tx.records.list_subject(
        subject.id,
        candidate.type,
        key.attribute,
        max_others=cfg.ingestion.max_nearby_records,
    )
    kept = [row.seq for row in rows[: cfg.ingestion.max_entity_attributes]]
    is_principal = subject.principal_user_id == ground.principal.user_id
    return tuple(
        KnownRecord(
            record.id,
            record.type,
            record.scope,
            record.attribute or "-",
            record.content,
            about=None if is_principal else subject.canonical,
        )
        for record in tx.records.by_seqs(kept).values()
    )
