"""Products of unit vectors whose bits depend on the two vectors alone."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

BLOCK_ROWS: Final = 256
"""Rows scored at once, so that they are still in the cache for the next query."""


def row_dots(rows: Floats, vector: Floats) -> Floats:
    """Return the dot product of each row with the vector.

    Every row is multiplied by itself, on one thread, so its bits depend on nothing but the two
    vectors: gathering, scanning and comparing single records all agree, which BLAS's matrix
    product does not promise. numpy 1 has no ``vecdot``; ``einsum`` has the same property.
    """
    scores: Floats
    if hasattr(np, "vecdot"):
        scores = np.vecdot(rows, vector)
    else:
        scores = np.einsum("ij,j->i", rows, vector)
    return scores


def row_squares(rows: Floats) -> Floats:
    """Return the squared length of each row."""
    squares: Floats = np.einsum("ij,ij->i", rows, rows)
    return squares
