"""The three generators of candidates: nearest vectors, matching words, named entities."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from retold.index.bm25 import EligibleWords, Phrase
from retold.index.columns import Eligible
from retold.index.matrix import Hit
from retold.index.vector import VectorIndex
from retold.models import LexicalMatch, LinkRole
from retold.protocols import Vectors
from retold.retrieve.dedup import Cosines
from retold.retrieve.fusion import ScoredList
from retold.retrieve.named import other_names
from retold.retrieve.stretches import Tokenize
from retold.retrieve.terms import (
    QueryTerm,
    TermCoverage,
    alias_ngrams,
    phrases_of,
    query_terms,
)
from retold.store import Transaction
from retold.store.candidates import CandidateRepository

_ROLES: tuple[LinkRole, ...] = ("about", "mentions")


@dataclass(frozen=True, slots=True)
class AliasHits:
    """The entities that the request names: their ids, and their names, normalised.

    ``norms`` are those it used, ``others`` further ones.
    """

    entity_ids: tuple[str, ...] = ()
    norms: frozenset[str] = field(default=frozenset(), repr=False)
    others: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class LexicalHits:
    """The lexical ranking, the terms of each query and the phrases that it looked for."""

    ranking: ScoredList
    terms: tuple[tuple[QueryTerm, ...], ...] = field(repr=False)
    phrases: tuple[tuple[Phrase, ...], ...] = field(default=(), repr=False)

    @property
    def term_counts(self) -> tuple[int, ...]:
        """Return how many terms each query has."""
        return tuple(map(len, self.terms))


@dataclass(frozen=True, slots=True)
class EntityHits:
    """The entity ranking, and through which entity and link each record was reached."""

    ranking: ScoredList
    entity_of: Mapping[int, str]
    role_of: Mapping[int, LinkRole] = field(default_factory=dict)


def dense_search(
    index: VectorIndex, vectors: Vectors, eligible: Eligible, limit: int
) -> ScoredList:
    """Return the nearest eligible records; over several queries each keeps its best cosine."""
    return ScoredList("dense", tuple(index.search_many(vectors, eligible, limit)))


def find_aliases(
    tx: Transaction,
    queries: Sequence[str],
    hints: Sequence[str],
    scope_codes: Collection[int],
    max_alias_tokens: int,
) -> AliasHits:
    """Look up every stretch of the queries and hints that could be an alias, in one store call.

    Only entities of the given scopes are found.
    """
    norms = dict.fromkeys(
        norm for text in (*queries, *hints) for norm in alias_ngrams(text, max_alias_tokens)
    )
    found = tx.entities.by_alias(norms, scope_codes)
    ids = dict.fromkeys(entity.id for entities in found.values() for entity in entities)
    return AliasHits(tuple(ids), frozenset(found), other_names(found))


def lexical_search(
    tx: Transaction,
    words: EligibleWords,
    queries: Sequence[str],
    limit: int,
    *,
    names: Sequence[Phrase] = (),
) -> LexicalHits:
    """Return the eligible records that hold words of the queries, or one of ``names``.

    Each query ranks by bm25 on its own; a record takes its best rank over the queries, then its
    better score, then its key. A query without terms finds nothing. ``names`` are further names of
    whom the queries speak of: no terms, so nobody has to hold them.
    """
    tokenize = tx.lexical.tokens
    terms = tuple(query_terms(query, tokenize) for query in queries)
    phrases = tuple(_with_names(phrases_of(of_query, tokenize), names) for of_query in terms)
    found = [words.search(of_query, limit) for of_query in phrases]
    hits = found[0] if len(found) == 1 else _best_ranked(found)[:limit]
    return LexicalHits(ScoredList("lexical", tuple(hits)), terms, phrases)


def _best_ranked(found: Iterable[Sequence[Hit]]) -> list[Hit]:
    """Return each record once, by its best rank, then its better score, then its key."""
    best: dict[int, tuple[int, float]] = {}
    for hits in found:
        for rank, (seq, score) in enumerate(hits, start=1):
            known = best.get(seq)
            if known is None or (rank, -score) < (known[0], -known[1]):
                best[seq] = (rank, score)
    order = sorted(best, key=lambda seq: (best[seq][0], -best[seq][1], seq))
    return [(seq, best[seq][1]) for seq in order]


def _with_names(phrases: tuple[Phrase, ...], names: Sequence[Phrase]) -> tuple[Phrase, ...]:
    return (*phrases, *(name for name in names if name not in phrases)) if phrases else ()


def lexical_matches(
    terms: Sequence[Sequence[QueryTerm]],
    texts: Mapping[int, str],
    alias_norms: Collection[str],
    tokenize: Tokenize | None = None,
) -> dict[int, LexicalMatch]:
    """Return which query terms each record holds, by the same keys as ``texts``.

    ``texts`` are the ``fields_text`` of records. Coverage is counted per query and the best kept:
    the largest share of what the query says, then the most terms. ``tokenize`` has runs of unspaced
    scripts measured by their stretches, for a gate that words open.
    """
    asked = [TermCoverage(of_query, alias_norms, tokenize) for of_query in terms if of_query]
    if not asked:
        return {}
    first, *others = asked
    return {
        seq: max(first.of(text), *(coverage.of(text) for coverage in others), key=_coverage_order)
        if others
        else first.of(text)
        for seq, text in texts.items()
    }


def entity_search(
    tx: Transaction,
    index: VectorIndex,
    entity_ids: Sequence[str],
    eligible: Eligible,
    *,
    vectors: Vectors | None,
    limit: int,
) -> EntityHits:
    """Return the eligible records linked to the entities.

    Records about one come before those that mention it, then the nearer to a query, then the
    newer. The limit applies after eligibility. Without vectors nearness is not looked at.
    """
    linked = CandidateRepository(tx).linked(entity_ids) if entity_ids else {}
    entity_of: dict[int, str] = {}
    role_of: dict[int, LinkRole] = {}
    for role in _ROLES:
        groups = {entity: seqs for (entity, of_role), seqs in linked.items() if of_role == role}
        if not groups or len(entity_of) >= limit:
            continue
        keys = np.concatenate(list(groups.values()))
        mine = eligible.narrowed(keys)
        for seq in _nearest(index, vectors, mine, limit):
            if seq not in entity_of and len(entity_of) < limit:
                entity_of[seq] = next(entity for entity, seqs in groups.items() if seq in seqs)
                role_of[seq] = role
    ranking = ScoredList("entity", tuple((seq, 0.0) for seq in entity_of))
    return EntityHits(ranking, entity_of, role_of)


def _coverage_order(match: LexicalMatch) -> tuple[float, int]:
    return match.part, len(match.terms)


def _nearest(index: VectorIndex, vectors: Vectors | None, rows: Eligible, limit: int) -> list[int]:
    """Return up to ``limit`` records, the nearest to a query first, equally near ones newest first.

    Those without a vector come last.
    """
    hits = [] if vectors is None else index.search_many(vectors, rows, limit)
    near = [seq for seq, _ in sorted(hits, key=lambda hit: (-hit[1], -hit[0]))]
    if len(near) < min(limit, rows.count):
        known = set(near)
        near += [seq for seq in rows.seqs()[::-1].tolist() if seq not in known]
    return near[:limit]


def pairwise_cosines(index: VectorIndex, seqs: Sequence[int]) -> Cosines:
    """Return the cosine of every two records as (n, n) float32; NaN where one has no vector."""
    found, vectors = index.vectors_of(seqs)
    between: Cosines = vectors @ vectors.T
    if len(found) == len(seqs):
        return between
    cosines = np.full((len(seqs), len(seqs)), np.nan, dtype=np.float32)
    if found:
        cosines[np.ix_(found, found)] = between
    return cosines
