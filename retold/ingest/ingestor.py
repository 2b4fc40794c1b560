"""The write path: gather, decide, apply, until nothing changed in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np

from retold.config import RetoldConfig
from retold.errors import (
    InvalidInput,
    RequestError,
    ScopeNotWritable,
    StaleComparison,
    WriteContended,
)
from retold.index.vector import VectorIndex
from retold.ingest.admission import admitted, admitted_summary
from retold.ingest.batch import BatchItem, ClaimBatch
from retold.ingest.comparing import Choose, Comparing, Unjudged, claim_of
from retold.ingest.decision import Decision, Insert, Reinforce, Supersede
from retold.ingest.denials import Denials
from retold.ingest.embedded_text import embedded_text
from retold.ingest.embedding import Embedded, embed_texts
from retold.ingest.entities import EntityResolver
from retold.ingest.links import Links, links_of, resolver_for
from retold.ingest.persistence import Persistence
from retold.ingest.plan import Applied, Plan, Setting, answer_of
from retold.ingest.preparation import (
    Situation,
    backing_of,
    event_time,
    key_of,
    refuse_forgotten,
    situation_of,
    under_current_grants,
)
from retold.ingest.segments import Silence
from retold.ingest.sources import source_of
from retold.ingest.subject import NO_ATTRIBUTE, primary_mention, require_own_subject
from retold.ingest.summaries import ended_at, store_summary, summary_plan, summary_request
from retold.ingest.trace import WriteTrace
from retold.models import (
    EntityMention,
    Principal,
    Record,
    Session,
    Verdict,
    WriteRequest,
    WriteResult,
)
from retold.policy.lifecycle import Standing, has_authority
from retold.policy.temporal import is_temporary
from retold.protocols import ContentPolicy, Embedder, EquivalenceJudge
from retold.store import Store, Transaction
from retold.store.lexical import prepared


@dataclass(frozen=True, slots=True)
class _Decided:
    """What to do with a claim; ``facts`` go into the event."""

    links: Links
    decision: Decision
    facts: dict[str, Any]


class _Repetition(Exception):
    """Undoes the entities of a claim that is known already; never leaves this module."""

    def __init__(self, decided: _Decided) -> None:
        super().__init__()
        self.decided = decided


NOT_YET: Embedded = Embedded(np.empty(0, dtype=np.float32))
"""Stands in a plan until its claim is known to be wanted: embedding is the costly step."""


class Ingestor:
    """Store claims by the rules of LLD 6 and 8.1.

    Models run outside every transaction. What a decision rests on is read again under the write
    lock; when something new appeared, the lock is let go, the new rows are judged and the write
    is tried again until the busy timeout.
    """

    def __init__(
        self,
        store: Store,
        index: VectorIndex,
        embedder: Embedder,
        judge: EquivalenceJudge,
        cfg: RetoldConfig,
        *,
        silence: Silence,
        content_policy: ContentPolicy | None = None,
    ) -> None:
        """Take the parts; nothing is opened or loaded."""
        self._silence = silence
        self._store = store
        self._index = index
        self._embedder = embedder
        self._judge = judge
        self._cfg = cfg
        self._comparing = Comparing(store, index, judge, cfg)
        self._denials = Denials(store, cfg.audit)
        self._content_policy = content_policy

    def write(
        self, principal: Principal, request: WriteRequest, *, may_add_turn: bool = False
    ) -> WriteResult:
        """Store one claim and say what became of it.

        ``may_add_turn`` is for trusted hosts: a quote that the transcript lacks becomes a turn in
        the same transaction. Raises the RequestError that explains a refusal, after which nothing
        of the claim is stored; EmbeddingError and JudgeError when a model fails.
        """
        trace = WriteTrace()
        with self._denials.noted(principal):
            request = admitted(request, self._content_policy)
            plan = self._plan(principal, request, trace, may_add_turn=may_add_turn)
            applied, version = self._commit(plan, trace)
        return answer_of(applied, trace, version)

    def replace(
        self,
        principal: Principal,
        old: Record,
        request: WriteRequest,
        *,
        reason: str,
        may_add_turn: bool = False,
    ) -> WriteResult:
        """Store a claim in the place of an active record, whatever the judge thinks of the two.

        The caller has checked that the principal may write ``old`` and that ``reason`` may be
        stored. Raises InvalidInput when the claim lacks authority or the record became history
        meanwhile, WriteContended when the principal's rights changed.
        """
        trace = WriteTrace()
        with self._denials.noted(principal):
            request = admitted(request, self._content_policy)
            plan = self._plan(principal, request, trace, may_add_turn=may_add_turn)
            try:
                applied, version = self._try(plan, self._choice_of(plan, old, reason), trace)
            except StaleComparison as changed:
                raise WriteContended("the agent's grants changed; try again") from changed
        return answer_of(applied, trace, version)

    def write_corpus(
        self, principal: Principal, requests: Sequence[WriteRequest]
    ) -> tuple[WriteResult, ...]:
        """Store trusted claims as they are, in one transaction, without comparing them.

        For imports: no judge runs and no record is reinforced or superseded. All or none.
        """
        trace = WriteTrace()
        checked = [admitted(request, self._content_policy) for request in requests]
        with self._store.read() as tx:
            situations = [situation_of(tx, principal, item) for item in checked]
        with trace.stage("embed"):
            texts = map(self._text_of, checked, (each.setting for each in situations))
            embedded = self._embedded(list(texts))
        plans = [
            self._assemble(item, situation, one, may_add_turn=False)
            for item, situation, one in zip(checked, situations, embedded, strict=True)
        ]
        with self._store.write() as tx:
            self._index.require_embedding(tx)
            applied = [self._apply(tx, plan, _as_it_is, WriteTrace()) for plan in plans]
            touched = [seq for one in applied for seq in one.touched]
            self._index.note_own_write(tx, touched)
        return tuple(answer_of(one, trace, tx.committed_version) for one in applied)

    def batch(
        self, principal: Principal, segment: Session, requests: Sequence[WriteRequest]
    ) -> ClaimBatch:
        """Return claims from one segment, planned for one transaction; models run here.

        Quotes are looked for in the segment's own turns. A claim that is refused is refused in the
        batch. Raises ScopeNotWritable, EmbeddingError and JudgeError.
        """
        items = [self._batch_item(principal, segment, request) for request in requests]
        return ClaimBatch(
            items,
            store=self._store,
            index=self._index,
            comparing=self._comparing,
            apply=self._apply,
            cfg=self._cfg.ingestion,
        )

    def summary(
        self,
        principal: Principal,
        segment: Session,
        text: str,
        *,
        mentions: Sequence[EntityMention] = (),
        actor: str,
    ) -> Plan:
        """Return the plan of a segment's summary, for ``store_summary``; the embedder runs here.

        Raises InvalidInput when the content policy refuses the text.
        """
        silence = timedelta(minutes=self._cfg.ingestion.session_idle_timeout_minutes)
        with self._store.read() as tx:
            over = ended_at(segment, tx.sessions.turns_of(segment.id), silence)
            asked = summary_request(text, over, mentions, actor)
            request = admitted_summary(asked, self._content_policy)
            setting = situation_of(tx, principal, request, segment=segment).setting
        (embedded,) = self._embedded([self._text_of(request, setting)])
        return summary_plan(request, setting, embedded, named=self._cfg.embeds_subject)

    def store_summary(self, tx: Transaction, plan: Plan, segment: Session) -> Applied | None:
        """Store a planned summary in the open transaction; see ``retold.ingest.summaries``."""
        self._index.require_embedding(tx)
        applied = store_summary(tx, plan, segment, self._cfg, WriteTrace())
        if applied is not None:
            self._index.note_own_write(tx, applied.touched)
        return applied

    def _batch_item(
        self, principal: Principal, segment: Session, request: WriteRequest
    ) -> BatchItem:
        trace = WriteTrace()
        try:
            request = admitted(request, self._content_policy)
            plan = self._plan(principal, request, trace, may_add_turn=False, segment=segment)
        except ScopeNotWritable:
            raise
        except RequestError as refusal:
            return BatchItem(trace, refused=refusal)
        return BatchItem(trace, plan)

    def _plan(
        self,
        principal: Principal,
        request: WriteRequest,
        trace: WriteTrace,
        *,
        may_add_turn: bool,
        segment: Session | None = None,
    ) -> Plan:
        with trace.stage("permission"), self._store.read() as tx:
            situation = situation_of(tx, principal, request, segment=segment)
            self._index.require_embedding(tx)
        with trace.stage("evidence"):
            self._refuse_strangers(situation, request)
            plan = self._assemble(request, situation, NOT_YET, may_add_turn=may_add_turn)
        if request.type == "episodic" and request.attribute not in {None, NO_ATTRIBUTE}:
            trace.note("attribute_ignored")
        if plan.backing.check.note and not plan.setting.is_host:
            trace.note(plan.backing.check.note)
        with trace.stage("embed"):
            (embedded,) = self._embedded([self._text_of(request, plan.setting)])
        return replace(plan, vector=embedded.vector, tokens=embedded.tokens)

    def _text_of(self, request: WriteRequest, setting: Setting) -> str:
        return embedded_text(request, setting, with_subject=self._cfg.embeds_subject)

    def _embedded(self, texts: Sequence[str]) -> tuple[Embedded, ...]:
        """Return one checked result per text. Raises EmbeddingError."""
        with_tokens = self._cfg.retrieval.late_interaction.enabled
        return embed_texts(self._embedder, texts, with_tokens=with_tokens)

    def _refuse_strangers(self, situation: Situation, request: WriteRequest) -> None:
        setting = situation.setting
        named = primary_mention(request.mentions) is not None
        if setting.implies_principal and not named and request.type == "semantic":
            require_own_subject(request.content, setting.names)

    def _assemble(
        self, request: WriteRequest, situation: Situation, embedded: Embedded, *, may_add_turn: bool
    ) -> Plan:
        key = key_of(request, situation.setting)
        backing = backing_of(
            situation, request, may_add_turn=may_add_turn, judge=self._judge, cfg=self._cfg
        )
        many = self._cfg.ingestion.is_multi_valued(key.attribute)
        is_trusted = may_add_turn or situation.setting.is_host
        at = event_time(request, backing, situation.now, self._cfg, is_trusted=is_trusted)
        passing = is_temporary(request.content, request.type, at)
        return Plan(
            request=request,
            setting=situation.setting,
            backing=backing,
            key=key,
            multi_valued=many if request.replaces is None else not request.replaces,
            temporary=request.type != "episodic" and passing,
            event_at=at,
            indexed=prepared(request.content),
            vector=embedded.vector,
            tokens=embedded.tokens,
            named=self._cfg.embeds_subject,
        )

    def _commit(self, plan: Plan, trace: WriteTrace) -> tuple[Applied, int]:
        verdicts: dict[str, Verdict] = {}
        deadline_ms = self._cfg.store.busy_timeout_seconds * 1000
        while True:
            gathered = self._comparing.gather(plan, verdicts, trace)
            plan = gathered.plan
            self._comparing.judge_all(gathered.unjudged, plan, verdicts, trace)
            try:
                choose = self._comparing.choice_by_rules(gathered, verdicts)
                return self._try(plan, choose, trace)
            except Unjudged as appeared:
                self._comparing.judge_all(appeared.contents, plan, verdicts, trace)
            except StaleComparison:
                pass
            if trace.timings_ms()["total"] > deadline_ms:
                raise WriteContended

    def _try(self, plan: Plan, choose: Choose, trace: WriteTrace) -> tuple[Applied, int]:
        """Decide and apply under the lock. Raises what ``choose`` raises, with nothing stored.

        StaleComparison also when the principal's rights are not those that the plan was made under.
        """
        with self._store.write() as tx:
            self._index.require_embedding(tx)
            if under_current_grants(tx, plan.setting) != plan.setting:
                raise StaleComparison
            applied = self._apply(tx, plan, choose, trace)
            trace.watch_commit(tx, lambda: self._index.note_own_write(tx, applied.touched))
        return applied, tx.committed_version

    def _apply(self, tx: Transaction, plan: Plan, choose: Choose, trace: WriteTrace) -> Applied:
        refuse_forgotten(tx, plan.backing.check)
        decided = self._decided(tx, plan, choose, trace)
        for _ in decided.links.dropped:
            trace.note("ambiguous_mention")
        facts: dict[str, Any] = {"source_kind": plan.backing.source_kind, "notes": trace.notes}
        if plan.backing.check.score is not None:
            facts["entailment"] = round(plan.backing.check.score, 4)
        persistence = Persistence(
            tx,
            plan,
            decided.links,
            source_of(tx, plan, self._silence),
            cfg=self._cfg.ingestion,
            policy=self._cfg.policy,
            trace=trace,
        )
        return persistence.apply(decided.decision, {**facts, **decided.facts})

    def _decided(self, tx: Transaction, plan: Plan, choose: Choose, trace: WriteTrace) -> _Decided:
        """Decide with the claim's entities in place; those of a mere repetition are undone."""
        try:
            with tx.savepoint():
                return self._decided_with_entities(tx, plan, choose, trace)
        except _Repetition as known:
            return known.decided

    def _decided_with_entities(
        self, tx: Transaction, plan: Plan, choose: Choose, trace: WriteTrace
    ) -> _Decided:
        """Make the entities first: by them the same subject is found in another scope."""
        resolver = resolver_for(tx, plan, create=True)
        with trace.stage("entities"):
            links = links_of(plan, resolver)
        with trace.stage("supersession"):
            decision, more = choose(tx, links, resolver)
        decided = _Decided(links, decision, more)
        if isinstance(decision, Reinforce):
            raise _Repetition(decided)
        return decided

    def _choice_of(self, plan: Plan, old: Record, reason: str) -> Choose:
        """Return the decision to replace one record, as far as authority allows."""

        def choose(
            tx: Transaction, links: Links, resolver: EntityResolver
        ) -> tuple[Decision, dict[str, Any]]:
            now_old = tx.records.require(old.id)
            if not now_old.is_active:
                raise InvalidInput(
                    f"record {old.id!r} is {now_old.status}: history cannot be revised"
                )
            new, standing = claim_of(plan, tx).standing, Standing.of(now_old)
            if not has_authority(new, standing, self._cfg.policy):
                raise InvalidInput(
                    f"{new.source_kind} of {new.event_at.isoformat()} has no authority over "
                    f"{standing.source_kind} of {standing.event_at.isoformat()}; "
                    "quote the user's words as evidence"
                )
            facts = {"manual_revision": True, "reason": reason}
            return Supersede(now_old, "manual", keep_attribute_of=now_old), facts

        return choose


def _as_it_is(
    tx: Transaction, links: Links, resolver: EntityResolver
) -> tuple[Decision, dict[str, Any]]:
    """Store the claim beside whatever is there."""
    return Insert(), {}
