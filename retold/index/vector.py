"""Questions to the projection of the store: who may see which record, and which are near."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from retold.errors import EmbeddingProfileMismatch
from retold.index.bm25 import EligibleWords
from retold.index.columns import Columns, Eligible, Mask, Rows, Seqs
from retold.index.generation import Generation
from retold.index.matrix import Hit, Matrix, Scores, Vector, Vectors
from retold.index.projection import Freshness, Projection
from retold.models import MemoryType
from retold.store import Transaction
from retold.store.candidates import CandidateRepository, CandidateRow
from retold.store.codec import to_us
from retold.store.embeddings import unit_vector
from retold.store.meta import EmbeddingIdentity
from retold.store.projection import ProjectionRow
from retold.text.token_text import fields_text

logger = logging.getLogger(__name__)


class VectorIndex:
    """Eligibility columns with exact cosine search; ``Projection`` says how it keeps current."""

    def __init__(self, identity: EmbeddingIdentity) -> None:
        """Take the identity of the process's embedder; nothing is read yet."""
        self._identity = identity
        self._projection = Projection(identity)
        self._changing = self._projection.changing

    def __len__(self) -> int:
        return len(self._projection)

    def __repr__(self) -> str:
        return f"VectorIndex(records={len(self)}, version={self._projection.version})"

    @property
    def is_loaded(self) -> bool:
        """Return whether a search can begin without a full load."""
        return self._projection.is_loaded

    @property
    def dense_unavailable(self) -> str | None:
        """Return why there is no dense search; None when there is."""
        return self._projection.dense_unavailable

    def load(self, tx: Transaction) -> None:
        """Read everything in the snapshot of a read transaction; see ``Projection.load``."""
        self._projection.load(tx)

    def refresh(self, tx: Transaction, incremental_reload_max: int) -> Freshness:
        """Bring the index at least to a snapshot; see ``Projection.refresh``."""
        return self._projection.refresh(tx, incremental_reload_max)

    def note_own_write(self, tx: Transaction, seqs: Iterable[int]) -> None:
        """Let the index follow a write; see ``Projection.note_own_write``."""
        self._projection.note_own_write(tx, seqs)

    def apply_committed(
        self, version: int, rows: Sequence[ProjectionRow], removed: Iterable[int] = ()
    ) -> None:
        """Apply committed rows; see ``Projection.apply_committed``."""
        self._projection.apply_committed(version, rows, removed)

    def require_embedding(self, tx: Transaction) -> None:
        """Refuse to write vectors that would not fit; see ``Projection.require_embedding``."""
        self._projection.require_embedding(tx)

    @property
    def seqs(self) -> list[int]:
        """Return a diagnostic snapshot: the record key of every row, retired rows included."""
        with self._changing:
            seqs: list[int] = self._projection.loaded().columns.seqs().tolist()
        return seqs

    @property
    def live(self) -> Mask:
        """Return a diagnostic snapshot: which rows stand for a record."""
        with self._changing:
            return self._projection.loaded().columns.live()

    @property
    def pos(self) -> dict[int, int]:
        """Return a diagnostic snapshot: the row of every record."""
        with self._changing:
            columns = self._projection.loaded().columns
            rows = np.flatnonzero(columns.live())
            return dict(zip(columns.seqs()[rows].tolist(), rows.tolist(), strict=True))

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
            return self._projection.loaded().columns.eligible(
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

    def search_near(
        self,
        query: npt.ArrayLike,
        floor: float,
        scope_codes: Collection[int],
        *,
        now_us: int,
        types: Collection[MemoryType] | None = None,
    ) -> list[Hit]:
        """Return every eligible record whose cosine is at least ``floor``, as ``search`` does.

        A record that another thread writes meanwhile may be missing.
        """
        unit = unit_vector(query, self._identity.dims)
        screened, rows = self._possible(unit, floor, scope_codes)
        with self._changing:
            columns = self._projection.loaded().columns
            kept = rows if columns is screened else None
            eligible = columns.eligible(scope_codes, now_us=now_us, types=types, among_rows=kept)
        if len(eligible) == 0:
            return []
        matrix, eligible = self._pinned(eligible)
        hits = matrix.search_many(unit[None], eligible, len(eligible), at_least=floor)
        return [hit for hit in hits if hit[1] >= floor]

    def _possible(
        self, unit: Vector, floor: float, scope_codes: Collection[int]
    ) -> tuple[Columns, Rows | None]:
        """Return rows outside of which no record is that near; None where a screen is no help."""
        with self._changing:
            generation = self._projection.loaded()
            columns, matrix = generation.columns, generation.matrix
            size, part = columns.size, columns.part_of(scope_codes)
            if matrix is None or not matrix.has_use_for_screen(size, part):
                return columns, None
            screen = matrix.screen
        if screen is None:
            try:
                screen = matrix.screened(size)
            except (MemoryError, np.linalg.LinAlgError):
                logger.warning("no screen was made; writes go on without one", exc_info=True)
                return columns, None
            with self._changing:
                if self._projection.loaded().matrix is matrix:
                    matrix.screen_by(screen, columns.size)
        rows = screen.possible(unit, floor, size)
        with self._changing:
            return columns, rows if matrix.note_passed(len(rows), size) else None

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
                if self._projection.loaded().matrix is matrix:
                    matrix.refer(held, eligible.columns.size)
        return held.nearest(eligible.rows())

    def words(self, tx: Transaction, eligible: Eligible) -> EligibleWords:
        """Return what the lexical channel of one search looks through.

        The first call after a load reads and tokenises all indexed texts, some 12 us a record.
        ``tx`` is the snapshot of the last ``refresh``.
        """
        with self._changing:
            generation = self._projection.loaded()
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
        generation = self._projection.loaded()
        found = generation.rows.known(seqs)
        for seq, row in found.items():
            if row.has_expired(now_us):
                found[seq] = row._replace(status="expired")
        missing = [seq for seq in seqs if seq not in found]
        if missing:
            read = CandidateRepository(tx).rows(missing)
            self._projection.remember(
                tx, generation.rows, {s: r for s, r in read.items() if r.status != "expired"}
            )
            found |= read
        return found

    def texts_of(self, tx: Transaction, seqs: Collection[int]) -> dict[int, str]:
        """Return the ``fields_text`` of records that are indexed; ``tx`` is as in ``rows_of``."""
        generation = self._projection.loaded()
        found = generation.texts.known(seqs)
        missing = [seq for seq in seqs if seq not in found]
        if missing:
            tokens = tx.lexical.tokens
            read = {
                seq: fields_text([tokens(text) for text in texts if text])
                for seq, texts in tx.lexical.fields(missing).items()
            }
            self._projection.remember(tx, generation.texts, read)
            found |= read
        return found

    def vectors_of(self, seqs: Collection[int]) -> tuple[list[int], Vectors]:
        """Return which of the records, by place, have a vector, and those as (n, dims) float32."""
        with self._changing:
            generation = self._projection.loaded()
            matrix = generation.matrix
            row_of = generation.columns.row_of
            found = [(at, row) for at, seq in enumerate(seqs) if (row := row_of(seq)) is not None]
        if matrix is None:
            return [], np.empty((0, self._identity.dims), dtype=np.float32)
        return matrix.vectors(found)

    def vector_for(self, seq: int) -> Vector | None:
        """Return a copy of a record's unit vector; None when the index has none."""
        with self._changing:
            generation = self._projection.loaded()
            row = generation.columns.row_of(seq)
            if row is None or generation.matrix is None:
                return None
            return generation.matrix.vector(row)

    def cosine(self, seq: int, other_seq: int) -> float | None:
        """Return the cosine of two records; None when one has no vector."""
        vector = self.vector_for(seq)
        found = np.nan if vector is None else float(self._cosines(vector, [other_seq])[0])
        return None if np.isnan(found) else found

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
            generation = self._projection.loaded()
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
            raise EmbeddingProfileMismatch(self._projection.loaded().dense_unavailable)
        return matrix, eligible

    def _pinned_now(self, eligible: Eligible) -> tuple[Matrix | None, Eligible]:
        """Return the same, without a matrix while there is no dense search."""
        with self._changing:
            generation = self._projection.loaded()
            return generation.matrix, _of_generation(eligible, generation)


def _of_generation(eligible: Eligible, generation: Generation) -> Eligible:
    """Return the rows by the numbers of this generation; after a reload they have others."""
    if eligible.columns is generation.columns:
        return eligible
    return generation.columns.select(eligible.seqs().tolist())
