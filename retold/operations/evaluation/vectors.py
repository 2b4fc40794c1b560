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

from retold.index.token_vectors import require_token_embedder, token_embedder
from retold.protocols import EmbeddedTexts, Embedder, Vectors
from retold.retrieve.coverage import scripts_of
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
    text. Token vectors are kept in 16 bits. ``with_tokens`` says that they will be wanted, so that
    ``prefetch`` computes them too. Not safe across threads; processes may share a folder, which is
    made when missing.
    """

    def __init__(self, inner: Embedder, folder: Path, *, with_tokens: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._inner = inner
        self._queries = _queries()
        self._cache = apsw.Connection(str(folder / FILE))
        self._cache.set_busy_timeout(_BUSY_MS)
        self._cache.execute(self._queries["create"])
        self._cache.execute(self._queries["create_tokens"])
        self._with_tokens = with_tokens
        self.name = inner.name
        self.version = inner.version
        self.dims = inner.dims

    @property
    def scripts(self) -> tuple[str, ...]:
        """Name the scripts that the inner model reads; Latin alone when it says nothing."""
        return tuple(scripts_of(self._inner, None))

    @property
    def offers_token_vectors(self) -> bool:
        """Return whether the inner model offers token vectors."""
        return token_embedder(self._inner) is not None

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

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the same with the tokens of each text. Raises ConfigError where there are none."""
        inner = require_token_embedder(self._inner)
        return self._embed_with_tokens(texts, inner.embed_queries_with_tokens, "query")

    def embed_documents_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the same with the tokens of each text. Raises ConfigError where there are none."""
        inner = require_token_embedder(self._inner)
        return self._embed_with_tokens(texts, inner.embed_documents_with_tokens, "document")

    def prefetch(self, queries: Sequence[str], documents: Sequence[str], said: Said) -> None:
        """Fill the cache in chunks, so that an interrupted run loses little."""
        embeds: tuple[Callable[[Sequence[str]], object], ...] = (
            self.embed_documents,
            self.embed_queries,
        )
        if self._with_tokens:
            embeds = (self.embed_documents_with_tokens, self.embed_queries_with_tokens)
        # Equal lengths together: padding is what makes a mixed batch slow.
        sorts = [sorted(dict.fromkeys(texts), key=len) for texts in (documents, queries)]
        work = list(zip(embeds, sorts, strict=True))
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

    def _embed_with_tokens(
        self,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], EmbeddedTexts],
        side: str,
    ) -> EmbeddedTexts:
        keys = [self._key(text, side) for text in texts]
        known = {key: row for key in set(keys) if (row := self._read_tokens(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            fresh = embed(list(missing.values()))
            with self._cache:
                for key, vector, tokens in zip(missing, *fresh, strict=True):
                    known[key] = tokens
                    kept = {"key": key, "tokens": tokens.astype("<f2").tobytes()}
                    self._cache.execute(self._queries["keep_tokens"], kept)
                    bindings = {"key": key, "vector": vector.astype("<f4").tobytes()}
                    self._cache.execute(self._queries["keep"], bindings)
        vectors = self._embed(texts, _never, side)
        return EmbeddedTexts(vectors, [known[key] for key in keys])

    def _read_tokens(self, key: bytes) -> Vectors | None:
        row = self._cache.execute(self._queries["read_tokens"], {"key": key}).fetchone()
        if row is None:
            return None
        return np.frombuffer(row[0], dtype="<f2").reshape(-1, self.dims).astype(np.float32)

    def _key(self, text: str, side: str) -> bytes:
        parts = (self.name, self.version, str(self.dims), side, text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()

    def _read(self, key: bytes) -> Vectors | None:
        row = self._cache.execute(self._queries["read"], {"key": key}).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype="<f4").astype(np.float32)


def _never(texts: Sequence[str]) -> Vectors:
    raise AssertionError(f"{len(texts)} vectors are missing beside their token vectors")


@cache
def _queries() -> dict[str, str]:
    source = resources.files("retold.operations.evaluation").joinpath("vectors.sql")
    return parse_queries(source.read_text(encoding="utf-8"))
