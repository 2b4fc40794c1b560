"""Embedders that sentence-transformers loads: any model with vectors, from the hub or a folder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np

from retold.errors import ConfigError, EmbeddingError, RetoldSetupError
from retold.index.checks import check_vectors
from retold.index.device import Placement
from retold.index.hub import INSTALL, pull_target, require_model
from retold.index.loading import LoadedOnce
from retold.index.model_files import ModelFiles, declared_width
from retold.protocols import Vectors

BATCH_SIZE: Final = 32
"""Texts per forward pass; larger passes of long texts need memory and gain nothing on a CPU."""

_READ_ALL: Final = frozenset({"BAAI/bge-m3"})
"""Models that read every script; of another one ``embedding.scripts`` says it."""

_Side = Literal["encode_query", "encode_document"]


class SentenceTransformersEmbedder:
    """Any model of sentence-transformers, loaded on the first use, once for all threads.

    The files must be on this machine already unless ``allow_download``; that is settled when the
    object is made, and loading never asks the hub. ``version`` is the configured tag with the first
    digits of the weights' hash. Queries and documents take the model's own prompts for them. Calls
    run one at a time: a tokenizer that two threads share may say it is borrowed. Texts beyond
    ``max_chars`` are cut, and the model cuts at its own number of tokens.

    Raises RetoldSetupError for missing packages or files, ConfigError when the files state another
    width than ``dims``.
    """

    def __init__(
        self,
        name: str,
        *,
        dims: int,
        version: str = "1",
        max_chars: int = 2000,
        placement: Placement | None = None,
        allow_download: bool = False,
    ) -> None:
        """Find the files; nothing is loaded yet."""
        self.files = require_model(name, allow_download=allow_download)
        width = declared_width(self.files)
        if width is not None and width != dims:
            raise ConfigError(
                f"embedding.dims: {name} has {width} dimensions, not {dims}; "
                f"set embedding.dims: {width}"
            )
        self.name = name
        self.version = versioned(version, self.files)
        self.dims = dims
        self.scripts = ("all",) if name in _READ_ALL else ("latin",)
        self._max_chars = max_chars
        self._placement = placement or Placement()
        self._model = LoadedOnce(self._load)
        self._one_at_a_time = threading.Lock()

    @property
    def is_loaded(self) -> bool:
        """Return whether the next call runs without loading anything."""
        return self._model.is_loaded

    def warm(self) -> None:
        """Load the model and run it once, so that the first real call is as fast as the next."""
        self._embed(("warm",), "encode_query")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length, in the order of ``texts``."""
        return self._embed(texts, "encode_query")

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length, in the order of ``texts``."""
        return self._embed(texts, "encode_document")

    def _embed(self, texts: Sequence[str], side: _Side) -> Vectors:
        if isinstance(texts, str):
            raise EmbeddingError("the embedder takes a list of texts, not one text")
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        model = self._model.get()
        with self._one_at_a_time:
            vectors = _encoded(model, side, [text[: self._max_chars] for text in texts])
        return check_vectors(vectors, len(texts), self.dims)

    def _load(self) -> Any:  # noqa: ANN401  # sentence-transformers is loaded lazily
        from sentence_transformers import SentenceTransformer

        device = self._placement.apply()
        try:
            return SentenceTransformer(str(self.files.folder), device=device, local_files_only=True)
        except Exception as error:  # every library below has errors of its own
            raise unusable(self.files, error) from error


def versioned(tag: str, files: ModelFiles | None) -> str:
    """Return the configured tag with the first digits of the weights' hash, the tag without."""
    return tag if files is None else f"{tag}+{files.sha256[:12]}"


def unusable(files: ModelFiles, error: Exception) -> RetoldSetupError:
    """Return the error for files that are here and cannot be loaded."""
    if isinstance(error, ImportError):
        what_helps = f"run: {INSTALL}"
    elif files.revision is None:
        what_helps = "repair the folder"
    else:
        what_helps = f"delete it and run `retold models pull {pull_target(files.name)}`"
    return RetoldSetupError(
        f"the model {files.name!r} in {str(files.folder)!r} cannot be loaded "
        f"({type(error).__name__}: {' '.join(str(error).split())[:200]}); {what_helps}"
    )


def _encoded(model: Any, side: _Side, texts: list[str]) -> object:  # noqa: ANN401  # as above
    try:
        vectors = getattr(model, side)(
            texts,
            batch_size=BATCH_SIZE,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
    except Exception as error:
        # The cause is cut off: an error of a tokenizer carries the whole text.
        raise EmbeddingError(f"the model failed on a text ({type(error).__name__})") from None
    half = isinstance(vectors, np.ndarray) and vectors.dtype in (np.float16, np.float64)
    return vectors.astype(np.float32) if half else vectors
