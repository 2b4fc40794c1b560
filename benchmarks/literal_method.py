"""The search method that the design document spells out, to compare the product with.

Its index is keyed by public ids: a SQL statement returns every eligible id into a Python set, dense
search turns the set into matrix positions, and lexical search loads it into a temporary table
that is joined to FTS5 on the id. Tokens, weights and everything after the generators are the
product's own functions, so that both must return the same ids. What the method is not charged
with favours it: no entity look-up, no explanations, no rendering, no second look at the chosen
records and no log row.

One thing is added to it: FTS5 weighs a word by all rows of its table, other people's included, and
the product by the rows that the caller may see. The document's statement is run and charged as it
stands; what is then used is what FTS5 finds in a second table that holds the eligible rows alone.
That table and its statement are not charged.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from retold.config import RetoldConfig, resolve_levers
from retold.index.matrix import row_dots
from retold.models import Principal
from retold.policy.grants import readable_scopes
from retold.protocols import Vectors
from retold.retrieve.assemble import Scored, assemble_pool
from retold.retrieve.budget import fill_budget, result_tokens
from retold.retrieve.conflicts import pair_counterparts
from retold.retrieve.dedup import collapse_duplicates
from retold.retrieve.freshness import decay_of
from retold.retrieve.fusion import ScoredList, reciprocal_rank_fusion
from retold.retrieve.gate import QuerySignals, decide
from retold.retrieve.generators import lexical_matches
from retold.retrieve.terms import QueryTerm, query_terms
from retold.store import Store, Transaction
from retold.store.candidates import CandidateRepository
from retold.text.token_text import fields_text

_SCHEMA = """
create table records(
  id text primary key, type text not null, scope_kind text not null, scope_id text not null,
  status text not null, event_at text not null, expires_at text, vector blob not null);
create index records_scope on records(scope_kind, scope_id, status);
create virtual table records_fts using fts5(
  record_id unindexed, content, subject, aliases,
  tokenize = 'porter unicode61 remove_diacritics 2');
create temporary table eligible(id text primary key);
create virtual table temp.eligible_fts using fts5(
  content, subject, aliases, tokenize = 'porter unicode61 remove_diacritics 2');
"""
_ELIGIBLE = """
select id from records
where ({scopes}) and status in ('provisional', 'confirmed')
  and (expires_at is null or expires_at > ?)
"""
_LEXICAL = """
select f.record_id, -bm25(records_fts, 0.0, 1.0, 2.0, 3.0) as score
from records_fts as f
join eligible as e on e.id = f.record_id
where records_fts match ?
order by score desc, f.rowid
limit ?
"""
_OF_ELIGIBLE = """
select rowid, -bm25(eligible_fts, 1.0, 2.0, 3.0) as score
from temp.eligible_fts
where eligible_fts match ?
order by score desc, rowid
limit ?
"""
_COPY_ELIGIBLE = """
insert into temp.eligible_fts(rowid, content, subject, aliases)
select f.rowid, f.content, f.subject, f.aliases
from records_fts as f
join eligible as e on e.id = f.record_id
order by f.rowid
"""
_COPY = """
insert into records
select r.id, r.type, s.kind, s.id, r.status, r.event_at, r.expires_at, e.vector
from source.records as r
join source.scopes as s on s.code = r.scope_code
join source.embeddings as e on e.seq = r.seq
order by r.seq
"""
_COPY_TEXTS = """
insert into records_fts(rowid, record_id, content, subject, aliases)
select r.seq, r.id, f.content, f.subject, f.aliases
from source.records as r
join source.records_fts as f on f.rowid = r.seq
order by r.seq
"""


class LiteralMethod:
    """Answer searches on a copy of a store's rows, keyed as the document keys them."""

    def __init__(self, store: Store, copy: Path, config: RetoldConfig) -> None:
        """Copy what the method reads out of ``store``; ``copy`` is a new file."""
        self._store = store
        self._config = config
        self._db = apsw.Connection(str(copy))
        self._db.execute("pragma journal_mode=wal").fetchall()
        self._db.execute(_SCHEMA)
        self._db.execute("attach ? as source", (str(store.path),))
        with self._db:
            self._db.execute(_COPY)
            self._db.execute(_COPY_TEXTS)
        self._db.execute("detach source")
        rows: list[Any] = self._db.execute(
            "select id, vector from records order by rowid"
        ).fetchall()
        self._ids: list[str] = [row[0] for row in rows]
        self._position = {record_id: at for at, record_id in enumerate(self._ids)}
        self._matrix = np.stack([np.frombuffer(row[1], dtype="<f4") for row in rows])
        self._live = np.ones(len(rows), dtype=np.bool_)
        with store.read() as tx:
            self._seq_of: dict[str, int] = dict(tx.run("select id, seq from records"))
        self._row_of = {self._seq_of[one]: at for at, one in enumerate(self._ids)}
        self._held_apart: frozenset[str] | None = None
        self.stages: dict[str, float] = {}
        self.uncharged_ms = 0.0

    def close(self) -> None:
        """Close the copy."""
        self._db.close()

    def search(self, principal: Principal, text: str, vector: Vectors, k: int) -> list[str]:
        """Return the ids of the k best records and leave milliseconds per stage in ``stages``.

        ``uncharged_ms`` of the call are not the method's.
        """
        self.stages = {}
        self.uncharged_ms = 0.0
        cfg = self._config.retrieval
        levers = resolve_levers(cfg)
        limit = levers.per_generator_k
        with self._store.read() as tx:
            with self._stage("filter"):
                eligible = self._eligible(tx, principal)
            with self._stage("dense"):
                dense = self._dense(vector, eligible, limit)
            with self._stage("lexical"):
                terms = query_terms(text, tx.lexical.tokens)
                match = _match_expression(terms)
                lexical = self._lexical(match, eligible, limit) if match else []
            if match:
                lexical = self._among_eligible(match, eligible, limit)
            with self._stage("lexical"):
                fields = tx.lexical.fields([seq for seq, _ in lexical])
                held = {
                    seq: fields_text([tx.lexical.tokens(text) for text in texts])
                    for seq, texts in fields.items()
                }
                matches = lexical_matches([terms], held, ())
            with self._stage("rest"):
                lists = (ScoredList("dense", tuple(dense)), ScoredList("lexical", tuple(lexical)))
                fused = reciprocal_rank_fusion(lists, cfg.rrf_k)
                rows = CandidateRepository(tx).rows([seq for seq, _ in fused])
                scored = [Scored(*pair) for pair in fused]
                decay = decay_of(rows.values(), tx.now, cfg.freshness, windowed=False)
                pool = assemble_pool(scored, lists, rows, matches, {}, decay=decay)
                signals = QuerySignals("tool", ("dense", "lexical", "entity"), (len(terms),))
                passed = decide(signals, pool, cfg.gate).kept
                cosines = self._cosines([one.seq for one in passed])
                kept = collapse_duplicates(passed, cosines, levers.dedup_cosine).kept
                chosen = fill_budget(
                    pair_counterparts(kept, {}),
                    {seq: result_tokens(row.chars) for seq, row in rows.items()},
                    k=k,
                    token_budget=cfg.token_budget,
                ).chosen
        return [placed.candidate.record_id for placed in chosen]

    def _eligible(self, tx: Transaction, principal: Principal) -> set[str]:
        scopes = readable_scopes(tx, principal)
        either = " or ".join("(scope_kind = ? and scope_id = ?)" for _ in scopes)
        bindings = [part for scope in scopes for part in (scope.kind, scope.id)]
        now = tx.now.isoformat()
        rows = self._db.execute(_ELIGIBLE.format(scopes=either), (*bindings, now))
        return {row[0] for row in rows}

    def _dense(self, vector: Vectors, eligible: set[str], k: int) -> list[tuple[int, float]]:
        if not eligible:
            return []
        positions = np.fromiter((self._position[one] for one in eligible), np.int64, len(eligible))
        allowed = np.zeros(len(self._ids), dtype=np.bool_)
        allowed[positions] = True
        rows = np.flatnonzero(self._live & allowed)
        # The product's own multiplication: BLAS may round a tie the other way.
        data = self._matrix if len(rows) == len(self._ids) else self._matrix[rows]
        scores = row_dots(data, vector)
        best = np.argpartition(-scores, min(k, len(scores)) - 1)[:k]
        hits = [(self._seq(int(rows[at])), float(scores[at])) for at in best]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def _lexical(self, match: str, eligible: set[str], k: int) -> list[tuple[int, float]]:
        self._db.execute("delete from eligible")
        with self._db:
            self._db.executemany("insert into eligible values (?)", ((one,) for one in eligible))
        hits: list[Any] = self._db.execute(_LEXICAL, (match, k)).fetchall()
        return [(self._seq_of[record_id], score) for record_id, score in hits]

    def _among_eligible(self, match: str, eligible: set[str], k: int) -> list[tuple[int, float]]:
        """Return what FTS5 finds where the eligible rows are all rows; see above."""
        started = time.perf_counter()
        if self._held_apart != eligible:
            with self._db:
                self._db.execute("delete from temp.eligible_fts")
                self._db.execute(_COPY_ELIGIBLE)
            self._held_apart = frozenset(eligible)
        hits: list[Any] = self._db.execute(_OF_ELIGIBLE, (match, k)).fetchall()
        self.uncharged_ms = (time.perf_counter() - started) * 1000
        return hits

    def _seq(self, position: int) -> int:
        return self._seq_of[self._ids[position]]

    def _cosines(self, seqs: Sequence[int]) -> Vectors:
        """Return the cosine of every two records."""
        if not seqs:
            return np.empty((0, 0), dtype=np.float32)
        rows = self._matrix[[self._row_of[seq] for seq in seqs]]
        return np.stack([row_dots(rows, row) for row in rows])

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        spent = (time.perf_counter() - started) * 1000
        self.stages[name] = self.stages.get(name, 0.0) + spent


def _match_expression(terms: Sequence[QueryTerm]) -> str:
    phrases = dict.fromkeys(phrase for term in terms for phrase in term.phrases)
    return " OR ".join('"' + phrase.replace('"', '""') + '"' for phrase in phrases)
