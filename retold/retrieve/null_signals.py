"""How far a query stands out from the prompts of the null bank, over the eligible records."""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from retold.index.bm25 import EligibleWords
from retold.index.checks import check_vectors
from retold.index.columns import Columns, Eligible
from retold.index.vector import VectorIndex
from retold.index.words import Words
from retold.protocols import Embedder, Vectors
from retold.retrieve.fusion import Unrelated
from retold.retrieve.null_bank import (
    BANK_VERSION,
    BankName,
    Phrases,
    bank_for,
    bank_prompts,
    phrases_of_queries,
)
from retold.retrieve.signals import BankStatistics, NullQuery, NullSignals
from retold.retrieve.stretches import Tokenize

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SmallStores:
    """How far the statistics of few records are believed.

    The embedder's own spread counts as much as that of ``prior_records`` records. The mean is
    lowered by ``leniency`` deviations in a store without records, by half of it at
    ``lenient_records``: the closest of three records is seldom close by chance, and a newcomer asks
    about what is there.
    """

    prior_records: float
    lenient_records: float
    leniency: float


SMALL_STORES: Final = SmallStores(prior_records=3.0, lenient_records=10.0, leniency=0.2)
"""Fitted by benchmarks/null_gate.py, which leaves every store out once (docs/retrieval.md)."""
_LEAST_SD: Final = 1e-6
_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class BankSample:
    """What the prompts of the bank find among some records, one entry per prompt.

    ``tops`` are the cosines of the nearest record, minus infinity where no record has a vector;
    ``unks`` the shares of terms that no record holds. ``own_spread`` is the standard deviation of
    the cosines between prompts, which depends on the embedder alone.
    """

    tops: Numbers
    unks: Numbers
    records: int
    own_spread: float


class AskedQuery(NamedTuple):
    """One query of a request: ``top`` is None without a vector on either side."""

    top: float | None
    unk: float
    is_read: bool = True
    bank: BankName = "plain"


def bank_statistics(
    sample: BankSample, unk_weight: float, small: SmallStores = SMALL_STORES
) -> BankStatistics | None:
    """Return the statistics of a sample, with both deviations drawn to the embedder's own.

    A signal is the top cosine minus ``unk_weight`` spreads for each unit of unk. None when no
    record has a vector.
    """
    if not np.isfinite(sample.tops).all() or len(sample.tops) == 0:
        return None
    spread = _drawn(float(np.std(sample.tops, ddof=1)), sample, small)
    signals = sample.tops - unk_weight * spread * sample.unks
    sd = _drawn(float(np.std(signals, ddof=1)), sample, small)
    lenience = small.leniency * small.lenient_records / (small.lenient_records + sample.records)
    return BankStatistics(float(np.mean(signals)) - lenience * sd, sd, spread)


def null_signals(
    banks: Mapping[BankName, BankStatistics], asked: Sequence[AskedQuery], unk_weight: float
) -> NullSignals:
    """Return the signals of a request's queries; ``banks`` lacks those that nobody can compare."""
    queries = tuple(
        NullQuery(
            one.top,
            one.unk,
            z_of(banks.get(one.bank), one.top, one.unk, unk_weight) if one.is_read else None,
            one.is_read,
            one.bank,
        )
        for one in asked
    )
    return NullSignals(BANK_VERSION, banks, queries)


def z_of(
    statistics: BankStatistics | None, top: float | None, unk: float, unk_weight: float
) -> float | None:
    """Return by how many deviations a query stands out; None without a vector on either side."""
    if statistics is None or top is None or not isfinite(top):
        return None
    return (top - unk_weight * statistics.spread * unk - statistics.mean) / statistics.sd


def unknown_share(words: EligibleWords, phrases: Phrases) -> float:
    """Return the share of these terms that no eligible record holds; 0 without terms."""
    known = words.known(phrases)
    return (len(known) - sum(known)) / len(known) if known else 0.0


def between_prompts(vectors: Vectors) -> Unrelated:
    """Return how near the prompts of the bank are to one another."""
    between = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)].astype(np.float64)
    return Unrelated(float(np.mean(between)), float(np.std(between)))


class NullReference:
    """The bank as one embedder sees it, and what it finds for each eligible set.

    Safe across threads. A sample is remembered for exactly the same rows with the same words, so
    that it is never used for a caller who may read anything else.
    """

    def __init__(self) -> None:
        """Embed nothing yet."""
        self._lock = threading.Lock()
        self._vectors: dict[BankName, Vectors] = {}
        self._unrelated: Unrelated | None = None
        self._phrases: dict[BankName, tuple[Phrases, ...]] = {}
        self._samples: OrderedDict[bytes, _Remembered] = OrderedDict()

    @property
    def unrelated(self) -> Unrelated | None:
        """Return how near two prompts of the bank are; None before it is embedded."""
        return self._unrelated

    def embed(self, embedder: Embedder, queries: Sequence[str] = ()) -> None:
        """Embed what the queries are compared with, once; outside of any transaction.

        The plain bank is always embedded. Raises what the model raises.
        """
        for name in dict.fromkeys(("plain", *map(bank_for, queries))):
            if name in self._vectors:
                continue
            prompts = bank_prompts(name)
            vectors = check_vectors(embedder.embed_queries(prompts), len(prompts), embedder.dims)
            if name == "plain":
                self._unrelated = between_prompts(vectors)
            self._vectors[name] = vectors

    def sample(
        self,
        index: VectorIndex,
        words: EligibleWords,
        eligible: Eligible,
        tokenize: Tokenize,
        *,
        name: BankName = "plain",
    ) -> BankSample | None:
        """Return what a bank finds among the eligible records; None before it is embedded."""
        held = self._held(index, words, eligible, tokenize, name)
        return None if held is None else held.sample

    def statistics(
        self,
        index: VectorIndex,
        words: EligibleWords,
        eligible: Eligible,
        tokenize: Tokenize,
        *,
        name: BankName,
        unk_weight: float,
    ) -> BankStatistics | None:
        """Return the statistics of that sample; None too when no eligible record has a vector."""
        held = self._held(index, words, eligible, tokenize, name)
        return None if held is None else held.statistics(unk_weight)

    def _held(
        self,
        index: VectorIndex,
        words: EligibleWords,
        eligible: Eligible,
        tokenize: Tokenize,
        name: BankName,
    ) -> _Remembered | None:
        vectors, unrelated = self._vectors.get(name), self._unrelated
        if vectors is None or unrelated is None:
            return None
        rows = eligible.rows().tobytes()
        key = name.encode() + hashlib.blake2b(rows, digest_size=16).digest()
        known = self._known(key, eligible.columns, words.snapshot)
        if known is not None:
            return known
        phrases = self._phrases.get(name)
        if phrases is None:
            phrases = phrases_of_queries(bank_prompts(name), tokenize)
            self._phrases[name] = phrases
        made = BankSample(
            tops=index.nearest_to(vectors, eligible).astype(np.float64),
            unks=np.array([unknown_share(words, of_prompt) for of_prompt in phrases]),
            records=eligible.count,
            own_spread=unrelated.spread,
        )
        return self._remember(key, eligible.columns, words.snapshot, made)

    def _known(self, key: bytes, columns: Columns, words: Words) -> _Remembered | None:
        with self._lock:
            held = self._samples.get(key)
            if held is None or held.columns() is not columns or held.words() is not words:
                return None
            self._samples.move_to_end(key)
            return held

    def _remember(
        self, key: bytes, columns: Columns, words: Words, sample: BankSample
    ) -> _Remembered:
        held = _Remembered(weakref.ref(columns), weakref.ref(words), sample)
        with self._lock:
            self._samples[key] = held
            self._samples.move_to_end(key)
            while len(self._samples) > _KEPT:
                self._samples.popitem(last=False)
        return held


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A sample with what it was taken from: rows are numbered by ``columns``.

    ``found`` holds its statistics for each weight of unk that was asked for.
    """

    columns: weakref.ref[Columns]
    words: weakref.ref[Words]
    sample: BankSample
    found: dict[float, BankStatistics | None] = field(default_factory=dict)

    def statistics(self, unk_weight: float) -> BankStatistics | None:
        if unk_weight not in self.found:
            self.found[unk_weight] = bank_statistics(self.sample, unk_weight)
        return self.found[unk_weight]


def _drawn(measured: float, sample: BankSample, small: SmallStores) -> float:
    """Return a deviation drawn towards the embedder's own, the more the fewer records there are."""
    parts = sample.records * measured**2 + small.prior_records * sample.own_spread**2
    return max(sqrt(parts / (sample.records + small.prior_records)), _LEAST_SD)
