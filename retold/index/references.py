"""What every row of the matrix has in common with a few fixed vectors."""

from __future__ import annotations

import numpy as np

from retold.index.columns import Mask, Rows
from retold.index.dots import BLOCK_ROWS, Floats, row_dots


class References:
    """The cosine of every row with each of a few fixed unit vectors, made once per row.

    Minus infinity stands for a row without a vector, so that it is never the nearest one. A row is
    followed once and never changes but to be wiped; the owner serialises both. Reading needs no
    lock.
    """

    def __init__(self, vectors: Floats, capacity: int = 0) -> None:
        """Take the (n, dims) vectors that rows are compared with; no row is followed yet."""
        self.vectors = vectors
        self._size = 0
        self._cosines = np.empty((capacity, len(vectors)), dtype=np.float32)

    def __repr__(self) -> str:
        return f"References(rows={self._size}, vectors={len(self.vectors)})"

    def follow(self, data: Floats, has: Mask, size: int) -> None:
        """Bring the cosines to the first ``size`` rows of a matrix; known rows stay as they are."""
        if size > len(self._cosines):
            self._grow(size + size // 2)
        for start in range(self._size, size, BLOCK_ROWS):
            end = min(start + BLOCK_ROWS, size)
            block = data[start:end]
            for place, vector in enumerate(self.vectors):
                self._cosines[start:end, place] = row_dots(block, vector)
            np.clip(self._cosines[start:end], -1.0, 1.0, out=self._cosines[start:end])
            self._cosines[start:end][~has[start:end]] = -np.inf
        self._size = max(self._size, size)

    def wipe(self, rows: int | Mask) -> None:
        """Forget rows for good."""
        if isinstance(rows, int):
            self._cosines[rows : rows + 1] = -np.inf
        else:
            self._cosines[: len(rows)][rows] = -np.inf

    def nearest(self, rows: Rows) -> Floats:
        """Return (n,) float32: the best cosine that any of these rows has with each vector.

        Minus infinity when none of them has a vector.
        """
        if len(rows) == 0:
            return np.full(len(self.vectors), -np.inf, dtype=np.float32)
        best: Floats = np.take(self._cosines, rows, axis=0).max(axis=0)
        return best

    def _grow(self, capacity: int) -> None:
        longer = np.empty((capacity, len(self.vectors)), dtype=np.float32)
        longer[: self._size] = self._cosines[: self._size]
        self._cosines = longer
