"""What one embedder makes of one store: what unrelated prompts find, and which thresholds follow.

Nothing in a calibration says what the store holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from retold.config import RetoldConfig, resolve_levers
from retold.errors import EmbeddingProfileMismatch, InvalidInput
from retold.index.checks import check_vectors
from retold.index.columns import Eligible
from retold.index.vector import VectorIndex
from retold.models import Scope
from retold.protocols import Embedder, Vectors
from retold.retrieve.generators import pairwise_cosines
from retold.retrieve.null_bank import BANK_VERSION, bank_prompts, phrases_of_queries
from retold.retrieve.null_signals import (
    BankSample,
    NullReference,
    bank_statistics,
    unknown_share,
    z_of,
)
from retold.store import Store, Transaction
from retold.store.codec import to_us
from retold.store.meta import EmbeddingIdentity
from retold.store.overview import OverviewRepository

Numbers = npt.NDArray[np.float64]

LEAST_RECORDS: Final = 30
"""Records below which a scope says more about chance than about the embedder."""
MOST_SCOPES: Final = 20
MOST_COMPARED: Final = 300
"""Records of a scope that are compared with one another."""
ADMIT: Final = 0.15
ADMIT_AUTO: Final = 0.03
"""Within what the default thresholds let through on public sets: see docs/quality.md."""
Z_STEP: Final = 0.05
COSINE_STEP: Final = 0.01
_Z_SHOWN: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
_COSINES_SHOWN: Final = (0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution: mean, standard deviation, and the values below which 5, 50 and 95 % lie."""

    mean: float
    sd: float
    p05: float
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Admission:
    """The part of unrelated prompts that reach a threshold."""

    threshold: float
    admitted: float


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A threshold for searches that somebody asked for, and one for host-issued ones."""

    explicit: Admission
    auto: Admission


@dataclass(frozen=True, slots=True)
class Rates:
    """The part of unrelated prompts that may be let through, by who issued the search."""

    explicit: float = ADMIT
    auto: float = ADMIT_AUTO


@dataclass(frozen=True, slots=True)
class Calibration:
    """The measurement with the thresholds that follow from it.

    ``probes`` unrelated prompts were asked in each scope: the bank's own, each judged by the
    others, or those that were given (``own_probes``). ``unrelated`` are cosines of the nearest
    record to a prompt, ``nearest`` those of a record and the nearest other one, ``pairs`` those of
    any two records. ``z`` and ``cosine`` tell what each threshold lets through.
    """

    embedder: str
    version: str
    dims: int
    bank: str
    probes: int
    own_probes: bool
    scopes: int
    records: int
    unrelated: Spread
    nearest: Spread
    pairs: Spread
    z: tuple[Admission, ...]
    cosine: tuple[Admission, ...]
    null_z: Thresholds
    dense_floor: Thresholds


@dataclass(frozen=True, slots=True)
class _Probed:
    """What was measured in one scope."""

    records: int
    tops: Numbers
    z: Numbers
    cosines: Numbers


def calibrate(
    store: Store,
    embedder: Embedder,
    config: RetoldConfig,
    *,
    prompts: Sequence[str] = (),
    scopes: Sequence[Scope] = (),
    rates: Rates = Rates(),
) -> Calibration:
    """Measure the fullest scopes of a store, or those that are named.

    Each scope counts as what one caller may read. ``prompts`` are unrelated ones of the caller's
    own; without any the bank's are used. A scope with fewer than ``LEAST_RECORDS`` vectors is
    passed over. Raises InvalidInput for one that is named, and when no scope holds enough,
    EmbeddingProfileMismatch for vectors of another model and what the embedder raises.
    """
    reference = NullReference()
    reference.embed(embedder)
    texts = tuple(prompts) or bank_prompts()
    vectors = check_vectors(embedder.embed_queries(texts), len(texts), embedder.dims)
    identity = EmbeddingIdentity(embedder.name, embedder.version, embedder.dims)
    index = VectorIndex(identity)
    with store.read() as tx:
        _require_same(tx.meta.embedding_identity(), identity)
        index.refresh(tx, config.embedding.incremental_reload_max)
        probe = _Probe(tx, index, reference, vectors, texts if prompts else ())
        weight = resolve_levers(config.retrieval).gate.null_z.unk_weight
        measured = []
        for scope, eligible in _eligible_sets(tx, index, scopes).items():
            found = probe.measured(eligible, weight)
            if found is not None:
                measured.append(found)
            elif scopes:
                raise InvalidInput(
                    f"{scope} holds fewer than {LEAST_RECORDS} records with a vector; "
                    "embed its records first"
                )
    if not measured:
        raise InvalidInput(
            f"no scope holds {LEAST_RECORDS} records with a vector; embed the records first"
        )
    return _calibration(identity, measured, len(texts), own_probes=bool(prompts), rates=rates)


def least_threshold(values: Numbers, rate: float, step: float) -> Admission:
    """Return the lowest multiple of ``step`` that at most this part of the values reach."""
    steps = math.floor(float(np.min(values)) / step)
    while (found := admission(values, round(steps * step, 6))).admitted > rate:
        steps += 1
    return found


def admission(values: Numbers, threshold: float) -> Admission:
    """Return the part of the values that reach a threshold."""
    return Admission(threshold, round(float(np.mean(values >= threshold)), 4))


def spread_of(values: Numbers) -> Spread:
    """Return the distribution of at least one value."""
    p05, p50, p95 = np.percentile(values, (5, 50, 95))
    numbers = (np.mean(values), np.std(values), p05, p50, p95)
    return Spread(*(round(float(one), 4) for one in numbers))


def left_out_z(sample: BankSample, unk_weight: float) -> Numbers:
    """Return the Z of each prompt of a sample, judged by all the others."""
    places = np.arange(len(sample.tops))
    found = []
    for place in places:
        others = places != place
        rest = BankSample(
            sample.tops[others], sample.unks[others], sample.records, sample.own_spread
        )
        statistics = bank_statistics(rest, unk_weight)
        found.append(
            z_of(statistics, float(sample.tops[place]), float(sample.unks[place]), unk_weight)
        )
    return np.array([one for one in found if one is not None], dtype=np.float64)


class _Probe:
    """Asks unrelated prompts in one scope after the other, within one snapshot."""

    def __init__(
        self,
        tx: Transaction,
        index: VectorIndex,
        reference: NullReference,
        vectors: Vectors,
        own: Sequence[str],
    ) -> None:
        self._tx = tx
        self._index = index
        self._reference = reference
        self._vectors = vectors
        self._own = phrases_of_queries(own, tx.lexical.tokens)

    def measured(self, eligible: Eligible, unk_weight: float) -> _Probed | None:
        """Return what is found among some records; None when too few of them have a vector."""
        words = self._index.words(self._tx, eligible)
        sample = self._reference.sample(self._index, words, eligible, self._tx.lexical.tokens)
        compared = _compared(self._index, eligible)
        with_vector = int(np.count_nonzero(~np.isnan(compared).all(axis=1)))
        if sample is None or with_vector < LEAST_RECORDS:
            return None
        tops, z = sample.tops, left_out_z(sample, unk_weight)
        if self._own:
            best = [self._index.search_many([one], eligible, 1)[0][1] for one in self._vectors]
            tops = np.array(best, dtype=np.float64)
            statistics = bank_statistics(sample, unk_weight)
            unks = [unknown_share(words, phrases) for phrases in self._own]
            asked = zip(tops.tolist(), unks, strict=True)
            scores = [z_of(statistics, top, unk, unk_weight) for top, unk in asked]
            z = np.array([one for one in scores if one is not None], dtype=np.float64)
        return _Probed(eligible.count, tops, z, compared)


def _compared(index: VectorIndex, eligible: Eligible) -> Numbers:
    """Return the cosines of records spread evenly over the set, NaN on the diagonal."""
    seqs = eligible.seqs()
    step = max(1, math.ceil(len(seqs) / MOST_COMPARED))
    cosines = pairwise_cosines(index, [int(seq) for seq in seqs[::step]]).astype(np.float64)
    np.fill_diagonal(cosines, np.nan)
    return cosines


def _eligible_sets(
    tx: Transaction, index: VectorIndex, scopes: Sequence[Scope]
) -> dict[Scope, Eligible]:
    """Return what a reader of each scope may be shown, of those that hold enough.

    Raises InvalidInput for a named scope that does not, and when none does.
    """
    asked = scopes or [Scope.parse(one.scope) for one in OverviewRepository(tx).scopes(MOST_SCOPES)]
    codes, now_us = tx.scopes.codes(asked), to_us(tx.now)
    sets = {scope: index.eligible([code], now_us=now_us) for scope, code in codes.items()}
    chosen = {scope: one for scope, one in sets.items() if one.count >= LEAST_RECORDS}
    for scope in scopes:
        if scope not in chosen:
            held = sets[scope].count if scope in sets else 0
            raise InvalidInput(
                f"{scope} holds {held} of the {LEAST_RECORDS} records that measuring takes; "
                "name a fuller scope, or none"
            )
    if not chosen:
        raise InvalidInput(
            f"no scope holds {LEAST_RECORDS} records, too few to measure by; "
            "leave the thresholds as they are"
        )
    return chosen


def _calibration(
    identity: EmbeddingIdentity,
    measured: Sequence[_Probed],
    probes: int,
    *,
    own_probes: bool,
    rates: Rates,
) -> Calibration:
    tops = np.concatenate([one.tops for one in measured])
    z = np.concatenate([one.z for one in measured])
    pairs = np.concatenate([_known(one.cosines.ravel()) for one in measured])
    nearest = np.concatenate([_known(_row_maxima(one.cosines)) for one in measured])
    return Calibration(
        embedder=identity.model,
        version=identity.version,
        dims=identity.dims,
        bank=BANK_VERSION,
        probes=probes,
        own_probes=own_probes,
        scopes=len(measured),
        records=sum(one.records for one in measured),
        unrelated=spread_of(tops),
        nearest=spread_of(nearest),
        pairs=spread_of(pairs),
        z=_table(z, _Z_SHOWN),
        cosine=_table(tops, _COSINES_SHOWN),
        null_z=_thresholds(z, rates, Z_STEP),
        dense_floor=_thresholds(tops, rates, COSINE_STEP),
    )


def _thresholds(values: Numbers, rates: Rates, step: float) -> Thresholds:
    return Thresholds(
        least_threshold(values, rates.explicit, step), least_threshold(values, rates.auto, step)
    )


def _table(values: Numbers, thresholds: Iterable[float]) -> tuple[Admission, ...]:
    return tuple(admission(values, threshold) for threshold in thresholds)


def _row_maxima(cosines: Numbers) -> Numbers:
    filled = np.where(np.isnan(cosines), -np.inf, cosines).max(axis=1)
    return np.where(np.isneginf(filled), np.nan, filled)


def _known(values: Numbers) -> Numbers:
    return values[~np.isnan(values)]


def _require_same(stored: EmbeddingIdentity | None, identity: EmbeddingIdentity) -> None:
    if stored is not None and stored != identity:
        raise EmbeddingProfileMismatch(
            f"the store holds vectors of {stored}, the settings name {identity}; use the profile "
            "or the configuration that the store was made with"
        )
