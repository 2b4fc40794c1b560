"""What the channels find becomes one scored pool of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from retold.config import Levers, RetrievalConfig
from retold.errors import EmbeddingError, EmbeddingProfileMismatch, RetoldError
from retold.index.bm25 import EligibleWords
from retold.index.columns import Eligible, Seqs
from retold.index.session_text import SessionTotals
from retold.index.vector import VectorIndex
from retold.models import Channel, LinkRole, SearchRequest
from retold.protocols import Vectors
from retold.retrieve.assemble import Scored, assemble_pool, without_absent
from retold.retrieve.boosts import Amounts, Places, Raised, boosts_at
from retold.retrieve.freshness import decay_of
from retold.retrieve.fusion import (
    ScoredList,
    fuse_scaled,
    largest_rrf_score,
    reciprocal_rank_fusion,
    scale_of,
)
from retold.retrieve.generators import (
    EntityHits,
    LexicalHits,
    dense_search,
    entity_search,
    find_aliases,
    lexical_matches,
    lexical_search,
)
from retold.retrieve.late_interaction import LateInteraction
from retold.retrieve.named import about_named, name_phrases
from retold.retrieve.null_bank import BankName, bank_for
from retold.retrieve.null_signals import (
    AskedQuery,
    NullReference,
    null_signals,
    unknown_share,
)
from retold.retrieve.poolfacts import Spoken, boost_pool
from retold.retrieve.query_dates import in_zone, query_dates
from retold.retrieve.signals import BankStatistics, NullSignals, QuerySignals
from retold.retrieve.snapshot import Readable, rows_offered
from retold.retrieve.terms import QueryTerm
from retold.retrieve.trace import SearchTrace
from retold.retrieve.turns import Turns
from retold.store import Transaction
from retold.store.candidates import CandidateRow
from retold.store.codec import to_us
from retold.store.token_vectors import PackedTokens

CHANNELS: Final[tuple[Channel, ...]] = ("dense", "lexical", "entity")
LEAST_POOL_PER_RESULT: Final = 2
"""Members of the pool that remain for each result asked for, however low the limit."""
BEST_FUSED: Final = 8
"""Best members by fused score that remain whatever boosts lift above them."""
NEIGHBOURS_OF: Final = 25
"""Best members of each list whose neighbours join the pool: half of a lower score moves nothing."""
_EARNED: Final[dict[LinkRole, float]] = {"about": 1.0, "mentions": 0.5}
"""Which part of the tie-break a link of this role earns."""


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """The vectors of a request's queries, and which of them the embedder can read.

    ``vectors`` is (queries, dims) float32, None without a dense channel. ``tokens`` has an entry
    per query where late interaction is on, else none.
    """

    vectors: Vectors | None = field(repr=False)
    read: tuple[bool, ...]
    tokens: tuple[PackedTokens, ...] = field(default=(), repr=False)

    @property
    def heard(self) -> Vectors | None:
        """Return the vectors to rank by: those of queries that are read, all where none is."""
        if self.vectors is None or not any(self.read):
            return self.vectors
        return self.vectors[list(self.read)]

    @property
    def heard_tokens(self) -> list[PackedTokens]:
        """Return the tokens of the queries that are read; of an unread one they mean nothing."""
        pairs = zip(self.tokens, self.read, strict=False)
        return [tokens for tokens, is_read in pairs if is_read]


@dataclass(frozen=True, slots=True)
class _Found:
    """What the channels found, rows that the snapshot does not offer left out.

    ``beside`` are turns that no channel found and that stand next to good matches.
    """

    dense: ScoredList | None
    lexical: ScoredList
    entity: ScoredList
    beside: tuple[int, ...] = ()

    @property
    def lists(self) -> tuple[ScoredList, ...]:
        return (self.dense or ScoredList("dense"), self.lexical, self.entity)


@dataclass(frozen=True, slots=True)
class _Fused:
    """All that was found, best fused score first, (n,) each.

    ``seqs`` are keys, int64; the others float64. ``cosines``, NaN without a vector, and ``bm25``
    are None for a fusion by rank.
    """

    seqs: Seqs
    scores: Amounts
    cosines: Amounts | None = None
    bm25: Amounts | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """One search: who asks among which rows, and what the channels made of its queries.

    ``heard`` are the vectors that ranked, None when the dense channel did not run; ``turns`` None
    means that records are facts.
    """

    tx: Transaction = field(repr=False)
    trace: SearchTrace = field(repr=False)
    eligible: Eligible
    vectors: QueryVectors
    heard: Vectors | None = field(repr=False)
    words: EligibleWords
    lexical: LexicalHits
    turns: Turns | None = field(repr=False)


class PoolFinder:
    """Runs the generators over eligible rows, fuses what they found and boosts it."""

    def __init__(
        self,
        index: VectorIndex,
        cfg: RetrievalConfig,
        levers: Levers,
        null: NullReference,
        *,
        reranked: int = 0,
        late: LateInteraction | None = None,
    ) -> None:
        """Take the index and the settings; ``reranked`` members at least go to a reranker.

        ``late`` None leaves the order as boosts make it.
        """
        self._reranked = max(reranked, late.candidates if late is not None else 0)
        self._late = late
        self._totals = SessionTotals()
        self._index = index
        self._cfg = cfg
        self._levers = levers
        # All that was found, with nothing but its ranks: there are no columns to work on.
        self._only_ranks = (
            levers.fusion.kind == "rrf" and levers.pool_limit is None and not _has_boosts(levers)
        )
        self._null = null

    def find(
        self, tx: Transaction, trace: SearchTrace, readable: Readable, vectors: QueryVectors
    ) -> None:
        """Fill ``trace.pool``, best score first, with its rows and the gate's signals."""
        queries, limit = trace.rewritten.queries, self._levers.per_generator_k
        with trace.stage("filter"):
            eligible = self._about(tx, trace, readable)
        with trace.stage("dense"):
            dense = self._dense(trace, self._heard(vectors), eligible)
            heard = None if dense is None else self._heard(vectors)
        with trace.stage("entity"):
            hints = trace.request.entities or ()
            aliases = find_aliases(
                tx, queries, hints, readable.codes.values(), self._cfg.max_alias_tokens
            )
        with trace.stage("lexical"):
            words = self._index.words(tx, eligible)
            names = () if self._lists_entities else name_phrases(tx, aliases.others)
            words = words.saturated(self._levers.bm25)
            lexical = lexical_search(tx, words, queries, limit, names=names)
        with trace.stage("entity"):
            among = self._nameable(eligible, dense, lexical.ranking)
            entity = entity_search(
                tx, self._index, aliases.entity_ids, among, vectors=heard, limit=limit
            )
        with trace.stage("fuse"):
            turns = Turns(eligible) if self._levers.context == "turns" else None
            asked = _Asked(tx, trace, eligible, vectors, heard, words, lexical, turns)
            found = _Found(dense, lexical.ranking, entity.ranking)
            if turns is not None:
                found = replace(found, beside=_beside(turns, found, eligible))
        scored, found = self._scored(asked, readable, found, entity)
        if self._late is not None and heard is not None:
            with trace.stage("boost"):
                scored, trace.late = self._late.rank(tx, vectors.heard_tokens, scored)
        null = self._compared(asked, dense)
        with trace.stage("lexical"):
            holding = [seq for seq, _ in found.lexical.hits if seq in trace.rows]
            texts = self._index.texts_of(tx, holding)
            # Longer stretches are only looked for where words open the gate.
            tokenize = tx.lexical.tokens if null is not None and null.is_partial else None
            matches = lexical_matches(_deciding(lexical, null), texts, aliases.norms, tokenize)
        with trace.stage("freshness"):
            decay = self._decay(tx, trace)
        with trace.stage("fuse"):
            trace.pool = assemble_pool(
                scored, found.lists, trace.rows, matches, entity.entity_of, decay=decay
            )
        ran = CHANNELS if dense is not None else CHANNELS[1:]
        trace.signals = QuerySignals(trace.request.trigger, ran, lexical.term_counts, null)

    def _scored(
        self, asked: _Asked, readable: Readable, found: _Found, entity: EntityHits
    ) -> tuple[list[Scored], _Found]:
        """Return the pool with its scores, in the order of fusion, and what the channels found.

        Fills ``trace.rows`` with the pool's rows. Where the snapshot does not offer one of them,
        everything is ranked again without what it does not offer.
        """
        trace = asked.trace
        scored = self._ranked(asked, found, entity)
        with trace.stage("fuse"):
            rows = rows_offered(asked.tx, self._index, trace.request, [one.seq for one in scored])
        if len(rows) < len(scored):
            with trace.stage("fuse"):
                found, known = _offered(asked.tx, self._index, trace.request, found)
            scored = self._ranked(asked, found, entity)
            rows = {one.seq: known[one.seq] for one in scored}
        readable.refuse_foreign(rows.values())
        trace.rows = rows
        return scored, found

    def _ranked(self, asked: _Asked, found: _Found, entity: EntityHits) -> list[Scored]:
        """Return the best of what was found, fused and boosted, in the order of fusion."""
        trace, limit = asked.trace, self._limit(asked.trace.request)
        with trace.stage("fuse"):
            if self._only_ranks:
                pairs = reciprocal_rank_fusion(found.lists, self._levers.fusion.rrf_k)
                return [Scored(*pair) for pair in pairs]
            fused = self._fused(asked, found)
        if not len(fused.seqs):
            return []
        with trace.stage("boost"):
            scores, raised = self._boosted(asked, fused, entity)
            places = _best_places(scores, limit)
            columns = (
                fused.seqs[places].tolist(),
                fused.scores[places].tolist(),
                _listed(fused.cosines, places),
                _listed(fused.bm25, places),
                scores[places].tolist(),
                boosts_at(raised, places),
                (places + 1).tolist(),
            )
            return list(map(Scored._make, zip(*columns, strict=True)))

    def _decay(self, tx: Transaction, trace: SearchTrace) -> Mapping[int, float]:
        """Return what age multiplies the scores of the pool's members by."""
        if self._levers.freshness.kind != "multiplicative":
            return {}
        windowed = trace.request.since is not None or trace.request.until is not None
        return decay_of(trace.rows.values(), tx.now, self._cfg.freshness, windowed=windowed)

    def _limit(self, request: SearchRequest) -> int | None:
        """Return how many members of the pool later stages need at most; None is all."""
        limit = self._levers.pool_limit
        if limit is None:
            return None
        return max(limit, LEAST_POOL_PER_RESULT * request.k, self._reranked)

    @property
    def _fused_lists(self) -> int:
        """Return of how many lists a fusion by rank is made; a tie-break is none."""
        return len(CHANNELS) if self._lists_entities else len(CHANNELS) - 1

    @property
    def _lists_entities(self) -> bool:
        return self._levers.entities.role == "list"

    def _about(self, tx: Transaction, trace: SearchTrace, readable: Readable) -> Eligible:
        """Return the eligible rows that have to do with what the caller names, if anything."""
        names, eligible = trace.request.entities, readable.eligible
        if not names or self._lists_entities:
            return eligible
        words = self._index.words(tx, eligible)
        return about_named(tx, words, eligible, names, readable.codes.values())

    def _heard(self, vectors: QueryVectors) -> Vectors | None:
        return vectors.heard if self._levers.fusion.kind == "convex" else vectors.vectors

    def _dense(
        self, trace: SearchTrace, vectors: Vectors | None, eligible: Eligible
    ) -> ScoredList | None:
        """Return the dense ranking; None with a stated reason when the channel did not run."""
        if vectors is None:
            return None
        try:
            return dense_search(self._index, vectors, eligible, self._levers.per_generator_k)
        except (EmbeddingError, EmbeddingProfileMismatch) as error:
            trace.degraded.append(f"dense: {described(error)}")
            return None

    def _nameable(
        self, eligible: Eligible, dense: ScoredList | None, lexical: ScoredList
    ) -> Eligible:
        """Return the rows a named entity counts for; as a tie-break it finds none by itself."""
        if self._lists_entities:
            return eligible
        seqs = {seq for scored in (dense, lexical) if scored for seq, _ in scored.hits}
        return eligible.narrowed(sorted(seqs))

    def _fused(self, asked: _Asked, found: _Found) -> _Fused:
        """Return everything that was found with its fused score, best first, equals by key."""
        cfg = self._levers.fusion
        lists = found.lists if self._lists_entities else found.lists[:-1]
        if cfg.kind == "rrf":
            pairs = reciprocal_rank_fusion(lists, cfg.rrf_k)
            seqs = np.array([seq for seq, _ in pairs], dtype=np.int64)
            return _Fused(seqs, np.array([score for _, score in pairs]))
        keys = {*found.beside, *(seq for scored in lists for seq, _ in scored.hits)}
        seqs = np.array(sorted(keys), dtype=np.int64)
        cosines = self._cosines(asked, found.dense, seqs)
        bm25 = np.zeros(len(seqs))
        for phrases in asked.lexical.phrases:
            bm25 = np.maximum(bm25, asked.words.scores_of(phrases, seqs))
        trace, alpha = asked.trace, cfg.alpha if any(asked.vectors.read) else cfg.alpha_uncovered
        trace.alpha = alpha = 0.0 if asked.heard is None else alpha
        trace.unrelated = self._null.unrelated
        trace.scale = scale_of(cosines, bm25, trace.unrelated)
        scores = fuse_scaled(cosines, bm25, alpha, trace.scale)
        order = np.lexsort((seqs, -scores))
        return _Fused(seqs[order], scores[order], cosines[order], bm25[order])

    def _cosines(self, asked: _Asked, dense: ScoredList | None, seqs: Seqs) -> Amounts:
        """Return the best cosine of each record, NaN without a vector; ``dense`` knows some."""
        cosines = np.full(len(seqs), np.nan)
        if asked.heard is None:
            return cosines
        if dense is not None and dense.hits:
            keys, known = zip(*dense.hits, strict=True)
            cosines[np.searchsorted(seqs, np.array(keys, dtype=np.int64))] = known
        others = np.flatnonzero(np.isnan(cosines))
        cosines[others] = self._index.best_cosines(asked.heard, asked.eligible, seqs[others])
        return cosines

    def _compared(self, asked: _Asked, dense: ScoredList | None) -> NullSignals | None:
        """Return how the queries compare with unrelated prompts; None when nobody asks.

        Records of excluded source kinds are never shown, so none of them opens the gate for others.
        """
        if self._levers.gate_kind != "null_z":
            return None
        null_z, tokenize = self._levers.gate.null_z, asked.tx.lexical.tokens
        with asked.trace.stage("gate"):
            excluded = self._levers.gate.floors(asked.trace.request.trigger).exclude_source_kinds
            among, words = asked.eligible.without(excluded), asked.words
            if among is not asked.eligible:
                words = self._index.words(asked.tx, among)
            unks = [
                unknown_share(words, tuple(term.tokens for term in terms))
                for terms in asked.lexical.terms
            ]
            queries, read = asked.trace.rewritten.queries, asked.vectors.read
            named = tuple(map(bank_for, queries))
            banks: dict[BankName, BankStatistics] = {}
            for name, is_read in zip(named, read, strict=True):
                if dense is None or not is_read or name in banks:
                    continue
                found = self._null.statistics(
                    self._index, words, among, tokenize, name=name, unk_weight=null_z.unk_weight
                )
                if found:
                    banks[name] = found
            compared = map(AskedQuery, self._tops(asked, dense, among), unks, read, named)
            return null_signals(banks, list(compared), null_z.unk_weight)

    def _tops(self, asked: _Asked, dense: ScoredList | None, among: Eligible) -> list[float | None]:
        """Return the cosine of each query's nearest record of some; None for one not read."""
        read, vectors = asked.vectors.read, asked.vectors.vectors
        if dense is None or vectors is None:
            return [None] * len(read)
        if len(read) == 1 and among is asked.eligible:
            return [dense.hits[0][1] if dense.hits and read[0] else None]
        nearest = [
            self._index.search(vector, among, 1) if is_read else []
            for vector, is_read in zip(vectors, read, strict=True)
        ]
        return [hits[0][1] if hits else None for hits in nearest]

    def _boosted(
        self, asked: _Asked, fused: _Fused, entity: EntityHits
    ) -> tuple[Amounts, tuple[Raised, ...]]:
        """Return the members' scores with what boosts add, and those boosts."""
        levers, request = self._levers, asked.trace.request
        if request.since is not None or request.until is not None:
            # Whoever gives a time window has said which age is wanted.
            levers = replace(levers, freshness=replace(levers.freshness, kind="off"))
        if not _has_boosts(levers):
            return fused.scores, ()
        is_rrf, now = levers.fusion.kind == "rrf", asked.tx.now
        return boost_pool(
            fused.seqs,
            fused.scores,
            asked.eligible,
            named={seq: _EARNED[role] for seq, role in entity.role_of.items()},
            dates=query_dates(
                asked.trace.rewritten.queries, in_zone(now, ZoneInfo(levers.time_zone))
            ),
            now_us=to_us(now),
            levers=levers,
            unit=largest_rrf_score(self._fused_lists, levers.fusion.rrf_k) if is_rrf else 1.0,
            spoken=None
            if asked.turns is None
            else Spoken(asked.turns, asked.words, asked.lexical.phrases, self._totals),
        )


def described(error: Exception) -> str:
    """Say what failed: our own messages hold no content, a foreign exception gives its class."""
    if isinstance(error, RetoldError):
        return error.message
    return f"the embedder failed with {type(error).__name__}"


def _offered(
    tx: Transaction, index: VectorIndex, request: SearchRequest, found: _Found
) -> tuple[_Found, dict[int, CandidateRow]]:
    """Look all rows found up in the snapshot, and leave out what it does not offer."""
    hits = (seq for scored in found.lists for seq, _ in scored.hits)
    rows = rows_offered(tx, index, request, dict.fromkeys((*hits, *found.beside)))
    dense, lexical, entity = (without_absent(scored, rows) for scored in found.lists)
    beside = tuple(seq for seq in found.beside if seq in rows)
    return _Found(None if found.dense is None else dense, lexical, entity, beside), rows


def _best_places(scores: Amounts, limit: int | None) -> Places:
    """Return the places of the best scores, ascending, with those of the best fused ones.

    The latter come first among ``scores``, and what the gate compares with is among them.
    """
    if limit is None or len(scores) <= limit:
        return np.arange(len(scores))
    kept = np.zeros(len(scores), dtype=np.bool_)
    kept[np.argsort(-scores, kind="stable")[:limit]] = True
    kept[:BEST_FUSED] = True
    return np.flatnonzero(kept)


def _listed(values: Amounts | None, places: Places) -> list[float | None]:
    """Return the values at some places, None for NaN and where there are none."""
    if values is None:
        return [None] * len(places)
    return [None if isnan(value) else value for value in values[places].tolist()]


def _beside(turns: Turns, found: _Found, eligible: Eligible) -> tuple[int, ...]:
    """Return the turns next to the best ones of each list, which no channel need have found."""
    best = {seq for scored in found.lists for seq, _ in scored.hits[:NEIGHBOURS_OF]}
    return tuple(turns.neighbours(eligible.rows_of(sorted(best))).tolist())


def _deciding(lexical: LexicalHits, null: NullSignals | None) -> Sequence[Sequence[QueryTerm]]:
    """Return the terms of the queries whose words may open the gate.

    Where some queries are judged by a Z, words of the others alone count.
    """
    if null is None or null.z is None:
        return lexical.terms
    without = [
        terms for terms, one in zip(lexical.terms, null.queries, strict=True) if one.z is None
    ]
    return without or lexical.terms


def _has_boosts(levers: Levers) -> bool:
    return (
        levers.context == "turns"
        or levers.boosts.date_interval > 0.0
        or levers.boosts.session > 0.0
        or levers.freshness.kind == "additive"
        or levers.entities.role == "tie_break"
    )
