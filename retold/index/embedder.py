"""The embedder that a configuration asks for, with a cache in front of its queries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from retold.config import PACKAGED_EMBEDDER, EmbeddingConfig
from retold.errors import ConfigError
from retold.index.checks import check_vectors
from retold.index.device import Placement
from retold.index.onnx import OnnxEmbedder
from retold.index.sentence_transformers import SentenceTransformersEmbedder
from retold.protocols import Embedder, ScriptReader, Vectors

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
        self._cached: OrderedDict[str, Vectors] = OrderedDict()

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

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length; a repeated text is embedded once.

        The rows are the caller's own copy.
        """
        known = self._known(texts)
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            vectors = self._inner.embed_queries(missing)
            checked = check_vectors(vectors, len(missing), self.dims)
            fresh = {text: row.copy() for text, row in zip(missing, checked, strict=True)}
            self._remember(fresh)
            known |= fresh
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        return np.stack([known[text] for text in texts])

    def _known(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the cached vectors of these texts, now the most recently used."""
        found = {}
        with self._lock:
            for text in texts:
                if text in self._cached:
                    self._cached.move_to_end(text)
                    found[text] = self._cached[text]
        return found

    def _remember(self, fresh: dict[str, Vectors]) -> None:
        with self._lock:
            self._cached.update(fresh)
            while len(self._cached) > self._entries:
                self._cached.popitem(last=False)


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
