"""Exact cosine search over unit vectors that share row numbers with the columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from retold.index.columns import Eligible, Mask, Rows, Seqs
from retold.index.dots import BLOCK_ROWS as BLOCK_ROWS
from retold.index.dots import row_dots as row_dots
from retold.index.dots import row_squares
from retold.index.references import References
from retold.index.screen import Screen
from retold.store.embeddings import UNIT_TOLERANCE

Vector = npt.NDArray[np.float32]
Vectors = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float32]
Hit = tuple[int, float]

GATHER_BELOW = 0.4
"""Copying eligible rows together beats reading all of them below this part (hotpath.md 2)."""
MOST_REFERENCES = 4
"""Sets of fixed vectors that products are kept for, the latest."""
SCREEN_ABOVE = 8192
"""Fewer rows are all compared in less time than a screen is worth."""
SCREEN_PART = 1 / 16
"""Screening all rows takes as long as comparing this part of them."""
SCREEN_AFTER = 32
"""Searches that would have used a screen before one is made.

Making it takes as long as 12 to 22 of them with 384 dimensions, and 30 to 60 with 1,024.
"""
SCREEN_USELESS = 0.25
"""A screen that lets more than this part of the rows pass only costs time."""
_SPARE_ROWS = 1024


class Matrix:
    """A growing (rows, dims) float32 matrix. Rows are trusted to be of unit length.

    A written row never changes except to zero when its record leaves, so searching needs no lock:
    a search that runs at that moment may miss that one record but never sees another's vector.
    Writers are serialised by the owner.
    """

    def __init__(self, dims: int, capacity: int = 0) -> None:
        self.dims = dims
        self.references: tuple[References, ...] = ()
        self.screen: Screen | None = None
        self._screen_wanted = 0
        self._screen_failures = 0
        self._data, self._has = _room(max(capacity, _SPARE_ROWS), dims)
        self._bytes = self._data.data.cast("B")

    def __len__(self) -> int:
        return int(np.count_nonzero(self._has))

    def __repr__(self) -> str:
        return f"Matrix(rows={len(self)}, dims={self.dims})"

    def put(self, row: int, vector: Vector | None) -> None:
        """Write a row that was never written; None leaves it without a vector."""
        if row >= len(self._data):
            self._grow(row + row // 2 + 1)
        # Rows without a vector are multiplied along; fresh memory may hold what is no number.
        self._data[row] = 0.0 if vector is None else vector
        if vector is not None:
            self._has[row] = True
        for held in self.references:
            held.follow(self._data, self._has, row + 1)
        if self.screen is not None:
            self.screen.follow(self._data, row + 1)

    def put_bytes(self, row: int, blob: bytes) -> None:
        """Write a row from native float32 bytes, without checks, within the capacity."""
        width = self.dims * 4
        self._bytes[row * width : (row + 1) * width] = blob
        self._has[row] = True

    def repair(self, size: int) -> int | None:
        """Bring rows loaded from bytes to unit length; return a row that cannot be, or None."""
        rows = self._data[:size]
        rows[~self._has[:size]] = 0.0
        squared = row_squares(rows)
        usable = np.isfinite(squared) & (squared > 0.0)
        broken = np.flatnonzero(self._has[:size] & ~usable)
        if len(broken) > 0:
            return int(broken[0])
        for row in np.flatnonzero(usable & (np.abs(squared - 1.0) > UNIT_TOLERANCE)):
            wide = rows[row].astype(np.float64)
            rows[row] = wide / np.linalg.norm(wide)
        return None

    def wipe(self, row: int) -> None:
        """Forget a vector for good; it could give away what its text said."""
        self._has[row] = False
        self._data[row] = 0.0
        for held in self.references:
            held.wipe(row)
        if self.screen is not None and self.screen.rests_on(row):
            self.screen, self._screen_wanted = None, 0
        elif self.screen is not None:
            self.screen.wipe(row)

    def holds(self, row: int, vector: Vector | None) -> bool:
        """Return whether a row already has exactly this vector, or has none for None."""
        if vector is None:
            return not self._has[row]
        return bool(self._has[row]) and np.array_equal(self._data[row], vector)

    def vector(self, row: int) -> Vector | None:
        """Return a copy of a row; None when it has no vector."""
        return self._data[row].copy() if self._has[row] else None

    def vectors(self, places: Sequence[tuple[int, int]]) -> tuple[list[int], Vectors]:
        """Return copies of the rows that have a vector, and their places.

        ``places`` holds (place, row); a row without a vector is left out.
        """
        data, has = self._data, self._has
        rows = np.array([row for _, row in places], dtype=np.int64)
        present = has[rows]
        found = [at for (at, _), here in zip(places, present.tolist(), strict=True) if here]
        return found, data[rows[present]]

    def cosines(self, vector: Vector, rows: Rows) -> Scores:
        """Return the cosine of each row with the vector, in order; NaN where a row has none."""
        data, has = self._data, self._has
        scores = _clipped(row_dots(data[rows], vector))
        scores[~has[rows]] = np.nan
        return scores

    def search_many(
        self, queries: Vectors, eligible: Eligible, k: int, *, at_least: float | None = None
    ) -> list[Hit]:
        """Return up to ``k`` (record key, best cosine over the queries), best first.

        ``queries`` are (q, dims) unit vectors. Exact; equal cosines come in key order. Records
        without a vector are left out, and those below ``at_least`` as float32.
        """
        if k <= 0 or eligible.count == 0 or len(queries) == 0:
            return []
        data, has = self._data, self._has
        if eligible.count < GATHER_BELOW * eligible.total:
            rows = eligible.rows()
            rows = rows[has[rows]]
            return _best(_gathered(data, rows, queries), eligible.seq_column[rows], k, at_least)
        scores = _scanned(data[: eligible.total], queries)
        scores[~(eligible.mask() & has[: eligible.total])] = -np.inf
        return _best(scores, eligible.seq_column, k, at_least)

    def referred(self, vectors: Vectors, size: int) -> References:
        """Return the cosines of the first ``size`` rows with fixed vectors, for ``refer``.

        Rows may be written and wiped meanwhile.
        """
        made = References(vectors, len(self._data))
        made.follow(self._data, self._has, size)
        return made

    def refer(self, made: References, size: int) -> None:
        """Keep the cosines with fixed vectors from now on; rows since they were made are added.

        Those with the same vectors are replaced.
        """
        made.follow(self._data, self._has, size)
        made.wipe(~self._has[:size])
        others = [held for held in self.references if held.vectors is not made.vectors]
        self.references = (*others[1 - MOST_REFERENCES :], made)

    def has_use_for_screen(self, size: int, part: float) -> bool:
        """Count a search by a floor in this part of ``size`` rows; return whether it uses a screen.

        Where there is none yet, the caller that is told so makes it.
        """
        useless = self._screen_failures >= SCREEN_AFTER
        if useless or size * part < SCREEN_ABOVE or part < SCREEN_PART:
            return False
        self._screen_wanted += 1
        return self.screen is not None or self._screen_wanted % SCREEN_AFTER == 0

    def screened(self, size: int) -> Screen:
        """Return a screen of the first ``size`` rows, for ``screen_by``.

        It takes some 40 ms for 50,000 rows of 384 numbers, and they may change meanwhile.
        """
        return Screen.fitted(self._data, self._has, size)

    def screen_by(self, made: Screen, size: int) -> None:
        """Use a screen from now on; rows since it was made are added.

        It is not used when a row that it rests on was wiped meanwhile.
        """
        gone = ~self._has[:size]
        if made.rests_on(gone) or self._screen_failures >= SCREEN_AFTER:
            self._screen_wanted = 0
            return
        made.follow(self._data, size)
        made.wipe(gone)
        self.screen = made

    def note_passed(self, passed: int, size: int) -> bool:
        """Take how many rows a screen let pass; return whether comparing those alone pays.

        A screen that fails again and again is given up: the vectors of some models all lie close
        together, and a claim unlike everything stored passes more rows than others.
        """
        pays = passed <= SCREEN_USELESS * size
        self._screen_failures = max(0, self._screen_failures + (-1 if pays else 1))
        if self._screen_failures >= SCREEN_AFTER:
            self.screen = None
        return pays

    def _grow(self, capacity: int) -> None:
        data, has = _room(capacity, self.dims)
        data[: len(self._data)] = self._data
        has[: len(self._has)] = self._has
        # Only now, for searches take no lock: what they see is full.
        self._data, self._has = data, has
        self._bytes = data.data.cast("B")


def _room(capacity: int, dims: int) -> tuple[Vectors, Mask]:
    """Return rows to write and which of them have a vector: none."""
    # `empty` costs no memory until rows are written, so a generous capacity is free.
    return np.empty((capacity, dims), dtype=np.float32), np.zeros(capacity, dtype=np.bool_)


def _clipped(scores: Scores) -> Scores:
    """Bound rounding: two equal unit vectors may multiply to a little more than 1."""
    return np.clip(scores, -1.0, 1.0, out=scores)


def _gathered(data: Vectors, rows: Rows, queries: Vectors) -> Scores:
    """Return the best score of each chosen row, copying a block of rows together at a time."""
    scores = np.empty(len(rows), dtype=np.float32)
    block = np.empty((min(BLOCK_ROWS, len(rows)), data.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), BLOCK_ROWS):
        chosen = rows[start : start + BLOCK_ROWS]
        # `clip` writes straight into the block; the default mode would copy twice.
        near = np.take(data, chosen, axis=0, out=block[: len(chosen)], mode="clip")
        scores[start : start + BLOCK_ROWS] = _best_dots(near, queries)
    return _clipped(scores)


def _scanned(data: Vectors, queries: Vectors) -> Scores:
    """Return the best score of every row."""
    if len(queries) == 1:
        return _clipped(row_dots(data, queries[0]))
    scores = np.empty(len(data), dtype=np.float32)
    for start in range(0, len(data), BLOCK_ROWS):
        near = data[start : start + BLOCK_ROWS]
        scores[start : start + BLOCK_ROWS] = _best_dots(near, queries)
    return _clipped(scores)


def _best_dots(rows: Vectors, queries: Vectors) -> Scores:
    best = row_dots(rows, queries[0])
    for query in queries[1:]:
        np.maximum(best, row_dots(rows, query), out=best)
    return best


def _best(scores: Scores, seqs: Seqs, k: int, at_least: float | None) -> list[Hit]:
    """Return the ``k`` best by score, then key; minus infinity is never among them."""
    bound = _kth_bound(scores, k) if at_least is None else at_least
    near = np.flatnonzero(scores >= bound)
    near = near[scores[near] > -np.inf]
    order: Sequence[int] = np.lexsort((seqs[near], -scores[near]))[:k].tolist()
    keys, values = seqs[near].tolist(), scores[near].tolist()
    return [(keys[at], values[at]) for at in order]


def _kth_bound(scores: Scores, k: int) -> float:
    """Return a score that at least ``k`` entries reach, so that no entry below it can win.

    The k-th largest of the block maxima is such a score and costs one pass; with too few blocks
    the exact k-th score is cheap.
    """
    if k >= len(scores):
        return -np.inf
    starts = np.arange(0, len(scores), BLOCK_ROWS)
    pool = np.maximum.reduceat(scores, starts) if len(starts) >= k else scores
    return float(np.partition(pool, len(pool) - k)[len(pool) - k])
