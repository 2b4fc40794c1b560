"""An embedder whose vectors outlive the run."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import numpy as np

from retold.protocols import Embedder, Vectors

_TABLE = "create table if not exists vectors(key blob primary key, vector blob) without rowid"
_CHUNK = 64


def default_cache() -> Path:
    """Return the folder for benchmark data under the user's cache directory."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home())
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "retold-benchmarks"


class CachedEmbedder:
    """Give the inner embedder's vectors, each computed once per model version and text.

    ``version`` of the packaged embedder carries the hash of its weights, so other weights never
    meet these vectors. Queries and documents share entries where the model embeds both alike.
    """

    def __init__(self, inner: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self._cache = apsw.Connection(str(folder / "vectors.sqlite"))
        self._cache.set_busy_timeout(30_000)
        self._cache.execute(_TABLE)
        self.name = inner.name
        self.version = inner.version
        self.dims = inner.dims

    @property
    def is_loaded(self) -> bool:
        """Return whether the inner model is loaded."""
        return self._inner.is_loaded

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per text."""
        return self._embed(texts, self._inner.embed_queries, "query")

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one unit row per text."""
        return self._embed(texts, self._inner.embed_documents, "document")

    def prefetch(
        self, queries: Sequence[str], documents: Sequence[str], progress: Callable[[str], None]
    ) -> None:
        """Fill the cache in chunks, so that an interrupted run loses little."""
        for what, texts, embed in (
            ("documents", documents, self.embed_documents),
            ("queries", queries, self.embed_queries),
        ):
            # Equal lengths together: padding is what makes a mixed batch slow.
            ordered = sorted(dict.fromkeys(texts), key=len)
            for start in range(0, len(ordered), _CHUNK):
                embed(ordered[start : start + _CHUNK])
                done = min(start + _CHUNK, len(ordered))
                progress(f"vectors of {done}/{len(ordered)} {what}")

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
                    self._cache.execute(
                        "insert or replace into vectors values (?, ?)", (key, row.tobytes())
                    )
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def _key(self, text: str, side: str) -> bytes:
        parts = (self.name, self.version, side, text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()

    def _read(self, key: bytes) -> Vectors | None:
        row = self._cache.execute("select vector from vectors where key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)
