"""What a vector must be before anything is compared with it."""

from __future__ import annotations

import numpy as np

from retold.errors import EmbeddingError
from retold.protocols import Vectors

NORM_TOLERANCE = 0.01
"""How far from 1 a length may be; half-precision models miss unit length by about .001."""


def check_vectors(array: object, n: int, dims: int) -> Vectors:
    """Return the array when it holds ``n`` unit vectors of ``dims`` float32 numbers.

    The result is C-contiguous. Raises EmbeddingError for another shape or dtype, for numbers that
    are not finite, and for rows that are zero or not of unit length.
    """
    if not isinstance(array, np.ndarray) or array.dtype != np.float32:
        kind = f"{array.dtype} array" if isinstance(array, np.ndarray) else type(array).__name__
        raise EmbeddingError(f"the embedder returned a {kind}, not a float32 array")
    if array.shape != (n, dims):
        raise EmbeddingError(
            f"the embedder returned vectors of shape {array.shape}, not {(n, dims)}; "
            "embedding.dims must equal the model's output"
        )
    wide = array.astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    # No square of a float32 is too large for a float64, so such a length comes from such a number.
    if not np.isfinite(norms).all():
        raise EmbeddingError("the embedder returned a vector with numbers that are not finite")
    if not norms.all():
        raise EmbeddingError("the embedder returned a zero vector")
    if (np.abs(norms - 1.0) > NORM_TOLERANCE).any():
        raise EmbeddingError("the embedder returned a vector that is not of unit length")
    return np.ascontiguousarray(array)
