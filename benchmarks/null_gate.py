"""Measure the gate on small stores, and fit what it believes of them.

Records are drawn from each store of the data, so many at a time and so often. A question counts
when a record that answers it was drawn, and it should then not come back empty; the prompts that
no memory helps should. Signals are those of the library, over exact cosines and the indexed words;
every record is embedded once.

``--fit`` tries the constants of ``SmallStores`` on a grid. It keeps those whose worst figure, as a
part of what is allowed, is lowest on all stores but one, and prints their figures on that one: what
is printed was never fitted on the store that it is printed for. ``--check`` fails when a figure of
the library's own constants, taken over the stores of a file, is above what is allowed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from support.cache import default_cache
from support.machine import machine_line

from retold.config import NullZConfig, profile_config
from retold.index.embedder import embedder_from_config
from retold.operations.evaluation.cases import Case, find_prompts, read_cases, read_prompts
from retold.operations.evaluation.vectors import CachedEmbedder
from retold.protocols import Embedder, Vectors
from retold.retrieve.null_bank import Phrases, bank_prompts, phrases_of_queries
from retold.retrieve.null_signals import (
    SMALL_STORES,
    BankSample,
    SmallStores,
    bank_statistics,
    between_prompts,
)
from retold.store.tokenizer import tokens
from retold.text import prepare_fts
from retold.text.token_text import fields_text, token_text

Numbers = npt.NDArray[np.float64]

SIZES: Final = (1, 3, 10, 30)
EMPTY_ALLOWED: Final = 0.15
ADMITTED_ALLOWED: Final = 0.20
GRID: Final = tuple(
    SmallStores(*constants)
    for constants in product((1.0, 3.0, 10.0), (3.0, 10.0, 30.0), (0.0, 0.1, 0.2, 0.3, 0.4))
)


class Asked:
    """Some texts beside one store: every cosine, and which of their terms every record holds."""

    def __init__(self, queries: Vectors, phrases: Sequence[Phrases], store: Store) -> None:
        self._cosines = (queries @ store.vectors.T).astype(np.float64)
        terms = list(dict.fromkeys(phrase for of_query in phrases for phrase in of_query))
        number = {phrase: at for at, phrase in enumerate(terms)}
        self._held = np.array(
            [[needle in words for words in store.words] for needle in map(token_text, terms)],
            dtype=np.bool_,
        ).reshape(len(terms), len(store.words))
        self._terms = [[number[phrase] for phrase in of_query] for of_query in phrases]

    def signals(self, rows: Sequence[int]) -> tuple[Numbers, Numbers]:
        """Return top cosine and unk of each text over some records."""
        known = self._held[:, rows].any(axis=1)
        unks = [
            1.0 - float(known[of_query].mean()) if of_query else 0.0 for of_query in self._terms
        ]
        tops: Numbers = self._cosines[:, rows].max(axis=1)
        return tops, np.array(unks)


class Store:
    """The records of one case, what is asked about them and which of them answer."""

    def __init__(self, case: Case, prompts: Sequence[str], embedder: Embedder) -> None:
        self.id = case.id
        self.vectors = embedder.embed_documents([item.text for item in case.items])
        self.words = [fields_text([tokens(prepare_fts(item.text))]) for item in case.items]
        place = {item.id: at for at, item in enumerate(case.items)}
        needed = [one for one in case.needed if not one.by_session]
        self.gold = [{place[one] for one in question.gold if one in place} for question in needed]
        self.questions = self._asked([question.text for question in needed], embedder)
        self.prompts = self._asked(prompts, embedder)
        self.bank = self._asked(bank_prompts(), embedder)

    def _asked(self, texts: Sequence[str], embedder: Embedder) -> Asked:
        return Asked(embedder.embed_queries(texts), phrases_of_queries(texts, tokens), self)


@dataclass(frozen=True, slots=True)
class Draw:
    """Some records of one store: what the bank finds, and the signals of those who ask."""

    sample: BankSample
    needed: tuple[Numbers, Numbers]
    prompts: tuple[Numbers, Numbers]


@dataclass(frozen=True, slots=True)
class Figures:
    """How many were judged wrongly, out of how many."""

    empty: int = 0
    needed: int = 0
    admitted: int = 0
    prompts: int = 0

    def __add__(self, other: Figures) -> Figures:
        return Figures(
            self.empty + other.empty,
            self.needed + other.needed,
            self.admitted + other.admitted,
            self.prompts + other.prompts,
        )

    @property
    def rates(self) -> tuple[float, float]:
        """Return the share of needed questions that are empty and of prompts let in."""
        return self.empty / max(self.needed, 1), self.admitted / max(self.prompts, 1)

    @property
    def strain(self) -> float:
        """Return the worse of both rates as a part of what is allowed."""
        empty, admitted = self.rates
        return max(empty / EMPTY_ALLOWED, admitted / ADMITTED_ALLOWED)


def draws_of(store: Store, size: int, count: int, own_spread: float) -> Iterator[Draw]:
    """Yield so many draws; the same ones whenever they are asked for."""
    random = np.random.default_rng([size, *store.id.encode()])
    for _ in range(count):
        total = len(store.words)
        rows = np.sort(random.choice(total, min(size, total), replace=False)).tolist()
        there = set(rows)
        answerable = [at for at, gold in enumerate(store.gold) if gold & there]
        tops, unks = store.questions.signals(rows)
        sample = BankSample(*store.bank.signals(rows), len(rows), own_spread)
        yield Draw(sample, (tops[answerable], unks[answerable]), store.prompts.signals(rows))


def judged(draws: Iterable[Draw], small: SmallStores, cfg: NullZConfig) -> Figures:
    """Return how searches that were asked for fare with these constants."""
    total = Figures()
    for draw in draws:
        found = bank_statistics(draw.sample, cfg.unk_weight, small)
        if found is None:
            continue
        bound = cfg.explicit * found.sd + found.mean
        weight = cfg.unk_weight * found.spread
        (needed, needed_unks), (prompts, prompt_unks) = draw.needed, draw.prompts
        total += Figures(
            int(np.count_nonzero(needed - weight * needed_unks < bound)),
            len(needed),
            int(np.count_nonzero(prompts - weight * prompt_unks >= bound)),
            len(prompts),
        )
    return total


Drawn = Mapping[str, Mapping[int, Mapping[str, Sequence[Draw]]]]
"""Draws by file, size and store."""
Results = Mapping[str, Mapping[int, Mapping[str, Figures]]]
"""Figures of one set of constants by file, size and store."""


def results(drawn: Drawn, small: SmallStores, cfg: NullZConfig) -> Results:
    """Judge every draw with one set of constants."""
    return {
        name: {
            size: {store: judged(draws, small, cfg) for store, draws in by_store.items()}
            for size, by_store in by_size.items()
        }
        for name, by_size in drawn.items()
    }


def worst(found: Results, without: str | None) -> float:
    """Return the worst strain over files and sizes, one store left out."""
    return max(
        sum((one for name, one in by_store.items() if name != without), Figures()).strain
        for by_size in found.values()
        for by_store in by_size.values()
    )


def fitted(tried: Mapping[SmallStores, Results], without: str | None = None) -> SmallStores:
    """Return the constants with the lowest worst strain to two decimals.

    Of equal ones the mildest: the least lenient, then those that fade soonest.
    """
    return min(
        tried,
        key=lambda small: (
            round(worst(tried[small], without), 2),
            small.leniency,
            small.lenient_records,
            -small.prior_records,
        ),
    )


def left_out(tried: Mapping[SmallStores, Results]) -> dict[str, dict[int, Figures]]:
    """Return figures by file and size, each store judged by constants fitted on the others."""
    any_results = next(iter(tried.values()))
    chosen = {
        store: fitted(tried, store)
        for by_size in any_results.values()
        for by_store in by_size.values()
        for store in by_store
    }
    return {
        name: {
            size: sum((tried[chosen[store]][name][size][store] for store in by_store), Figures())
            for size, by_store in by_size.items()
        }
        for name, by_size in any_results.items()
    }


def pooled(found: Results) -> dict[str, dict[int, Figures]]:
    """Return figures by file and size, over all stores of the file."""
    return {
        name: {size: sum(by_store.values(), Figures()) for size, by_store in by_size.items()}
        for name, by_size in found.items()
    }


def table(figures: Mapping[str, Mapping[int, Figures]]) -> Iterator[str]:
    """Yield one line per file and size."""
    for name, by_size in figures.items():
        for size, one in by_size.items():
            empty, admitted = one.rates
            yield (
                f"{name:24} {size:4} records: {one.needed:6} needed, {empty:.3f} empty; "
                f"{one.prompts:6} prompts, {admitted:.3f} let in"
            )


def plain(figures: Mapping[str, Mapping[int, Figures]]) -> dict[str, Any]:
    """Return figures as JSON values."""
    return {
        name: {
            str(size): dict(zip(("needed_empty", "no_memory_admitted"), one.rates, strict=True))
            for size, one in by_size.items()
        }
        for name, by_size in figures.items()
    }


def read_draws(options: argparse.Namespace, embedder: CachedEmbedder) -> Drawn:
    """Embed everything once and draw."""
    own_spread = between_prompts(embedder.embed_queries(bank_prompts())).spread
    drawn: dict[str, dict[int, dict[str, list[Draw]]]] = {}
    for path in options.data:
        found = options.no_memory or find_prompts(path)
        if found is None:
            sys.exit(f"no file of prompts beside {path.name}; name one with --no-memory")
        stores = [Store(case, read_prompts(found), embedder) for case in read_cases(path)]
        drawn[path.stem] = {
            size: {
                store.id: list(draws_of(store, size, options.draws, own_spread)) for store in stores
            }
            for size in options.sizes
        }
    return drawn


def main() -> None:
    """Print the figures of the library's constants and, with ``--fit``, of fitted ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="files of cases")
    parser.add_argument("--no-memory", type=Path, help="file of prompts that no memory helps")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--draws", type=int, default=50, help="draws of each size from each store")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="folder of vectors")
    parser.add_argument("--fit", action="store_true", help="fit the constants, one store left out")
    parser.add_argument("--check", action="store_true", help="fail when a figure is too high")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    config = profile_config("offline")
    cfg = config.retrieval.gate.null_z
    embedder = CachedEmbedder(embedder_from_config(config.embedding), options.cache)
    drawn = read_draws(options, embedder)
    figures = pooled(results(drawn, SMALL_STORES, cfg))
    report: dict[str, Any] = {"figures": plain(figures)}
    lines = [machine_line(), str(SMALL_STORES), *table(figures)]
    if options.fit:
        tried = {small: results(drawn, small, cfg) for small in GRID}
        chosen, apart = fitted(tried), left_out(tried)
        report |= {"fitted": str(chosen), "left_out": plain(apart)}
        lines += [f"fitted on all stores: {chosen}", "each store left out:", *table(apart)]
    print(json.dumps(report) if options.json else "\n".join(lines))
    over = [one for by_size in figures.values() for one in by_size.values() if one.strain > 1.0]
    if options.check and over:
        sys.exit(
            f"{len(over)} figures are above {EMPTY_ALLOWED} empty or {ADMITTED_ALLOWED} let in"
        )


if __name__ == "__main__":
    main()
