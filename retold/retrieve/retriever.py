"""One search from request to response: the only place that knows the order of the stages."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from retold.config import Levers, RetoldConfig, resolve_levers
from retold.index.checks import check_vectors
from retold.index.vector import VectorIndex
from retold.models import (
    Candidate,
    Principal,
    SearchRequest,
    SearchResponse,
    SearchResult,
)
from retold.policy.grants import readable_scopes
from retold.protocols import (
    CompletionClient,
    ContentPolicy,
    Embedder,
    QueryRewriter,
    Reranker,
)
from retold.retrieve.assemble import outside_pool
from retold.retrieve.budget import BudgetOutcome, fill_budget, result_tokens
from retold.retrieve.conflicts import choose_counterpart, pair_counterparts
from retold.retrieve.coverage import read_queries, scripts_of
from retold.retrieve.dedup import Cosines, collapse_duplicates, holds_near
from retold.retrieve.duplicates import Twin, group_duplicates
from retold.retrieve.explain import explain, explain_empty
from retold.retrieve.final import FinalLook, look_again
from retold.retrieve.gate import decide, exclude_source_kinds
from retold.retrieve.generators import pairwise_cosines
from retold.retrieve.late_interaction import late_interaction_of
from retold.retrieve.null_signals import NullReference
from retold.retrieve.pool import PoolFinder, QueryVectors, described
from retold.retrieve.render import render_response
from retold.retrieve.request import checked_request
from retold.retrieve.rerank import NoReranker, rerank
from retold.retrieve.rewrite import rewrite_queries, rewriter_from_config
from retold.retrieve.searchlog import LogOutcome, SearchLogWriter
from retold.retrieve.snapshot import (
    Readable,
    believed_seqs,
    unresolved_conflicts,
    wants_history,
)
from retold.retrieve.trace import LoggedSettings, SearchTrace
from retold.retrieve.twins import read_twins
from retold.store import Store, Transaction
from retold.store.codec import to_us, to_us_or_none
from retold.store.token_vectors import PackedTokens
from retold.util import Clock, IdSource, Timer, new_id, system_clock

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Selection:
    """What the snapshot says about the survivors.

    ``conflicts`` holds unresolved conflicts with readable rows, in both directions;
    ``contents`` the texts of the rerank shortlist; ``twins`` what candidates say that may be one,
    None where near-identical ones collapse whatever they say.
    """

    kept: tuple[Candidate, ...]
    conflicts: Mapping[int, tuple[int, ...]]
    contents: Mapping[int, str] = field(repr=False)
    twins: Mapping[int, Twin] | None = field(repr=False)


class Retriever:
    """Search one store for one caller at a time; safe across threads.

    ``embedder`` None means that this process has no dense channel; one without token vectors
    raises ConfigError where late interaction is on. ``rewriter`` None asks a hosted model through
    ``completions`` when rewriting is on. The retriever owns nothing but
    its log writer: ``close`` flushes the log.
    """

    def __init__(
        self,
        store: Store,
        index: VectorIndex,
        embedder: Embedder | None,
        config: RetoldConfig,
        *,
        rewriter: QueryRewriter | None = None,
        completions: CompletionClient | None = None,
        reranker: Reranker | None = None,
        content_policy: ContentPolicy | None = None,
        clock: Clock = system_clock,
        id_source: IdSource = new_id,
    ) -> None:
        self._store = store
        self._index = index
        self._embedder = embedder
        self._config = config
        self._levers = resolve_levers(config.retrieval)
        self._rewriter_for = rewriter_from_config(
            config.retrieval.rewrite, store, given=rewriter, client=completions
        )
        self._reranker = reranker or NoReranker()
        self._content_policy = content_policy
        self._clock = clock
        self._new_id = id_source
        self._scripts = scripts_of(embedder, config.embedding.scripts)
        self._null = NullReference()
        reranked = config.reranker.candidates if config.reranker.enabled else 0
        self._late = late_interaction_of(embedder, self._levers.late_interaction)
        self._finder = PoolFinder(
            index, config.retrieval, self._levers, self._null, reranked=reranked, late=self._late
        )
        self._log = SearchLogWriter(store, config.search_log.max_wait_ms)
        self._settings = LoggedSettings(
            config.flags(),
            _pipeline(config, self._levers),
            self._levers.gate.model_dump(mode="json"),
        )

    def close(self) -> None:
        """Write log rows that still wait. The store must be open."""
        self._log.close()

    def flush_log(self) -> bool:
        """Write log rows that still wait; False when some remain."""
        return self._log.flush()

    def search(self, principal: Principal, request: SearchRequest) -> SearchResponse:
        """Return what the principal may read and what is relevant, with the reasons.

        Raises InvalidInput for a malformed request, RerankError when an enabled reranker fails
        and its ``on_failure`` says so, StoreError when the store cannot be read. A failing
        embedder or rewriter is reported in the response instead.
        """
        request = self._permitted(checked_request(request))
        cfg = self._config.retrieval.rewrite
        trace = SearchTrace(
            search_id=self._new_id(),
            at=self._clock(),
            principal=principal,
            request=request,
            warm=self._index.is_loaded and (self._embedder is None or self._embedder.is_loaded),
            timer=Timer(),
            gate_mode=self._levers.gate_kind,
            context=request.context and request.context[: cfg.max_context_chars],
        )
        with trace.stage("rewrite"):
            rewriter = self._rewriter_for(principal)
            trace.rewritten = rewrite_queries(request.queries, trace.context, rewriter, cfg)
        with trace.stage("embed"):
            vectors = self._embed(trace)
        with self._store.read() as tx:
            readable = self._readable(tx, trace)
            self._finder.find(tx, trace, readable, vectors)
            selection = self._select(tx, trace, readable)
        outcome = self._fit(trace, selection)
        return self._respond(trace, outcome)

    def _permitted(self, request: SearchRequest) -> SearchRequest:
        """Pass what people wrote through the content policy before anything can keep it."""
        policy = self._content_policy
        if policy is None:
            return request
        redacted = replace(
            request,
            queries=tuple(policy.apply(query, where="query") for query in request.queries),
            context=request.context and policy.apply(request.context, where="query"),
            entities=request.entities
            and tuple(policy.apply(name, where="query") for name in request.entities),
        )
        return checked_request(redacted)

    def _embed(self, trace: SearchTrace) -> QueryVectors:
        """Return one vector per query; none, with a stated reason, without a dense channel."""
        queries = trace.rewritten.queries
        read = read_queries(queries, self._scripts)
        if self._embedder is None:
            trace.degraded.append("dense: this process has no embedder")
            return QueryVectors(None, read)
        if self._index.dense_unavailable is not None:
            trace.degraded.append(f"dense: {self._index.dense_unavailable}")
            return QueryVectors(None, read)
        tokens: tuple[PackedTokens, ...] = ()
        try:
            if self._late is None:
                vectors = self._embedder.embed_queries(queries)
            else:
                vectors, tokens = self._late.embed(queries)
            checked = check_vectors(vectors, len(queries), self._embedder.dims)
            if self._levers.gate_kind == "null_z" or self._levers.fusion.kind == "convex":
                self._null.embed(self._embedder, queries)
        except Exception as error:  # whatever a model raises; the other channels still answer
            trace.degraded.append(f"dense: {described(error)}")
            return QueryVectors(None, read)
        return QueryVectors(checked, read, tokens)

    def _readable(self, tx: Transaction, trace: SearchTrace) -> Readable:
        request = trace.request
        with trace.stage("scopes"):
            trace.scopes = readable_scopes(tx, trace.principal)
            codes = trace.codes = tx.scopes.codes(trace.scopes)
            trace.session_id, trace.keeps_words = _session_of(tx, trace.principal)
        with trace.stage("index_refresh"):
            trace.index_refresh = self._index.refresh(
                tx, self._config.embedding.incremental_reload_max
            )
        with trace.stage("filter"):
            eligible = self._index.eligible(
                codes.values(),
                now_us=to_us(tx.now),
                types=request.types,
                since_us=to_us_or_none(request.since),
                until_us=to_us_or_none(request.until),
                include_history=wants_history(request),
                among=believed_seqs(tx, request, tuple(codes.values())),
            )
        return Readable(codes, eligible)

    def _select(self, tx: Transaction, trace: SearchTrace, readable: Readable) -> _Selection:
        """Narrow the pool by gate and duplicates; fetch what later stages need."""
        cfg = self._config
        with trace.stage("gate"):
            if cfg.reranker.enabled and cfg.reranker.mode == "cross_encoder_only":
                trace.gate_mode = "exclude_source_kinds"
            self._gate(trace)
        with trace.stage("dedup"):
            cosines = self._cosines(trace)
            twins = self._twins(tx, trace, cosines)
            alike = holds_near(cosines, self._levers.dedup_cosine) if twins is None else bool(twins)
            conflicts = self._conflicts(tx, trace, readable, alike=alike)
            kept = self._collapse(trace, cosines, conflicts, twins) if alike else trace.passed
        contents: dict[int, str] = {}
        if cfg.reranker.enabled:
            with trace.stage("rerank"):
                records = tx.records.by_seqs(one.seq for one in kept[: cfg.reranker.candidates])
                contents = {seq: record.content for seq, record in records.items()}
        return _Selection(kept, conflicts, contents, twins)

    def _gate(self, trace: SearchTrace) -> None:
        step = exclude_source_kinds if trace.gate_mode == "exclude_source_kinds" else decide
        outcome = step(trace.signals, trace.pool, self._levers.gate)
        trace.passed, trace.gated_out = outcome.kept, outcome.gated_out

    def _cosines(self, trace: SearchTrace) -> Cosines:
        return pairwise_cosines(self._index, [one.seq for one in trace.passed])

    def _conflicts(
        self, tx: Transaction, trace: SearchTrace, readable: Readable, *, alike: bool
    ) -> Mapping[int, tuple[int, ...]]:
        """Return the conflicts of survivors; the rows they disagree with join those of the trace.

        They keep near-identical records apart and bring a provisional one its stronger side: where
        survivors are neither ``alike`` nor provisional, nobody asks.
        """
        survivors = [trace.rows[one.seq] for one in trace.passed]
        if not alike and all(row.status != "provisional" for row in survivors):
            return {}
        codes = frozenset(readable.codes.values())
        conflicts, rivals = unresolved_conflicts(tx, trace.request, codes, survivors)
        readable.refuse_foreign(rivals.values())
        trace.rows |= rivals
        return conflicts

    def _twins(
        self, tx: Transaction, trace: SearchTrace, cosines: Cosines
    ) -> Mapping[int, Twin] | None:
        levers = self._levers
        if levers.duplicates == "collapse":
            return None
        return read_twins(
            tx,
            self._index,
            trace.passed,
            trace.rows,
            cosines,
            floor=levers.dedup_cosine,
            user_id=trace.principal.user_id,
        )

    def _collapse(
        self,
        trace: SearchTrace,
        cosines: Cosines,
        conflicts: Mapping[int, Sequence[int]],
        twins: Mapping[int, Twin] | None,
    ) -> tuple[Candidate, ...]:
        apart = {(seq, other) for seq, others in conflicts.items() for other in others}
        floor = self._levers.dedup_cosine
        if twins is None:
            outcome = collapse_duplicates(trace.passed, cosines, floor, apart=apart)
        else:
            outcome = group_duplicates(trace.passed, cosines, twins, floor, apart=apart)
        trace.duplicates = outcome.dropped
        return outcome.kept

    def _fit(self, trace: SearchTrace, selection: _Selection) -> BudgetOutcome:
        """Rerank outside any transaction, pair conflicting records, fill the budget."""
        cfg, request = self._config, trace.request
        with trace.stage("rerank"):
            trace.rerank = rerank(
                selection.kept,
                trace.rewritten.queries,
                selection.contents,
                self._reranker,
                cfg.reranker,
            )
            ranked = trace.rerank.ranked
            if trace.rerank.error is not None and trace.gate_mode == "exclude_source_kinds":
                # The cross-encoder was the only judge of relevance; without it the gate decides.
                trace.gate_mode = self._levers.gate_kind
                self._gate(trace)
                ranked = self._collapse(
                    trace, self._cosines(trace), selection.conflicts, selection.twins
                )
        with trace.stage("budget"):
            entries = pair_counterparts(ranked, self._counterparts(trace, selection.conflicts))
            members = (one for entry in entries for one in entry.members)
            outcome = fill_budget(
                entries,
                {one.seq: result_tokens(trace.rows[one.seq].chars) for one in members},
                k=request.k,
                token_budget=cfg.retrieval.token_budget,
            )
            trace.left_out = outcome.left_out
        return outcome

    def _counterparts(
        self, trace: SearchTrace, conflicts: Mapping[int, Sequence[int]]
    ) -> dict[int, Candidate]:
        """Return the stronger side of each provisional survivor, with its own evidence if any."""
        if not conflicts:
            return {}
        judged = {one.seq: one for one in trace.passed}
        judged |= {one.seq: one._replace(gate_reason=why) for one, why in trace.gated_out}
        chosen: dict[int, Candidate] = {}
        for seq, others in conflicts.items():
            rivals = [
                judged.get(other) or outside_pool(trace.rows[other])
                for other in others
                if other in trace.rows
            ]
            own = judged.get(seq)
            rival = own and self._outweighs(trace, own, rivals)
            if rival:
                chosen[seq] = rival
        return chosen

    def _outweighs(
        self, trace: SearchTrace, candidate: Candidate, rivals: Sequence[Candidate]
    ) -> Candidate | None:
        """Return the rival that must be shown beside a candidate, of the kinds that may be."""
        excluded = self._levers.gate.floors(trace.request.trigger).exclude_source_kinds
        allowed = [rival for rival in rivals if rival.source_kind not in excluded]
        return choose_counterpart(candidate, allowed, self._config.policy.source_rank.of)

    def _respond(self, trace: SearchTrace, outcome: BudgetOutcome) -> SearchResponse:
        """Look at the chosen records once more, explain them, log the search and answer."""
        with trace.stage("final_check"), self._store.read() as tx:
            waiting = tx.claims.count_waiting(trace.principal.agent_id, trace.principal.user_id)
            still = readable_scopes(tx, trace.principal)
            look = look_again(
                tx,
                tx.scopes.codes(scope for scope in still if scope in trace.codes),
                trace.request,
                [placed.candidate.seq for placed in outcome.chosen],
                partial(self._outweighs, trace),
            )
        with trace.stage("explain"):
            results = self._results(trace, outcome, look)
            trace.returned = tuple((one.record.id, one.explanation) for one in results)
            if not results:
                trace.empty_reason = explain_empty(
                    gated_out=trace.gated_out,
                    survivors=len(trace.passed),
                    weak=trace.rerank.left_out,
                    left_out=trace.left_out,
                    signals=trace.signals,
                    cfg=self._levers.gate,
                    degraded=trace.degraded,
                )
            response = SearchResponse(
                search_id=trace.search_id,
                raw_queries=trace.request.queries,
                rewritten_queries=trace.rewritten.shown,
                rewrite_status=trace.rewritten.status,
                results=results,
                empty_reason=trace.empty_reason,
                degraded=tuple(trace.degraded),
                waiting_sessions=waiting,
            )
            text = render_response(response)
        with trace.stage("log"):
            log = self._write_log(trace)
        return replace(response, log=log, text=text, timings_ms=trace.timings())

    def _results(
        self, trace: SearchTrace, outcome: BudgetOutcome, look: FinalLook
    ) -> tuple[SearchResult, ...]:
        results = []
        for placed in outcome.chosen:
            candidate = placed.candidate
            record = look.records.get(candidate.seq)
            if record is None:
                continue
            explanation = explain(
                candidate,
                record,
                raw_queries=trace.request.queries,
                rewritten_queries=trace.rewritten.shown,
                rewrite_status=trace.rewritten.status,
                duplicates=trace.duplicates,
                budget=placed.note,
                conflicts_with=look.conflicts.get(candidate.seq, ()),
            )
            score = candidate.score if candidate.rerank_score is None else candidate.rerank_score
            results.append(SearchResult(record, score, explanation))
        return tuple(results)

    def _write_log(self, trace: SearchTrace) -> LogOutcome:
        try:
            row = trace.to_row(self._config.logs.detail, self._settings)
        except Exception:
            logger.exception("a search log row could not be built")
            return "failed"
        return self._log.write(row)


def _session_of(tx: Transaction, principal: Principal) -> tuple[str | None, bool]:
    """Return the id of the caller's conversation and whether what is said in it may be kept."""
    if principal.session_id is None:
        return None, True
    found = tx.sessions.latest_recording(
        principal.agent_id, principal.user_id, principal.session_id
    )
    return (None, True) if found is None else found


def _pipeline(config: RetoldConfig, levers: Levers) -> dict[str, Any]:
    limit = levers.per_generator_k
    entity = {"limit": limit, "order": "about, cosine, newest", "role": levers.entities.role}
    ran = levers.to_json()
    return {
        "preset": levers.preset,
        "generators": {
            "dense": {"limit": limit, "search": "exact"},
            "lexical": {"limit": limit, "search": "bm25 1 2 3 of eligible rows"},
            "entity": entity,
        },
        "bm25": ran["bm25"],
        "fusion": ran["fusion"],
        "boosts": ran["boosts"],
        "late_interaction": ran["late_interaction"],
        "freshness": ran["freshness"],
        "gate": levers.gate_kind,
        "dedup": {"cosine": levers.dedup_cosine},
        "rerank": config.reranker.mode if config.reranker.enabled else None,
        "budget": {"token_budget": config.retrieval.token_budget},
    }
