"""Durable vectors, one per record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from retold.errors import EmbeddingError, EmbeddingProfileMismatch, StoreCorrupt
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("embeddings")

Vector = npt.NDArray[np.float32]
EmbeddedText = Literal["named", "plain", "mixed"]
"""Whether records were embedded behind the name of whom they are about: all, none or some."""
_TEXT = "embedded_text"

STORED = np.dtype("<f4")
UNIT_TOLERANCE = 1e-5
"""How far a squared length may be from 1 before a vector is rescaled; rounding stays below."""


def unit_vector(vector: npt.ArrayLike, dims: int) -> Vector:
    """Return the vector as (dims,) float32 of unit length, a copy.

    A vector that is already of unit length keeps its bits. Raises EmbeddingError for a wrong
    shape, values that are not finite and a length of zero.
    """
    try:
        found = np.array(vector, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError("a vector is an array of numbers; check the embedder") from error
    if found.shape != (dims,):
        raise EmbeddingError(
            f"a vector has shape {found.shape}, expected ({dims},); check the embedder and its dims"
        )
    wide = found.astype(np.float64)
    length = math.sqrt(float(wide.dot(wide)))
    if not math.isfinite(length) or length == 0.0:
        raise EmbeddingError("a vector is zero or not finite; check the embedder")
    if abs(length * length - 1.0) > UNIT_TOLERANCE:
        found = (wide / length).astype(np.float32)
    return found


class EmbeddingRepository:
    """Rows of ``embeddings``, all of the identity that the store remembers."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def insert(self, seq: int, vector: npt.ArrayLike) -> None:
        """Store the unit vector of a record that has none yet; else as ``put``."""
        self._write("insert", seq, vector)

    def put(self, seq: int, vector: npt.ArrayLike) -> None:
        """Store the unit vector of a record under the transaction's version.

        Token vectors that came with an earlier one are removed. Raises EmbeddingError for an
        unusable vector, EmbeddingProfileMismatch when the store does not know yet whose vectors it
        holds.
        """
        self._write("put", seq, vector)
        self._tx.token_vectors.delete(seq)

    def _write(self, statement: Literal["insert", "put"], seq: int, vector: npt.ArrayLike) -> None:
        identity = self._tx.meta.embedding_identity()
        if identity is None:
            raise EmbeddingProfileMismatch(
                "the store has no embedding model yet; open it with a profile before writing"
            )
        blob = unit_vector(vector, identity.dims).astype(STORED, copy=False).tobytes()
        self._tx.run(
            QUERIES[statement],
            {
                "seq": seq,
                "model": identity.model,
                "version": identity.version,
                "dims": identity.dims,
                "vector": blob,
                "index_version": self._tx.version(),
            },
        )

    def note_text(self, *, named: bool) -> None:
        """Remember of what text the vector just stored was made: with its subject's name or not.

        A store that remembers nothing yet and has other vectors is of a release without names.
        """
        stored, made = self.text(), "named" if named else "plain"
        has_others = stored is None and len(list(self._tx.run(QUERIES["first_two"]))) > 1
        known = stored or ("plain" if has_others else made)
        text = made if known == made else "mixed"
        if text != stored:
            self._tx.meta.set_text(_TEXT, text)

    def text(self) -> EmbeddedText | None:
        """Return of what texts the store's vectors were made; None when nothing was noted."""
        stored = self._tx.meta.get_text(_TEXT)
        return next((one for one in get_args(EmbeddedText) if one == stored), None)

    def delete(self, seq: int) -> bool:
        """Remove the vector of a record; say whether there was one. The record's version moves."""
        self._tx.run(QUERIES["delete"], {"seq": seq})
        if self._tx.changes() == 0:
            return False
        self._tx.run(QUERIES["touch_record"], {"seq": seq, "index_version": self._tx.version()})
        return True

    def get(self, seq: int) -> Vector | None:
        """Return the vector of a record, whichever model made it; None when it has none."""
        row = self._tx.one(QUERIES["get"], {"seq": seq})
        if row is None:
            return None
        blob, dims = row
        if len(blob) != dims * STORED.itemsize:
            raise StoreCorrupt(f"the vector of row {seq} has the wrong size; restore a snapshot")
        return np.frombuffer(blob, dtype=STORED).astype(np.float32)

    def count(self) -> int:
        """Return how many vectors are stored."""
        row = self._tx.one(QUERIES["count"])
        return 0 if row is None else int(row[0])
