"""A small part of every row that tells which rows cannot be near a vector."""

from __future__ import annotations

from typing import Final

import numpy as np

from retold.index.columns import Mask, Rows
from retold.index.dots import BLOCK_ROWS, Floats, row_squares

SAMPLE_ROWS: Final = 4096
"""Rows that the directions are fitted to; more change them little and cost time."""
MOST_NUMBERS: Final = 128
"""Numbers that a row is told by at most; finding the directions costs their square."""
SLACK: Final = 1e-4
"""Added to the square of what is left, and so at least to every bound.

A row may be longer than 1 by ``UNIT_TOLERANCE``, 1e-5, and float32 rounding moved bounds by 2e-6 in
all sizes and kinds of data that were tried; no floor tells such differences apart.
"""
_ROUNDS: Final = 3


class Screen:
    """Upper bounds of cosines from the rows' largest principal components.

    Of a unit vector x the screen keeps its coordinates c(x) in a few orthonormal directions and
    r(x), the length of what is left of it. By Cauchy and Schwarz x·y <= c(x)·c(y) + r(x) r(y): one
    product of short rows tells which long ones need not be read. The bound holds in any orthonormal
    directions; those near the principal ones of a sample only make r short. With 63 of 384, .1 % of
    5,463 facts and turns of real conversations pass at a cosine of .85 (at most 1.2 %).

    A row is followed once and never changes but to be wiped; the owner serialises both. Reading
    needs no lock.
    """

    def __init__(
        self, directions: Floats, capacity: int = 0, *, sample: Rows | None = None
    ) -> None:
        """Take the (dims, n) orthonormal directions and the rows that they were fitted to."""
        self._directions = directions
        self._sample = np.empty(0, dtype=np.int32) if sample is None else sample
        self._size = 0
        self._parts = _room(capacity, directions.shape[1] + 1)

    @classmethod
    def fitted(cls, data: Floats, has: Mask, size: int) -> Screen:
        """Return a screen of the first ``size`` rows with their own principal directions."""
        # A copy: rows are wiped meanwhile, and numpy counts before it fills.
        present = np.flatnonzero(has[:size].copy()).astype(np.int32)
        sample = present[:: len(present) // SAMPLE_ROWS + 1]
        made = cls(_principal_directions(data[sample]), len(data), sample=sample)
        made.follow(data, size)
        return made

    def rests_on(self, rows: int | Mask) -> bool:
        """Return whether the directions were fitted to some of the rows, and so tell of them.

        An outlier may be a direction of its own.
        """
        if isinstance(rows, int):
            return bool(np.any(self._sample == rows))
        return bool(np.any(rows[self._sample]))

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


def _principal_directions(sample: Floats) -> Floats:
    """Return (dims, n) float32: an orthonormal basis near the largest principal components.

    By subspace iteration from some of the rows (Golub and Van Loan, Matrix Computations, 8.2):
    three rounds let hardly more rows pass than the components themselves, in less time.
    """
    dims = sample.shape[1]
    wanted = _width(dims) - 1 or 1
    directions = sample[:: len(sample) // wanted or 1][:wanted].T
    if directions.shape[1] == 0:
        return np.eye(dims, wanted, dtype=np.float32)
    for _ in range(_ROUNDS):
        directions, _rest = np.linalg.qr(sample.T @ (sample @ directions))
    return np.ascontiguousarray(directions)


def _width(dims: int) -> int:
    """Return the numbers a row is told by: a sixth of all, in whole cache lines of 64 bytes."""
    return min(max(round(dims / 6 / 16), 1) * 16, dims, MOST_NUMBERS)


def _room(rows: int, width: int) -> Floats:
    return np.empty((rows, width), dtype=np.float32)
