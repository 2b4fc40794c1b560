"""Measure what each lever of a search costs, with it and without it in turns on one store.

All levers of the preset ``measured`` run but the one in question. Each query runs several times
both ways, in turns, and its quickest run counts, so that a slow moment of the machine meets both.
Figures are processor time of the stages that choose and order records; what is read, explained and
logged afterwards depends on which records came out. The bound is meant for the machine that the
design was measured on, so for each lever it moves with what multiplying vectors and a loop take
right before and after it was measured.

    python benchmarks/levers.py --check
    python benchmarks/levers.py --records 20000 --lever session recency
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from support.machine import machine_facts, machine_line
from support.progress import Progress
from support.synthetic import IMPORTER, NOW, USER, Corpus, Query, StoredVectors, caller, opened

from retold import Scope
from retold.config import parse_config
from retold.index.dots import row_dots
from retold.index.vector import VectorIndex
from retold.models import EntityMention, HostSource, SearchRequest, WriteRequest
from retold.retrieve import retriever
from retold.retrieve.null_bank import bank_prompts
from retold.retrieve.retriever import Retriever
from retold.store import Store
from retold.store.meta import EmbeddingIdentity
from retold.util import Timer

K: Final = 8
MOST_MS: Final = 0.1
CHECKED_RECORDS: Final = 5_000
"""No lever may cost more at this size, the embedding aside."""
PRODUCTS_MS: Final = 0.084
"""What the products of 5,000 vectors of 384 numbers took there (retrieval_quality.md 4)."""
LOOP_MS: Final = 0.015
"""What a loop of Python over 1,000 numbers takes on such a machine that does nothing else."""
RANKING: Final = "filter dense lexical entity fuse boost freshness gate dedup".split()
"""Stages of a search that a lever works in."""
TALK_RECORDS: Final = 20
PEOPLE: Final = 40
BATCH: Final = 256
TURNS: Final[dict[str, Any]] = {"context": "turns"}
LATE: Final[dict[str, Any]] = {"late_interaction": {"enabled": True}}
NOT_HELD: Final = frozenset({"late interaction"})
"""Levers that cost more and are off by themselves (docs/ranking.md); they are measured only."""


@dataclass(frozen=True, slots=True)
class Lever:
    """A lever: the settings that switch it off, those that both ways share, and what is asked.

    ``asked`` is appended to every query; {name} stands for somebody the store knows.
    """

    name: str
    off: dict[str, Any]
    shared: dict[str, Any] = field(default_factory=dict)
    asked: str = ""


LEVERS: Final = (
    Lever("convex fusion", {"fusion": {"kind": "rrf"}}),
    Lever("null gate", {"gate": {"kind": "floors"}}),
    Lever("date, none named", {"boosts": {"date_interval": 0.0}}),
    Lever("date, one named", {"boosts": {"date_interval": 0.0}}, asked="in March 2026"),
    Lever("session", {"boosts": {"session": 0.0}}),
    Lever("recency", {"freshness": {"kind": "off"}}),
    Lever("named entity", {"entities": {"tie_break": 0.0}}, asked="with {name}"),
    Lever("groups", {"duplicates": "collapse"}),
    Lever("neighbours", {"boosts": {"neighbour": 0.0}}, shared=TURNS),
    Lever("session text", {"boosts": {"session_text": 0.0}}, shared=TURNS),
    Lever("late interaction", {"late_interaction": {"enabled": False}}, shared=LATE),
)


def build(path: Path, corpus: Corpus, embedder: StoredVectors) -> None:
    """Write one owner's records: talks of twenty, events over 400 days, some about people."""
    random = np.random.default_rng(11)
    ages = np.sort(random.integers(0, 400, size=corpus.size))[::-1].tolist()
    requests = [
        WriteRequest(
            type="episodic" if at % 3 else "semantic",
            content=text,
            scope=Scope("user", USER),
            source_kind="system",
            mentions=(EntityMention("person", person(at), "about"),) if at % 2 else (),
            event_at=NOW - timedelta(days=ages[at]),
            host_source=HostSource("host", f"talk-{at // TALK_RECORDS}#{at}"),
            actor="benchmark",
        )
        for at, text in enumerate(corpus.texts)
    ]
    settings = {"embedding": {"subject_name": False}, "retrieval": LATE}
    with opened(path, embedder, **settings) as retold:
        retold.host.grant(caller().agent_id, Scope("user", USER), read=True, write=True)
        for start in range(0, len(requests), BATCH):
            retold.runtime.ingestor.write_corpus(IMPORTER, requests[start : start + BATCH])


def person(at: int) -> str:
    """Return the name of one of the people that records are about."""
    return f"Person {'abcdefghij'[at // 10 % 10]}{'klmnopqrst'[at % 10]}a"


class Bench:
    """One store, opened to read, with a retriever for every setting asked for."""

    def __init__(self, path: Path, embedder: StoredVectors) -> None:
        self._store = Store.open(path, read_only=True, clock=lambda: NOW)
        identity = EmbeddingIdentity(embedder.name, embedder.version, embedder.dims)
        self._index = VectorIndex(identity)
        self._embedder = embedder

    def retriever(self, *settings: dict[str, Any]) -> Retriever:
        """Return a retriever of the measured preset with differences; later ones win."""
        retrieval: dict[str, Any] = {"preset": "measured"}
        for one in settings:
            for name, value in one.items():
                nested = isinstance(value, dict)
                retrieval[name] = {**retrieval.get(name, {}), **value} if nested else value
        config = parse_config({"retrieval": retrieval}, profile="offline")
        return Retriever(self._store, self._index, self._embedder, config, clock=lambda: NOW)

    def close(self) -> None:
        """Close the store."""
        self._store.close()


def cost_of(
    lever: Lever, bench: Bench, queries: Sequence[Query], rounds: int
) -> tuple[float, float, float]:
    """Return milliseconds: with the lever, without it, and the median difference of a query."""
    ways = [bench.retriever(lever.shared), bench.retriever(lever.shared, lever.off)]
    quickest = np.full((len(queries), 2), np.inf)
    for turn in range(rounds + 1):
        for number, query in enumerate(queries):
            for way in (0, 1) if (turn + number) % 2 else (1, 0):
                request = SearchRequest((query.text,), K)
                stages = ways[way].search(caller(), request).timings_ms
                spent = sum(stages[name] for name in RANKING)
                if turn:  # the first turn reads what later ones remember
                    quickest[number, way] = min(quickest[number, way], spent)
    on, off = np.median(quickest, axis=0)
    return float(on), float(off), float(np.median(quickest[:, 0] - quickest[:, 1]))


def asked(lever: Lever, queries: Sequence[Query], embedder: StoredVectors) -> list[Query]:
    """Return the queries with what the lever reacts to, known to the embedder."""
    texts = [
        f"{query.text} {lever.asked.format(name=person(2 * at + 1))}".strip()
        for at, query in enumerate(queries)
    ]
    embedder.know(texts, [query.vector for query in queries])
    return [Query(text, query.vector) for text, query in zip(texts, queries, strict=True)]


def slowdown() -> float:
    """Return how many times longer numpy's and Python's work takes here and now, at least 1."""
    rows = np.random.default_rng(5).standard_normal((5_000, 384)).astype(np.float32)
    products = _median_ms(lambda: row_dots(rows, rows[0]))
    loops = _median_ms(lambda: [number for number in range(1_000)])
    return max(1.0, products / PRODUCTS_MS, loops / LOOP_MS)


def _median_ms(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(100):
        begun = time.thread_time()
        work()
        taken.append((time.thread_time() - begun) * 1000)
    return float(np.median(taken))


def main() -> int:
    """Build the store, measure the levers, print and judge."""
    options = _options()
    # A search times its stages by the wall clock, which other programs move.
    retriever.Timer = partial(Timer, time.thread_time)  # type: ignore[misc, assignment]
    corpus = Corpus(options.records, options.dims)
    embedder = StoredVectors(options.dims)
    embedder.know(corpus.texts, corpus.vectors)
    bank = np.random.default_rng(3).standard_normal((len(bank_prompts()), options.dims))
    bank /= np.linalg.norm(bank, axis=1, keepdims=True)
    embedder.know(bank_prompts(), bank.astype(np.float32))
    queries = corpus.queries(options.queries)
    chosen = [one for one in LEVERS if not options.lever or one.name in options.lever]
    figures: dict[str, dict[str, float]] = {}
    with TemporaryDirectory(prefix="retold-levers-") as folder:
        path = Path(folder) / "memory.sqlite"
        build(path, corpus, embedder)
        bench = Bench(path, embedder)
        progress = Progress()
        for lever in chosen:
            progress(f"measuring: {lever.name}")
            own = asked(lever, queries, embedder)
            before = slowdown()
            on, off, cost = cost_of(lever, bench, own, options.rounds)
            bound = MOST_MS * (before + slowdown()) / 2
            figures[lever.name] = {"on_ms": on, "off_ms": off, "cost_ms": cost, "bound_ms": bound}
        progress.done()
        bench.close()
    held = {name: one for name, one in figures.items() if name not in NOT_HELD}
    missed = [name for name, one in held.items() if one["cost_ms"] > one["bound_ms"]]
    if options.json:
        head = {"machine": machine_facts(), "records": options.records}
        print(json.dumps({**head, "missed": missed, "levers": figures}))
    else:
        print("\n".join(_lines(figures, missed, options.records)))
    return int(bool(options.check and options.records == CHECKED_RECORDS and missed))


def _lines(figures: dict[str, dict[str, float]], missed: Sequence[str], records: int) -> list[str]:
    rows = [
        f"  {name:18} {one['on_ms']:8.3f} {one['off_ms']:8.3f} {one['cost_ms']:+8.3f}"
        f" {one['bound_ms']:8.3f}{'  MISSED' if name in missed else ''}"
        for name, one in figures.items()
    ]
    columns = f"{'with':>8} {'without':>8} {'cost':>8} {'bound':>8}"
    head = f"  {'lever':18} {columns}   ms a search, median"
    asked = f"asked for: at most {MOST_MS:g} ms, the bound here and now"
    return [machine_line(), f"{records} records of one owner; {asked}", head, *rows]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", type=int, default=CHECKED_RECORDS, help="size of the store")
    parser.add_argument("--dims", type=int, default=256, help="width of the vectors")
    parser.add_argument("--queries", type=int, default=100, help="different questions")
    parser.add_argument("--rounds", type=int, default=12, help="runs of each question, each way")
    names = [one.name for one in LEVERS]
    parser.add_argument("--lever", nargs="*", choices=names, help="only these")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--check", action="store_true", help=f"fail above {MOST_MS} ms at {CHECKED_RECORDS} records"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
