"""Durable token vectors: one per word piece of a record, beside the record's own vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from retold.errors import EmbeddingError, StoreCorrupt
from retold.store.codec import to_json
from retold.store.meta import EmbeddingIdentity
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("token_vectors")

Codes = npt.NDArray[np.int8]
Scales = npt.NDArray[np.float32]

_SCALE = np.dtype("<f4")
_LARGEST = 127
"""Codes reach from -127 to 127, so that a vector and its negative have the same length."""


class PackedTokens(NamedTuple):
    """The token vectors of one text: row i is ``codes[i] * scales[i]``.

    ``codes`` is (tokens, dims) int8, ``scales`` (tokens,) float32, one per token: the largest
    number of a row becomes 127. Against float32 a cosine moves by less than .004.
    """

    codes: Codes
    scales: Scales

    @property
    def nbytes(self) -> int:
        """Return the bytes that the numbers take."""
        return self.codes.nbytes + self.scales.nbytes

    def to_bytes(self) -> bytes:
        """Return the scales, then the codes, token by token."""
        return self.scales.astype(_SCALE).tobytes() + self.codes.tobytes()


def pack_tokens(vectors: npt.NDArray[np.float32], dims: int) -> PackedTokens:
    """Return (n, dims) unit vectors as codes with a scale each; n is at least 1.

    Raises EmbeddingError for another shape and for values that are not finite.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2 or rows.shape[1] != dims or not len(rows):  # noqa: PLR2004  # a matrix
        raise EmbeddingError(
            f"token vectors have shape {rows.shape}, expected (tokens, {dims}); check the embedder"
        )
    largest = np.abs(rows).max(axis=1)
    if not np.isfinite(largest).all() or not largest.all():
        raise EmbeddingError("a token vector is zero or not finite; check the embedder")
    scales = (largest / _LARGEST).astype(np.float32)
    codes = np.rint(rows / scales[:, None]).astype(np.int8)
    return PackedTokens(codes, scales)


def unpack_tokens(blob: bytes, dims: int) -> PackedTokens:
    """Return what ``to_bytes`` was called on, without copying.

    Raises StoreCorrupt for a wrong size and for scales that are not finite.
    """
    tokens, rest = divmod(len(blob), dims + _SCALE.itemsize)
    if rest or not tokens:
        raise StoreCorrupt("token vectors have the wrong size; drop them and fill them in again")
    scales = np.frombuffer(blob, dtype=_SCALE, count=tokens)
    if not np.isfinite(scales).all():
        raise StoreCorrupt("token vectors are not finite; drop them and fill them in again")
    codes = np.frombuffer(blob, dtype=np.int8, offset=scales.nbytes).reshape(tokens, dims)
    return PackedTokens(codes, scales)


class MissingTokens(NamedTuple):
    """A record without token vectors, and the version of the vector that it has."""

    seq: int
    vector_version: int


class TokenVectorRepository:
    """Rows of ``token_vectors``.

    Each names the version of the vector that the same pass of the model made. A record whose
    vector was replaced since has none, whatever its row holds, and a removed vector takes the row
    with it; so token vectors never meet those of another model.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def put(self, seq: int, tokens: PackedTokens) -> None:
        """Store the token vectors of a record that has its vector already."""
        self._tx.run(QUERIES["put"], {"seq": seq, "codes": tokens.to_bytes()})

    def fill(self, missing: MissingTokens, tokens: PackedTokens) -> bool:
        """Store the token vectors of a record that lacked them, and say whether it still did.

        A record that was forgotten since, or whose vector was replaced, is left alone.
        """
        bindings = {**missing._asdict(), "codes": tokens.to_bytes()}
        self._tx.run(QUERIES["fill"], bindings)
        return self._tx.changes() > 0

    def delete(self, seq: int) -> None:
        """Remove the token vectors of a record; none is fine."""
        self._tx.run(QUERIES["delete"], {"seq": seq})

    def delete_some(self, most: int) -> int:
        """Remove the token vectors of up to ``most`` records and return of how many.

        The store's counters move with it, so that no process goes on with what it remembers.
        """
        self._tx.run(QUERIES["delete_some"], {"most": most})
        removed = self._tx.changes()
        if removed:
            self._tx.version()
        return removed

    def versions(self, seqs: Iterable[int], identity: EmbeddingIdentity) -> dict[int, int]:
        """Return for those of the records that have token vectors of this model their version."""
        rows = self._tx.run(QUERIES["versions"], _wanted(seqs, identity))
        return {int(seq): int(version) for seq, version in rows}

    def read(
        self, seqs: Iterable[int], identity: EmbeddingIdentity
    ) -> dict[int, tuple[int, PackedTokens]]:
        """Return the same with what is stored. Raises as ``unpack_tokens``."""
        rows = self._tx.run(QUERIES["codes"], _wanted(seqs, identity))
        return {seq: (version, unpack_tokens(codes, identity.dims)) for seq, version, codes in rows}

    def count_missing(self, identity: EmbeddingIdentity) -> int:
        """Return how many records have a vector of this model and no token vectors of it."""
        row = self._tx.one(QUERIES["count_missing"], identity._asdict())
        return 0 if row is None else int(row[0])

    def missing(self, identity: EmbeddingIdentity, after: int, limit: int) -> list[MissingTokens]:
        """Return up to ``limit`` such records with a key above ``after``, in key order."""
        bindings = {**identity._asdict(), "after": after, "limit": limit}
        return [MissingTokens(*row) for row in self._tx.run(QUERIES["missing"], bindings)]

    def sizes(self) -> tuple[int, int]:
        """Return how many records have token vectors, and the bytes that these take."""
        row = self._tx.one(QUERIES["sizes"])
        return (0, 0) if row is None else (int(row[0]), int(row[1]))


def _wanted(seqs: Iterable[int], identity: EmbeddingIdentity) -> Mapping[str, object]:
    return {**identity._asdict(), "seqs": to_json([int(seq) for seq in seqs])}
