"""The in-process projection of the store: who may see which record, and which are near."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from retold.errors import EmbeddingProfileMismatch, StoreError
from retold.index.bm25 import EligibleWords
from retold.index.columns import Eligible, Mask, Rows, Seqs
from retold.index.generation import Generation
from retold.index.matrix import Hit, Matrix, Scores, Vector, Vectors
from retold.index.remembered import Remembered
from retold.models import MemoryType
from retold.store import Transaction
from retold.store.candidates import CandidateRepository, CandidateRow
from retold.store.codec import to_us
from retold.store.embeddings import unit_vector
from retold.store.meta import Clocks, EmbeddingIdentity
from retold.store.projection import ProjectionRow
from retold.text.token_text import fields_text

_Fact = TypeVar("_Fact")
Freshness = Literal["loaded", "current", "delta", "reloaded"]

COMPACT_ABOVE = 4096
"""Retired rows kept before a full load drops them, however few live ones there are."""
_REEMBEDDED = "another process replaced all vectors of this store; open it again"


class VectorIndex:
    """Eligibility columns with exact cosine search, kept current from the store's changes.

    Two locks. ``_refreshing`` serialises refreshes and is held while they read the store, so that
    a slow one never overwrites what a faster one brought. ``_changing`` is held for
    microseconds to milliseconds, while rows are changed or an ``Eligible`` is made. Searching
    holds neither: the rows of an ``Eligible`` never change their meaning and a vector is written
    once, so a refresh and a search do not wait for each other.

    The projection only moves forward. A search whose snapshot is older may meet newer facts and
    looks its final records up in its own snapshot.
    """

    def __init__(self, identity: EmbeddingIdentity) -> None:
        """Take the identity of the process's embedder; nothing is read yet."""
        self._identity = identity
        self._refreshing = threading.Lock()
        self._changing = threading.Lock()
        self._generation: Generation | None = None
        self._clocks = Clocks(0, "", 0)
        self._own_writes: dict[int, int] = {}

    def __len__(self) -> int:
        generation = self._generation
        return 0 if generation is None else len(generation.columns)

    def __repr__(self) -> str:
        return f"VectorIndex(records={len(self)}, version={self._clocks.records_version})"

    @property
    def is_loaded(self) -> bool:
        """Return whether a search can begin without a full load."""
        return self._generation is not None

    @property
    def dense_unavailable(self) -> str | None:
        """Return why there is no dense search; None when there is."""
        generation = self._generation
        return None if generation is None else generation.dense_unavailable

    @property
    def seqs(self) -> list[int]:
        """Return a diagnostic snapshot: the record key of every row, retired rows included."""
        with self._changing:
            seqs: list[int] = self._loaded().columns.seqs().tolist()
        return seqs

    @property
    def live(self) -> Mask:
        """Return a diagnostic snapshot: which rows stand for a record."""
        with self._changing:
            return self._loaded().columns.live()

    @property
    def pos(self) -> dict[int, int]:
        """Return a diagnostic snapshot: the row of every record."""
        with self._changing:
            columns = self._loaded().columns
            rows = np.flatnonzero(columns.live())
            return dict(zip(columns.seqs()[rows].tolist(), rows.tolist(), strict=True))

    def load(self, tx: Transaction) -> None:
        """Read everything in the snapshot of a read transaction; an earlier load is replaced."""
        _require_snapshot(tx)
        with self._refreshing:
            self._reload(tx, tx.meta.clocks(), None)

    def refresh(self, tx: Transaction, incremental_reload_max: int) -> Freshness:
        """Bring the projection at least to the snapshot of a read transaction.

        More than ``incremental_reload_max`` records changed by others, another epoch and mostly
        retired rows mean a full load. "current" means that nothing had to be applied.
        """
        _require_snapshot(tx)
        clocks = tx.meta.clocks()
        if self._covers(clocks):
            return "current"
        with self._refreshing:
            if self._covers(clocks):
                return "current"
            if self._generation is None:
                self._reload(tx, clocks, None)
                return "loaded"
            if clocks.store_epoch != self._clocks.store_epoch:
                self._reload(tx, clocks, None)
                return "reloaded"
            return self._follow(tx, clocks, self._generation, incremental_reload_max)

    def note_own_write(self, tx: Transaction, seqs: Iterable[int]) -> None:
        """Let the index follow a write: rows of ``seqs`` are read before COMMIT, applied after it.

        Call it with every record touched or removed, at any point of the transaction and as often
        as convenient; nothing happens after a rollback. What is not named here arrives with the
        next refresh.
        """
        noted = tuple(seqs)
        rows: dict[int, ProjectionRow | None] = {}

        def read() -> None:
            if self.is_loaded:
                rows.update(dict.fromkeys(noted))
                rows.update((row.seq, row) for row in tx.projection.rows(noted, self._identity))

        def apply(version: int) -> None:
            gone = [seq for seq, row in rows.items() if row is None]
            self.apply_committed(version, [row for row in rows.values() if row], gone)

        tx.before_commit(read)
        tx.on_commit(apply)

    def apply_committed(
        self, version: int, rows: Sequence[ProjectionRow], removed: Iterable[int] = ()
    ) -> None:
        """Apply committed rows at their own versions and removals at ``version``.

        Remembered per record, so that refresh skips them. Late and repeated calls are harmless.
        """
        with self._changing:
            generation = self._generation
            if generation is None:
                return
            for row in rows:
                if self._is_news(row.seq, row.version):
                    generation.apply(row)
                    self._own_writes[row.seq] = row.version
            for seq in removed:
                if self._is_news(seq, version):
                    generation.remove(seq)
                    self._own_writes[seq] = version

    def require_embedding(self, tx: Transaction) -> None:
        """Refuse to write vectors that would not fit the store.

        Raises EmbeddingProfileMismatch when the store's vectors belong to another model or were
        all replaced since this index was loaded.
        """
        stored = tx.meta.embedding_identity()
        if stored is not None and stored != self._identity:
            raise EmbeddingProfileMismatch(
                f"the store's vectors come from {stored}, this process uses {self._identity}"
            )
        reason = self.dense_unavailable
        generation = self._clocks.embedding_generation
        if reason is None and self.is_loaded and tx.meta.embedding_generation() != generation:
            reason = _REEMBEDDED
        if reason is not None:
            raise EmbeddingProfileMismatch(reason)

    def eligible(
        self,
        scope_codes: Collection[int],
        *,
        now_us: int,
        types: Collection[MemoryType] | None = None,
        since_us: int | None = None,
        until_us: int | None = None,
        include_history: bool = False,
        among: Iterable[int] | None = None,
    ) -> Eligible:
        """Return what a caller of these scopes may be shown; see ``Columns.eligible``."""
        with self._changing:
            return self._loaded().columns.eligible(
                scope_codes,
                now_us=now_us,
                types=types,
                since_us=since_us,
                until_us=until_us,
                include_history=include_history,
                among=among,
            )

    def search(self, query: npt.ArrayLike, eligible: Eligible, k: int) -> list[Hit]:
        """Return the ``k`` nearest eligible records of one vector; see ``search_many``."""
        return self.search_many([query], eligible, k)

    def search_near(self, query: npt.ArrayLike, eligible: Eligible, floor: float) -> list[Hit]:
        """Return every eligible record whose cosine is at least ``floor``, as ``search`` does."""
        matrix, eligible = self._pinned(eligible)
        unit = unit_vector(query, self._identity.dims)
        hits = matrix.search_many(unit[None], eligible, len(eligible), at_least=floor)
        return [hit for hit in hits if hit[1] >= floor]

    def search_many(
        self, queries: Sequence[npt.ArrayLike] | Vectors, eligible: Eligible, k: int
    ) -> list[Hit]:
        """Return up to ``k`` (record key, best cosine over the queries), best first.

        Exact; equal cosines come in key order. Raises EmbeddingError for a zero, not finite or
        wrong-sized query, EmbeddingProfileMismatch while there is no dense search.
        """
        units = [unit_vector(query, self._identity.dims) for query in queries]
        matrix, eligible = self._pinned(eligible)
        return matrix.search_many(np.stack(units), eligible, k) if units else []

    def nearest_to(self, vectors: Vectors, eligible: Eligible) -> Scores:
        """Return (n,) float32: the best cosine of any eligible record with each fixed vector.

        ``vectors`` are (n, dims) unit vectors, the same array with every call: its product with
        each record is made once and kept. Minus infinity when no record has a vector, and while
        there is no dense search.
        """
        matrix, eligible = self._pinned_now(eligible)
        if matrix is None:
            return np.full(len(vectors), -np.inf, dtype=np.float32)
        held = next((one for one in matrix.references if one.vectors is vectors), None)
        if held is None:
            held = matrix.referred(vectors, eligible.total)
            with self._changing:
                matrix.refer(held, eligible.columns.size)
        return held.nearest(eligible.rows())

    def words(self, tx: Transaction, eligible: Eligible) -> EligibleWords:
        """Return what the lexical channel of one search looks through.

        The first call after a load reads and tokenises all indexed texts, some 12 us a record.
        ``tx`` is the snapshot of the last ``refresh``.
        """
        with self._changing:
            generation = self._loaded()
            eligible = _of_generation(eligible, generation)
        held = generation.lexical.follow(tx, partial(self._rows_now, generation))
        return EligibleWords(held, eligible)

    def _rows_now(self, generation: Generation, seqs: Sequence[int]) -> tuple[Rows, Mask]:
        """Return the rows of records, -1 for one that is gone, and which rows are live."""
        with self._changing:
            row_of = generation.columns.row_of
            rows = [-1 if (row := row_of(seq)) is None else row for seq in seqs]
            return np.array(rows, dtype=np.int32), generation.columns.live()

    def rows_of(self, tx: Transaction, seqs: Collection[int]) -> dict[int, CandidateRow]:
        """Return what the store says of records that exist, with their status at ``tx.now``.

        ``tx`` is the snapshot of the last ``refresh``: whoever looks at a newer one asks the store.
        """
        now_us = to_us(tx.now)
        generation = self._loaded()
        found = generation.rows.known(seqs)
        for seq, row in found.items():
            if row.has_expired(now_us):
                found[seq] = row._replace(status="expired")
        missing = [seq for seq in seqs if seq not in found]
        if missing:
            read = CandidateRepository(tx).rows(missing)
            self._remember(
                tx, generation.rows, {s: r for s, r in read.items() if r.status != "expired"}
            )
            found |= read
        return found

    def texts_of(self, tx: Transaction, seqs: Collection[int]) -> dict[int, str]:
        """Return the ``fields_text`` of records that are indexed; ``tx`` is as in ``rows_of``."""
        generation = self._loaded()
        found = generation.texts.known(seqs)
        missing = [seq for seq in seqs if seq not in found]
        if missing:
            tokens = tx.lexical.tokens
            read = {
                seq: fields_text([tokens(text) for text in texts if text])
                for seq, texts in tx.lexical.fields(missing).items()
            }
            self._remember(tx, generation.texts, read)
            found |= read
        return found

    def _remember(
        self, tx: Transaction, remembered: Remembered[_Fact], facts: Mapping[int, _Fact]
    ) -> None:
        """Keep what a snapshot says, unless the projection has moved beyond it meanwhile.

        What is kept goes when a change of its record is applied, and that of a later one is not
        applied yet. A record that this process wrote is kept from the next refresh on.
        """
        clocks = tx.meta.clocks()
        with self._changing:
            if clocks == self._clocks:
                own = self._own_writes
                remembered.keep({seq: one for seq, one in facts.items() if seq not in own})

    def vectors_of(self, seqs: Collection[int]) -> tuple[list[int], Vectors]:
        """Return which of the records, by place, have a vector, and those as (n, dims) float32."""
        with self._changing:
            generation = self._loaded()
            matrix = generation.matrix
            row_of = generation.columns.row_of
            found = [(at, row) for at, seq in enumerate(seqs) if (row := row_of(seq)) is not None]
        if matrix is None:
            return [], np.empty((0, self._identity.dims), dtype=np.float32)
        return matrix.vectors(found)

    def vector_for(self, seq: int) -> Vector | None:
        """Return a copy of a record's unit vector; None when the index has none."""
        with self._changing:
            generation = self._loaded()
            row = generation.columns.row_of(seq)
            if row is None or generation.matrix is None:
                return None
            return generation.matrix.vector(row)

    def cosine(self, seq: int, other_seq: int) -> float | None:
        """Return the cosine of two records; None when one has no vector."""
        found = float(self.cosines(seq, [other_seq])[0])
        return None if np.isnan(found) else found

    def cosines(self, seq: int, seqs: Sequence[int]) -> Scores:
        """Return the cosine of a record with others, in order; NaN where a vector is missing."""
        vector = self.vector_for(seq)
        if vector is None:
            return np.full(len(seqs), np.nan, dtype=np.float32)
        return self._cosines(vector, seqs)

    def cosines_to(self, vector: npt.ArrayLike, seqs: Sequence[int]) -> Scores:
        """Return the cosine of a vector with records, in order; NaN where one has none.

        The bits are those that ``search`` returns for the same vector.
        """
        return self._cosines(unit_vector(vector, self._identity.dims), seqs)

    def best_cosines(
        self,
        vectors: Sequence[npt.ArrayLike] | Vectors,
        eligible: Eligible,
        seqs: Sequence[int] | Seqs,
    ) -> Scores:
        """Return each record's best cosine over the queries, in order; NaN where one has no vector.

        A record that is not eligible has none, nor has any while there is no dense search. The bits
        are those that ``search_many`` returns. Raises EmbeddingError as that does.
        """
        units = [unit_vector(vector, self._identity.dims) for vector in vectors]
        scores = np.full(len(seqs), np.nan, dtype=np.float32)
        matrix, eligible = self._pinned_now(eligible)
        if matrix is None:
            return scores
        rows = eligible.rows_of(seqs)
        here = np.flatnonzero(rows >= 0)
        for unit in units:
            scores[here] = np.fmax(scores[here], matrix.cosines(unit, rows[here]))
        return scores

    def _cosines(self, vector: Vector, seqs: Sequence[int]) -> Scores:
        scores = np.full(len(seqs), np.nan, dtype=np.float32)
        with self._changing:
            generation = self._loaded()
            rows = generation.columns.places(seqs)
            matrix = generation.matrix
        if matrix is not None:
            here = np.flatnonzero(rows >= 0)
            scores[here] = matrix.cosines(vector, rows[here])
        return scores

    def _pinned(self, eligible: Eligible) -> tuple[Matrix, Eligible]:
        """Return the matrix whose rows ``eligible`` numbers; after a reload, number them again."""
        matrix, eligible = self._pinned_now(eligible)
        if matrix is None:
            raise EmbeddingProfileMismatch(self._loaded().dense_unavailable)
        return matrix, eligible

    def _pinned_now(self, eligible: Eligible) -> tuple[Matrix | None, Eligible]:
        """Return the same, without a matrix while there is no dense search."""
        with self._changing:
            generation = self._loaded()
            return generation.matrix, _of_generation(eligible, generation)

    def _loaded(self) -> Generation:
        if self._generation is None:
            raise StoreError("the index is not loaded; call load or refresh first")
        return self._generation

    def _covers(self, clocks: Clocks) -> bool:
        """Return whether a snapshot holds nothing that the projection lacks."""
        loaded = self._clocks
        if self._generation is None or clocks.store_epoch != loaded.store_epoch:
            return False
        if clocks.records_version != loaded.records_version:
            return clocks.records_version < loaded.records_version
        return clocks.embedding_generation == loaded.embedding_generation

    def _is_news(self, seq: int, version: int) -> bool:
        return version > self._clocks.records_version and version >= self._own_writes.get(seq, 0)

    def _reload(self, tx: Transaction, clocks: Clocks, dense_unavailable: str | None) -> None:
        """Replace the generation. Own writes after the snapshot come back with the next refresh.

        The old one stays searchable meanwhile, at the price of two matrices for that time.
        """
        fresh = Generation.load(tx, self._identity, dense_unavailable=dense_unavailable)
        with self._changing:
            if self._generation is not None:
                fresh.keep_words_of(self._generation)
            self._generation = fresh
            self._clocks = clocks
            self._own_writes.clear()

    def _follow(
        self,
        tx: Transaction,
        clocks: Clocks,
        generation: Generation,
        incremental_reload_max: int,
    ) -> Freshness:
        lost = generation.dense_unavailable
        if clocks.embedding_generation != self._clocks.embedding_generation:
            lost = _REEMBEDDED
        retired = generation.columns.retired
        changes = tx.projection.changes_since(
            self._clocks.records_version, incremental_reload_max + len(self._own_writes)
        )
        foreign = None if changes is None else self._foreign(changes)
        if (
            foreign is None
            or len(foreign) > incremental_reload_max
            or retired > max(COMPACT_ABOVE, len(generation.columns))
        ):
            self._reload(tx, clocks, lost)
            return "reloaded"
        rows = tx.projection.rows(foreign, self._identity) if foreign else []
        is_news = bool(foreign) or lost != generation.dense_unavailable
        self._advance(clocks, generation, foreign, rows, lost)
        return "delta" if is_news else "current"

    def _foreign(self, changes: dict[int, int]) -> dict[int, int]:
        """Return the changes that this process did not apply itself."""
        with self._changing:
            own = self._own_writes
            return {seq: version for seq, version in changes.items() if version > own.get(seq, 0)}

    def _advance(
        self,
        clocks: Clocks,
        generation: Generation,
        foreign: dict[int, int],
        rows: Sequence[ProjectionRow],
        lost: str | None,
    ) -> None:
        """Apply what others changed, unless a write of ours overtook it meanwhile."""
        present = {row.seq for row in rows}
        with self._changing:
            if lost is not None and generation.dense_unavailable is None:
                generation.end_dense(lost)
            for row in rows:
                if foreign[row.seq] > self._own_writes.get(row.seq, 0):
                    generation.apply(row)
            for seq in foreign.keys() - present:
                if foreign[seq] > self._own_writes.get(seq, 0):
                    generation.remove(seq)
            self._clocks = clocks
            reached = clocks.records_version
            self._own_writes = {s: v for s, v in self._own_writes.items() if v > reached}


def _of_generation(eligible: Eligible, generation: Generation) -> Eligible:
    """Return the rows by the numbers of this generation; after a reload they have others."""
    if eligible.columns is generation.columns:
        return eligible
    return generation.columns.select(eligible.seqs().tolist())


def _require_snapshot(tx: Transaction) -> None:
    """Uncommitted rows must not enter the projection: a rollback would leave them there."""
    if tx.writable:
        raise StoreError("refresh the index in a read transaction, not in a write")
