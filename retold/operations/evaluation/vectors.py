"""An embedder whose vectors outlive the run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

import apsw
import numpy as np

from retold.protocols import Embedder, Vectors
from retold.store.queries import parse_queries

Said = Callable[[str, float], None]
"""Called with what is being done and the part of it that is done, from 0 to 1."""

FILE: Final = "vectors.sqlite"
_CHUNK: Final = 64
_BUSY_MS: Final = 30_000


class CachedEmbedder:
    """Give the inner embedder's vectors, each computed once per model version and text.

    ``version`` carries the hash of the weights where the embedder knows it, so other weights never
    meet these vectors. Queries and documents are kept apart. The file keeps digests of texts, no
    text. Not safe across threads; processes may share a folder, which is made when missing.
    """

    def __init__(self, inner: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self._queries = _queries()
        self._cache = apsw.Connection(str(folder / FILE))
        self._cache.set_busy_timeout(_BUSY_MS)
        self._cache.execute(self._queries["create"])
        self.name = inner.name
        self.version = inner.version
        self.dims = inner.dims

    @property
    def is_loaded(self) -> bool:
        """Return whether the inner model is loaded."""
        return self._inner.is_loaded

    def close(self) -> None:
        """Close the file."""
        self._cache.close()

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length, as the inner embedder does."""
        return self._embed(texts, self._inner.embed_queries, "query")

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length, as the inner embedder does."""
        return self._embed(texts, self._inner.embed_documents, "document")

    def prefetch(self, queries: Sequence[str], documents: Sequence[str], said: Said) -> None:
        """Fill the cache in chunks, so that an interrupted run loses little."""
        work: list[tuple[Callable[[Sequence[str]], Vectors], list[str]]] = [
            # Equal lengths together: padding is what makes a mixed batch slow.
            (self.embed_documents, sorted(dict.fromkeys(documents), key=len)),
            (self.embed_queries, sorted(dict.fromkeys(queries), key=len)),
        ]
        total, done = sum(len(texts) for _, texts in work), 0
        for embed, texts in work:
            for start in range(0, len(texts), _CHUNK):
                chunk = texts[start : start + _CHUNK]
                embed(chunk)
                done += len(chunk)
                said(f"{done} of {total} texts", done / total)

    def _embed(
        self, texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors], side: str
    ) -> Vectors:
        keys = [self._key(text, side) for text in texts]
        known = {key: row for key in set(keys) if (row := self._read(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = embed(list(missing.values()))
            with self._cache:
                for key, row in zip(missing, fresh, strict=True):
                    known[key] = row
                    bindings = {"key": key, "vector": row.astype("<f4").tobytes()}
                    self._cache.execute(self._queries["keep"], bindings)
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def _key(self, text: str, side: str) -> bytes:
        parts = (self.name, self.version, str(self.dims), side, text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()

    def _read(self, key: bytes) -> Vectors | None:
        row = self._cache.execute(self._queries["read"], {"key": key}).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype="<f4").astype(np.float32)


@cache
def _queries() -> dict[str, str]:
    source = resources.files("retold.operations.evaluation").joinpath("vectors.sql")
    return parse_queries(source.read_text(encoding="utf-8"))
