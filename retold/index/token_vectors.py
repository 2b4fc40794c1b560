"""Late interaction: how well the words of a query are matched, each by some word of a record.

The score of Khattab and Zaharia (ColBERT, SIGIR 2020): every token of the query takes the best
cosine that any token of the record has with it, and the score is the mean of these. Numbers are
kept in eight bits on both sides, so that products are sums of whole numbers that float32 holds
exactly up to 1,040 dimensions: a score never depends on what else is scored beside it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from retold.errors import ConfigError, EmbeddingError
from retold.protocols import EmbeddedTexts, Embedder, TokenEmbedder
from retold.store import Transaction
from retold.store.meta import Clocks, EmbeddingIdentity
from retold.store.token_vectors import PackedTokens, pack_tokens

Similarities = npt.NDArray[np.float64]

MOST_BYTES: Final = 64 << 20
"""Token vectors remembered at once: some 10,000 records of 16 tokens of 384 numbers."""

_MOST_CHANGES: Final = 1_000
"""Changes that are looked at one by one; after more of them everything is read again."""

_SINGLE_THREADED: Final = 1 << 18
"""Multiplications that OpenBLAS does on the calling thread at most."""


def token_embedder(embedder: Embedder) -> TokenEmbedder | None:
    """Return the embedder as one that offers token vectors; None when it offers none."""
    if isinstance(embedder, TokenEmbedder) and embedder.offers_token_vectors:
        return embedder
    return None


def require_token_embedder(embedder: Embedder) -> TokenEmbedder:
    """Return the embedder as one that offers token vectors. Raises ConfigError otherwise."""
    found = token_embedder(embedder)
    if found is None:
        raise ConfigError(
            f"retrieval.late_interaction.enabled: the embedder {embedder.name!r} offers no token "
            "vectors; set retrieval.late_interaction.enabled: false, or use one that does, such "
            "as that of the profile offline"
        )
    return found


def packed_texts(embedded: EmbeddedTexts, n: int, dims: int) -> list[PackedTokens]:
    """Return the token vectors of ``n`` texts, packed. Raises EmbeddingError for unusable ones."""
    if len(embedded.tokens) != n:
        raise EmbeddingError(
            f"the embedder returned token vectors of {len(embedded.tokens)} texts, not of {n}"
        )
    return [pack_tokens(one, dims) for one in embedded.tokens]


def late_similarity(query: PackedTokens, records: Sequence[PackedTokens]) -> Similarities:
    """Return how well each record matches a query: (len(records),) float64 in [-1, 1].

    That is the mean over the tokens of the query of the best cosine with any of the record's.
    """
    if not records:
        return np.empty(0)
    codes = np.concatenate([one.codes for one in records]).astype(np.float32)
    scales = np.concatenate([one.scales for one in records])
    starts = np.cumsum([0, *(len(one.scales) for one in records[:-1])])
    cosines = _products(codes, query.codes.astype(np.float32)) * scales[:, None]
    best = np.maximum.reduceat(cosines, starts, axis=0).astype(np.float64)
    scores: Similarities = (best * query.scales.astype(np.float64)).sum(axis=1)
    return scores / len(query.scales)


def _products(
    rows: npt.NDArray[np.float32], others: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return the product of each row with each other one, on one thread.

    In pieces that are too small for BLAS to start threads, which would wait for one another in a
    loop whenever the machine does something else.
    """
    products = np.empty((len(rows), len(others)), dtype=np.float32)
    piece = max(1, _SINGLE_THREADED // others.size)
    for start in range(0, len(rows), piece):
        end = start + piece
        np.matmul(rows[start:end], others.T, out=products[start:end])
    return products


@dataclass(slots=True)
class _Held:
    """Token vectors in memory: of which vector, and when the store last said that it has them."""

    version: int
    tokens: PackedTokens = field(repr=False)
    seen: Clocks

    def is_of(self, version: int, clocks: Clocks) -> bool:
        """Return whether this is what a snapshot holds; versions of two files are counted alike."""
        return self.version == version and self.seen.store_epoch == clocks.store_epoch


class TokenVectorCache:
    """The token vectors of the records that searches looked at last; safe across threads.

    What is remembered counts as long as the store's counters stand still, and is compared with the
    store once when they moved; of a file that was replaced as a whole nothing counts. A record that
    has none is asked for with every search, so those that are filled in later are found. What
    changed since is given up, so that nothing of a forgotten record stays in memory.
    """

    def __init__(self, identity: EmbeddingIdentity, most_bytes: int = MOST_BYTES) -> None:
        """Take the identity of the process's embedder; nothing is read yet."""
        self._identity = identity
        self._most = most_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[int, _Held] = OrderedDict()
        self._bytes = 0
        self._reached: Clocks | None = None

    def __repr__(self) -> str:
        return f"TokenVectorCache(records={len(self._held)}, bytes={self._bytes})"

    def read(self, tx: Transaction, seqs: Sequence[int]) -> dict[int, PackedTokens]:
        """Return the token vectors of those of the records that have some, in the order given."""
        clocks = tx.meta.clocks()
        self._give_up(tx, clocks)
        with self._lock:
            held = {seq: one for seq in seqs if (one := self._held.get(seq)) is not None}
            for seq in held:
                self._held.move_to_end(seq)
        doubtful = [seq for seq in seqs if seq not in held or held[seq].seen != clocks]
        if doubtful:
            versions = tx.token_vectors.versions(doubtful, self._identity)
            kept = {
                seq: held[seq]
                for seq, version in versions.items()
                if seq in held and held[seq].is_of(version, clocks)
            }
            read = tx.token_vectors.read(versions.keys() - kept.keys(), self._identity)
            fresh = {seq: _Held(version, one, clocks) for seq, (version, one) in read.items()}
            for seq in doubtful:
                held.pop(seq, None)
            held |= kept | fresh
            self._keep(held, clocks, doubtful)
        return {seq: held[seq].tokens for seq in seqs if seq in held}

    def _give_up(self, tx: Transaction, clocks: Clocks) -> None:
        """Drop what changed since the newest snapshot that was looked at; all of another file."""
        reached = self._reached
        if reached == clocks:
            return
        changed = None
        if reached is not None and reached.store_epoch == clocks.store_epoch:
            if reached.records_version >= clocks.records_version:
                return
            changed = tx.projection.changes_since(reached.records_version, _MOST_CHANGES)
        with self._lock:
            self._reached = clocks
            for seq in list(self._held if changed is None else changed):
                old = self._held.pop(seq, None)
                self._bytes -= 0 if old is None else old.tokens.nbytes

    def _is_latest(self, clocks: Clocks) -> bool:
        """Return whether nothing newer was looked at: an old snapshot is remembered for nobody."""
        reached = self._reached
        return reached is not None and (
            reached.store_epoch == clocks.store_epoch
            and reached.records_version <= clocks.records_version
        )

    def _keep(self, held: dict[int, _Held], clocks: Clocks, doubtful: Sequence[int]) -> None:
        with self._lock:
            if not self._is_latest(clocks):
                return
            for seq in doubtful:
                old = self._held.pop(seq, None)
                self._bytes -= 0 if old is None else old.tokens.nbytes
                if seq in held:
                    held[seq].seen = clocks
                    self._held[seq] = held[seq]
                    self._bytes += held[seq].tokens.nbytes
            while self._bytes > self._most:
                _, gone = self._held.popitem(last=False)
                self._bytes -= gone.tokens.nbytes
