"""A small part of every row that tells which rows cannot be near a vector."""

from __future__ import annotations

from typing import Final

import numpy as np

from retold.index.columns import Mask, Rows
from retold.index.dots import BLOCK_ROWS, Floats, row_squares

SAMPLE_ROWS: Final = 4096
"""Rows that the directions are fitted to; more change them little and cost time."""
SLACK: Final = 1e-4
"""Added to the square of what is left, and so at least to every bound.

It outweighs a row that is longer than 1 by ``UNIT_TOLERANCE`` and the rounding of sums of up to
1,000 float32 products (6e-5 at worst), and is far below what a floor tells apart.
"""


class Screen:
    """Upper bounds of cosines from the rows' largest principal components.

    Of a unit vector x the screen keeps its coordinates c(x) in a few orthonormal directions and
    r(x), the length of what is left of it. By Cauchy and Schwarz x·y <= c(x)·c(y) + r(x) r(y): one
    product of short rows tells which long ones need not be read. The bound holds in any orthonormal
    directions; the principal ones of a sample only make r short. Of 5,463 facts and turns of real
    conversations .1 % pass at a cosine of .85 (at most 1.2 %), with 63 directions of 384.

    A row is followed once and never changes but to be wiped; the owner serialises both. Reading
    needs no lock.
    """

    def __init__(self, directions: Floats, capacity: int = 0) -> None:
        """Take the (dims, n) orthonormal directions; no row is followed yet."""
        self._directions = directions
        self._size = 0
        self._parts = _room(capacity, directions.shape[1] + 1)

    @classmethod
    def fitted(cls, data: Floats, has: Mask, size: int) -> Screen:
        """Return a screen of the first ``size`` rows with their own principal directions."""
        # A copy: rows are wiped meanwhile, and numpy counts before it fills.
        present = np.flatnonzero(has[:size].copy())
        sample = data[present[:: len(present) // SAMPLE_ROWS + 1]]
        moments = (sample.T @ sample).astype(np.float64)
        width = _width(data.shape[1])
        directions = np.linalg.eigh(moments).eigenvectors[:, 1 - width :]
        made = cls(np.ascontiguousarray(directions, dtype=np.float32), len(data))
        made.follow(data, size)
        return made

    def __repr__(self) -> str:
        return f"Screen(rows={self._size}, directions={self._directions.shape[1]})"

    def follow(self, data: Floats, size: int) -> None:
        """Bring the screen to the first ``size`` rows of a matrix; known rows stay as they are."""
        if size > len(self._parts):
            longer = _room(size + size // 2, self._parts.shape[1])
            longer[: self._size] = self._parts[: self._size]
            self._parts = longer
        for start in range(self._size, size, BLOCK_ROWS):
            end = min(start + BLOCK_ROWS, size)
            self._parts[start:end] = self._parts_of(data[start:end])
        self._size = max(self._size, size)

    def wipe(self, rows: int | Mask) -> None:
        """Forget rows for good."""
        if isinstance(rows, int):
            self._parts[rows : rows + 1] = 0.0
        else:
            self._parts[: len(rows)][rows] = 0.0

    def possible(self, vector: Floats, floor: float, size: int) -> Rows:
        """Return, ascending, the rows whose cosine with a unit vector may be at least ``floor``.

        No other of the first ``size`` rows reaches it. A row that has no vector may be among them.
        """
        bounds = np.einsum("ij,j->i", self._parts[:size], self._parts_of(vector[None])[0])
        return np.flatnonzero(bounds >= floor).astype(np.int32)

    def _parts_of(self, rows: Floats) -> Floats:
        """Return (rows, n + 1) float32: coordinates, then the length of the rest."""
        parts = _room(len(rows), self._directions.shape[1] + 1)
        np.matmul(rows, self._directions, out=parts[:, :-1])
        kept = row_squares(parts[:, :-1])
        np.sqrt(np.maximum(1.0 + SLACK - kept, 0.0), out=parts[:, -1])
        return parts


def _width(dims: int) -> int:
    """Return the numbers a row is told by: a sixth of all, in whole cache lines of 64 bytes."""
    return min(max(round(dims / 6 / 16), 1) * 16, dims)


def _room(rows: int, width: int) -> Floats:
    return np.empty((rows, width), dtype=np.float32)
