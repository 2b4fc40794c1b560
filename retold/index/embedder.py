"""The embedder that a configuration asks for, with a cache in front of its queries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from retold.config import PACKAGED_EMBEDDER, EmbeddingConfig
from retold.errors import ConfigError, EmbeddingError
from retold.index.checks import check_vectors
from retold.index.device import Placement
from retold.index.onnx import OnnxEmbedder
from retold.index.sentence_transformers import SentenceTransformersEmbedder
from retold.index.token_vectors import require_token_embedder, token_embedder
from retold.protocols import EmbeddedTexts, Embedder, ScriptReader, Vectors

__all__ = [
    "BgeM3Embedder",
    "Embedder",
    "QueryCache",
    "Vectors",
    "check_vectors",
    "embedder_from_config",
]

BgeM3Embedder = SentenceTransformersEmbedder
"""The name in the design of what loads BAAI/bge-m3, and any other model alike."""


class _Known(NamedTuple):
    """What is remembered of a query; ``tokens`` is None when nobody asked for them."""

    vector: Vectors
    tokens: Vectors | None


class QueryCache:
    """An embedder that remembers the vectors of the queries asked last, by exact text.

    At most ``entries`` vectors are kept, the least recently used one goes first; 0 keeps none.
    Documents never enter the cache. Every vector of the inner embedder is checked on its way out,
    so a broken model fails here and not as an empty search. Safe across threads; two threads that
    miss the same text at once both embed it.
    """

    def __init__(self, inner: Embedder, entries: int) -> None:
        """Wrap an embedder; nothing is loaded yet."""
        self._inner = inner
        self._entries = entries
        self._lock = threading.Lock()
        self._cached: OrderedDict[str, _Known] = OrderedDict()

    @property
    def name(self) -> str:
        """Name the inner model."""
        return self._inner.name

    @property
    def version(self) -> str:
        """Name the inner model's weights and preprocessing."""
        return self._inner.version

    @property
    def dims(self) -> int:
        """Return the width of every vector."""
        return self._inner.dims

    @property
    def scripts(self) -> tuple[str, ...]:
        """Name the scripts that the inner model reads; Latin alone when it says nothing."""
        inner = self._inner
        return tuple(inner.scripts) if isinstance(inner, ScriptReader) else ("latin",)

    @property
    def offers_token_vectors(self) -> bool:
        """Return whether the inner model offers token vectors."""
        return token_embedder(self._inner) is not None

    @property
    def is_loaded(self) -> bool:
        """Return whether the inner model is loaded."""
        return self._inner.is_loaded

    def warm(self) -> None:
        """Load the inner model by embedding one word; the word stays out of the cache."""
        self._inner.embed_queries(("warm",))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length, in the order of ``texts``."""
        vectors = self._inner.embed_documents(texts)
        return check_vectors(vectors, len(texts), self.dims)

    def embed_documents_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the same with the tokens of each text. Raises ConfigError where there are none."""
        embedded = require_token_embedder(self._inner).embed_documents_with_tokens(texts)
        checked = check_vectors(embedded.vectors, len(texts), self.dims)
        return EmbeddedTexts(checked, embedded.tokens)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length; a repeated text is embedded once.

        The rows are the caller's own copy.
        """
        known = self._known(texts, with_tokens=False)
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            vectors = self._inner.embed_queries(missing)
            known |= self._remember(missing, vectors, [None] * len(missing))
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        return np.stack([known[text].vector for text in texts])

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the same with the tokens of each text; these are shared and not to be changed.

        Raises ConfigError where there are none.
        """
        known = self._known(texts, with_tokens=True)
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            embedded = require_token_embedder(self._inner).embed_queries_with_tokens(missing)
            known |= self._remember(missing, embedded.vectors, embedded.tokens)
        if not texts:
            return EmbeddedTexts(np.empty((0, self.dims), dtype=np.float32), ())
        tokens = [one for text in texts if (one := known[text].tokens) is not None]
        return EmbeddedTexts(np.stack([known[text].vector for text in texts]), tokens)

    def _known(self, texts: Sequence[str], *, with_tokens: bool) -> dict[str, _Known]:
        """Return what is cached of these texts, now the most recently used."""
        found = {}
        with self._lock:
            for text in texts:
                one = self._cached.get(text)
                if one is not None and (one.tokens is not None or not with_tokens):
                    self._cached.move_to_end(text)
                    found[text] = one
        return found

    def _remember(
        self, texts: Sequence[str], vectors: Vectors, tokens: Sequence[Vectors | None]
    ) -> dict[str, _Known]:
        """Check what was embedded and keep it. Raises EmbeddingError."""
        checked = check_vectors(vectors, len(texts), self.dims)
        if len(tokens) != len(texts):
            raise EmbeddingError(
                f"the embedder returned token vectors of {len(tokens)} texts, not of {len(texts)}"
            )
        fresh = {
            text: _Known(row.copy(), of_tokens)
            for text, row, of_tokens in zip(texts, checked, tokens, strict=True)
        }
        with self._lock:
            self._cached.update(fresh)
            while len(self._cached) > self._entries:
                self._cached.popitem(last=False)
        return fresh


def embedder_from_config(config: EmbeddingConfig) -> Embedder:
    """Return the configured embedder behind its query cache; nothing is loaded yet.

    Raises RetoldSetupError when the files of a model, or what loads it, are not on this machine,
    and ConfigError when ``embedding.dims`` is not the model's width.
    """
    if not config.is_packaged:
        return QueryCache(_from_hub(config), config.query_cache_entries)
    embedder = OnnxEmbedder(
        version=config.version, max_chars=config.max_chars, threads=config.threads
    )
    if config.dims != embedder.dims:
        raise ConfigError(
            f"embedding.dims: {PACKAGED_EMBEDDER} has {embedder.dims} dimensions, "
            f"not {config.dims}; set embedding.dims: {embedder.dims}"
        )
    return QueryCache(embedder, config.query_cache_entries)


def _from_hub(config: EmbeddingConfig) -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder(
        config.model,
        dims=config.dims,
        version=config.version,
        max_chars=config.max_chars,
        placement=Placement(config.device, config.threads),
        allow_download=config.allow_download,
    )
