"""An embedder that needs no model: texts are close when they share words, or when told so."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from retold.errors import EmbeddingError
from retold.protocols import EmbeddedTexts, Vectors
from retold.text import prepare_fts

Side = Literal["queries", "documents"]
Fault = Literal["nan", "zero", "size", "rows"]

_WORD = re.compile(r"\w+")
_ROUNDING = 1e-9
"""How far above 1 a squared length may be and still be rounding, not a contradiction."""

Direction = npt.NDArray[np.float64]


class FakeEmbedder:
    """Hash-based unit vectors, the same in every process.

    A text points where the sum of its distinct words points, so two texts have about the cosine
    of their word sets: shared words over the root of the product of both sizes. Texts without a
    common word are near zero, within about three over the root of ``dims``. Scripts without
    spaces count pairs of characters. Queries and documents are embedded alike. The tokens of a text
    are its distinct words, whatever was declared of the whole.

    Safe to call from several threads; declare similarities before embedding starts.
    """

    __test__ = False
    scripts = ("all",)
    offers_token_vectors = True

    def __init__(
        self,
        dims: int = 384,
        *,
        name: str = "retold/fake-embedder",
        version: str = "1",
        is_loaded: bool = True,
    ) -> None:
        """Make an embedder; with ``is_loaded`` False the first call loads it."""
        self._dims = dims
        self._name = name
        self._version = version
        self._is_loaded = is_loaded
        self._declared: dict[str, Direction] = {}
        self._anchors: set[str] = set()
        self._errors: dict[Side, Exception] = {}
        self._faults: dict[Side, Fault] = {}
        self._lock = threading.Lock()
        self.queries: list[tuple[str, ...]] = []
        self.documents: list[tuple[str, ...]] = []

    @property
    def name(self) -> str:
        """Name the model."""
        return self._name

    @property
    def version(self) -> str:
        """Name the weights."""
        return self._version

    @property
    def dims(self) -> int:
        """Return the width of every vector."""
        return self._dims

    @property
    def is_loaded(self) -> bool:
        """Return whether the next call loads nothing."""
        return self._is_loaded

    @property
    def calls(self) -> int:
        """Return how often texts were embedded, failed calls included."""
        return len(self.queries) + len(self.documents)

    def similar(self, text: str, to: str, cosine: float) -> None:
        """Give ``text`` exactly this cosine with ``to``, and keep what it had with other texts.

        ``to`` keeps its vector, so declare what it resembles first; later declarations about
        ``text`` itself replace this one, use ``similar_to_all`` for several at once. Raises
        ValueError for a cosine outside [-1, 1] and when ``text`` already served as ``to``.
        """
        self.similar_to_all(text, {to: cosine})

    def similar_to_all(self, text: str, cosines: dict[str, float]) -> None:
        """Give ``text`` a cosine with each of several texts; ValueError when none has them all."""
        if text in self._anchors or text in cosines:
            raise ValueError(f"{text!r} is what another text was compared with; declare it first")
        anchors = np.stack([self._direction(other) for other in cosines])
        wanted = np.array(list(cosines.values()), dtype=np.float64)
        along = np.linalg.pinv(anchors) @ wanted
        missing = 1.0 - float(along @ along)
        if missing < -_ROUNDING or not np.allclose(anchors @ along, wanted, atol=1e-6):
            raise ValueError(f"no unit vector has the cosines {tuple(cosines.values())}")
        aside = _hashed(f"aside {text}", self._dims)
        aside = aside - np.linalg.pinv(anchors) @ (anchors @ aside)
        self._declared[text] = along + np.sqrt(max(missing, 0.0)) * _unit(aside)
        self._anchors.update(cosines)

    def fail(self, error: Exception | None = None, *, on: Side | None = None) -> None:
        """Raise from now on, EmbeddingError by default; ``on`` None means both kinds of call."""
        for side in _sides(on):
            self._errors[side] = error or EmbeddingError("the fake embedder was told to fail")

    def spoil(self, fault: Fault, *, on: Side | None = None) -> None:
        """Return unusable vectors from now on: NaN, zero, one number short or one row short."""
        for side in _sides(on):
            self._faults[side] = fault

    def heal(self) -> None:
        """Take back every ``fail`` and ``spoil``."""
        self._errors.clear()
        self._faults.clear()

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length, in the order of ``texts``."""
        return self._embed("queries", self.queries, texts)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length, in the order of ``texts``."""
        return self._embed("documents", self.documents, texts)

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the vectors of ``embed_queries``, and one row for each distinct word."""
        vectors = self.embed_queries(texts)
        return EmbeddedTexts(vectors, [_of_words(text, self._dims) for text in texts])

    def embed_documents_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the vectors of ``embed_documents``, and one row for each distinct word."""
        vectors = self.embed_documents(texts)
        return EmbeddedTexts(vectors, [_of_words(text, self._dims) for text in texts])

    def _embed(self, side: Side, calls: list[tuple[str, ...]], texts: Sequence[str]) -> Vectors:
        with self._lock:
            calls.append(tuple(texts))
            if side in self._errors:
                raise self._errors[side]
            self._is_loaded = True
        vectors = np.empty((len(texts), self._dims), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._direction(text)
        return _spoiled(vectors, self._faults.get(side))

    def _direction(self, text: str) -> Direction:
        declared = self._declared.get(text)
        return _from_words(text, self._dims) if declared is None else declared


def _from_words(text: str, dims: int) -> Direction:
    words = _words(text)
    if not words:
        return _hashed(text, dims)
    return _unit(np.sum([_hashed(word, dims) for word in words], axis=0))


def _words(text: str) -> list[str]:
    return sorted(set(_WORD.findall(prepare_fts(text).casefold())))


def _of_words(text: str, dims: int) -> Vectors:
    rows = [_unit(_hashed(word, dims)) for word in _words(text) or [text]]
    return np.stack(rows).astype(np.float32)


@lru_cache(maxsize=65536)
def _hashed(text: str, dims: int) -> Direction:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    random = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
    direction = _unit(random.standard_normal(dims))
    direction.setflags(write=False)
    return direction


def _unit(direction: Direction) -> Direction:
    length = float(np.linalg.norm(direction))
    return direction if length == 0.0 else direction / length


def _sides(on: Side | None) -> tuple[Side, ...]:
    return ("queries", "documents") if on is None else (on,)


def _spoiled(vectors: Vectors, fault: Fault | None) -> Vectors:
    if fault == "nan":
        return np.full_like(vectors, np.nan)
    if fault == "zero":
        return np.zeros_like(vectors)
    if fault == "size":
        return vectors[:, :-1]
    return vectors[:-1] if fault == "rows" else vectors
