"""Stores of any size with made-up sentences and vectors, and queries that find something."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import numpy as np

from retold import Overrides, Retold, Scope
from retold.config import parse_config
from retold.models import HostSource, Principal, Verdict, WriteRequest
from retold.protocols import EmbeddedTexts, Vectors
from retold.text.stopwords import ENGLISH_STOP_WORDS

Shape = Literal["one", "shared"]
NOW = datetime(2026, 6, 1, tzinfo=UTC)
AGENT, USER = "assistant", "owner"
STRANGERS = 10_000
"""Users of a shared store; what they hold is nobody else's to read."""
READ_SHARE = 0.01
"""The part of a shared store that the caller may read, over ten projects."""
PROJECTS = 10
BATCH = 256
IMPORTER = Principal("host", "host")
_VOCABULARY = 30_000
_COMMON = {
    "user": 0.35,
    "prefers": 0.12,
    "project": 0.13,
    "team": 0.08,
    "uses": 0.08,
    "meeting": 0.05,
    "deploy": 0.04,
    "code": 0.05,
    "session": 0.04,
    "email": 0.03,
    "customer": 0.03,
    "data": 0.05,
}
"""Words that memories share, and in what part of them each occurs."""
_FUNCTION_WORDS = sorted(ENGLISH_STOP_WORDS)
_TOPICS = 200
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


class StoredVectors:
    """An embedder that looks vectors up, so that only the library is measured.

    ``sleep_seconds`` stands for a model's forward pass over the queries of one call. Token vectors
    are random ones of the words that are no function words.
    """

    name, version = "stored-vectors", "1"
    offers_token_vectors = True

    def __init__(self, dims: int, *, sleep_seconds: float = 0.0) -> None:
        self.dims = dims
        self.is_loaded = False
        self._sleep_seconds = sleep_seconds
        self._vectors: dict[str, Vectors] = {}
        self._words: dict[str, Vectors] = {}

    def know(self, texts: Iterable[str], vectors: Iterable[Vectors]) -> None:
        """Remember the vectors of texts."""
        self._vectors.update(zip(texts, vectors, strict=True))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the known vectors after the time a model would take."""
        self.is_loaded = True
        if self._sleep_seconds:
            time.sleep(self._sleep_seconds)
        return np.stack([self._vectors[text] for text in texts])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the known vectors."""
        return np.stack([self._vectors[text] for text in texts])

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the same with the vectors of the words."""
        return EmbeddedTexts(self.embed_queries(texts), [self._tokens(text) for text in texts])

    def embed_documents_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the same with the vectors of the words."""
        return EmbeddedTexts(self.embed_documents(texts), [self._tokens(text) for text in texts])

    def _tokens(self, text: str) -> Vectors:
        words = [one for one in text.split() if one not in ENGLISH_STOP_WORDS] or [text]
        for word in words:
            if word not in self._words:
                random = np.random.default_rng(zlib.crc32(word.encode()))
                self._words[word] = _unit(random.standard_normal((1, self.dims)))[0]
        return np.stack([self._words[word] for word in words])


class NoJudge:
    """A judge that costs nothing: every pair is distinct, every quote supports its claim."""

    name = "none"

    def judge(self, a: str, b: str) -> Verdict:
        """Return distinct."""
        return Verdict("distinct", "model")

    def support(self, quote: str, claim: str, *, names: Sequence[str] = ()) -> Verdict:
        """Return full support."""
        return Verdict("same", "model", {"entails": 1.0})


@dataclass(frozen=True, slots=True)
class Query:
    """A text and its vector."""

    text: str
    vector: Vectors


@dataclass(frozen=True, slots=True)
class Owner:
    """A scope, and whether the caller may read it."""

    scope: Scope
    granted: bool


class Corpus:
    """The sentences, vectors and queries of one size; the same seed gives the same corpus.

    Words are invented and follow Zipf's law, with real function words at its head, as in any text;
    the product leaves those out of a query.
    """

    def __init__(self, size: int, dims: int, *, seed: int = 7) -> None:
        self.size = size
        self._random = np.random.default_rng(seed)
        self._words = _words(self._random)
        ranks = np.arange(1, len(self._words) + 1)
        weights = 1 / (ranks + 2.7) ** 1.05
        self._weights = np.cumsum(weights / weights.sum())
        self.texts = list(self._sentences(size))
        topics = self._random.standard_normal((_TOPICS, dims))
        near = topics[self._random.integers(_TOPICS, size=size)]
        self.vectors = _unit(near + self._random.standard_normal((size, dims)))

    def queries(self, count: int) -> list[Query]:
        """Return questions of three to eight words, half of them from one stored sentence.

        One word is common in the store, the others follow Zipf's law beyond the function words.
        """
        common = list(_COMMON)
        weights = np.array([_COMMON[word] for word in common])
        chosen = []
        for at in self._random.integers(self.size, size=count):
            own = [word for word in self.texts[at].split()[1:] if word not in _FUNCTION_WORDS]
            length = int(self._random.integers(3, 9))
            few = self._random.permutation(own)[: (length + 1) // 2].tolist()
            shared = str(self._random.choice(common, p=weights / weights.sum()))
            others = self._drawn(max(0, length - len(few) - 1), beyond=len(_FUNCTION_WORDS))
            noise = self._random.standard_normal(self.vectors.shape[1]) * 0.8
            noise /= np.sqrt(self.vectors.shape[1])
            vector = _unit((self.vectors[at] + noise)[None])[0]
            chosen.append(Query(" ".join([*few, shared, *others]), vector))
        return chosen

    def claims(self, count: int) -> list[Query]:
        """Return short new claims, as a person makes them, with vectors of their own."""
        lengths = self._random.integers(4, 10, size=count)
        vectors = _unit(self._random.standard_normal((count, self.vectors.shape[1])))
        return [
            Query(" ".join(self._drawn(int(length), beyond=len(_FUNCTION_WORDS))), row)
            for length, row in zip(lengths, vectors, strict=True)
        ]

    def _sentences(self, count: int) -> Iterator[str]:
        lengths = np.clip(self._random.gamma(6, 3.4, count).astype(int), 8, 40)
        for number, length in enumerate(lengths):
            words = self._drawn(int(length))
            for word, part in _COMMON.items():
                if self._random.random() < part:
                    words.insert(int(self._random.integers(len(words))), word)
            # The number keeps texts distinct: a vector is looked up by its text.
            yield f"note{number} {' '.join(words)}"

    def _drawn(self, count: int, *, beyond: int = 0) -> list[str]:
        least = self._weights[beyond - 1] if beyond else 0.0
        draws = least + self._random.random(count) * (1 - least)
        places = np.searchsorted(self._weights, draws)
        return [self._words[min(int(place), len(self._words) - 1)] for place in places]


def build(
    path: Path, corpus: Corpus, shape: Shape, embedder: StoredVectors, *, seed: int = 11
) -> None:
    """Write the corpus into a new store as an import does, and grant the caller its part."""
    random = np.random.default_rng(seed)
    ages = random.integers(0, 400, size=corpus.size).tolist()
    owners = _owners(corpus.size, shape, random)
    with opened(path, embedder) as retold:
        for owner in sorted({owner for owner in owners if owner.granted}, key=str):
            retold.host.grant(AGENT, owner.scope, read=True, write=True)
        requests = [
            WriteRequest(
                type="episodic" if at % 3 == 0 else "semantic",
                content=corpus.texts[at],
                scope=owner.scope,
                source_kind="system",
                event_at=NOW - timedelta(days=ages[at]),
                host_source=HostSource("host", f"document {at}"),
                actor="benchmark",
            )
            for at, owner in enumerate(owners)
        ]
        for start in range(0, corpus.size, BATCH):
            # What the host's door does for one scope, here for many in one transaction.
            retold.runtime.ingestor.write_corpus(IMPORTER, requests[start : start + BATCH])


def opened(path: Path, embedder: StoredVectors, **settings: object) -> Retold:
    """Open a store with stored vectors, no judge and a clock that stands still."""
    return Retold.open(
        path,
        config=parse_config(settings, profile="offline"),
        overrides=Overrides(embedder=embedder, judge=NoJudge(), clock=lambda: NOW),
    )


def caller() -> Principal:
    """Return who searches."""
    return Principal(AGENT, USER, "benchmark")


def _owners(size: int, shape: Shape, random: np.random.Generator) -> list[Owner]:
    """Return whose each sentence is; those of one owner lie scattered over a shared store."""
    if shape == "one":
        return [Owner(Scope("user", USER), granted=True)] * size
    strangers = [Owner(Scope("user", f"stranger-{n}"), granted=False) for n in range(STRANGERS)]
    projects = [Owner(Scope("project", f"project-{n}"), granted=True) for n in range(PROJECTS)]
    mine = random.random(size) < READ_SHARE
    return [
        projects[int(random.integers(PROJECTS))]
        if is_mine
        else strangers[int(random.integers(STRANGERS))]
        for is_mine in mine
    ]


def _words(random: np.random.Generator) -> list[str]:
    """Return function words, then invented ones, the commonest the shortest."""
    lengths = [2] * 2_000 + [3] * (_VOCABULARY - 2_000)
    words = dict.fromkeys(_FUNCTION_WORDS)
    for length in lengths:
        word = ""
        while not word or word in words:
            word = "".join(_SYLLABLES[at] for at in random.integers(len(_SYLLABLES), size=length))
        words[word] = None
    return list(words)


def _unit(rows: np.ndarray) -> Vectors:
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
