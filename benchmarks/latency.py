"""Measure searches and writes of stores with made-up content, beside the literal method.

Searches run in pairs, one by the product and one by the method that the design document spells
out, in turns, so that a slow moment of the machine meets both; on every query the two must return
the same ids. Vectors are looked up, so no embedding is measured; the log row is. ``cpu`` is the
processor time of the searching thread, which other programs on the machine hardly change.

    python benchmarks/latency.py --records 1000 50000 --shape one shared --check
    python benchmarks/latency.py --records 50000 --embed-ms 25 --check
    python benchmarks/latency.py --records 50000 --writers 2 --check
    python benchmarks/latency.py --cold --check
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from literal_method import LiteralMethod
from support.cache import default_cache
from support.machine import machine_facts, machine_line
from support.progress import Progress
from support.synthetic import USER, Corpus, Query, StoredVectors, build, caller, opened
from support.timing import spread, stage_spreads

from retold import Overrides, Retold, Scope
from retold.config import parse_config
from retold.host import HostItem
from retold.index.embedder import embedder_from_config
from retold.models import SearchRequest, SearchResponse
from retold.operations.evaluation.vectors import CachedEmbedder

K = 8
CHECKED_DIMS = 384
TOTAL_MS = {
    ("one", 50_000): (12.0, 120.0),
    ("shared", 50_000): (3.0, 7.2),
    ("one", 1_000): (1.5, 1.46),
}
"""Where the product's median search must stay below, by shape and number of records.

The first number is the bound on the machine that the design was measured on, the second what its
literal method took there. Milliseconds differ between machines, so the bound moves with what the
literal method takes in the same run.
"""
RATIO = 8.0
"""How much faster than the literal method 50,000 records of one owner must be."""
WRITE_MS = 3.0
WITH_EMBEDDING_MS = 80.0
WRITERS_FACTOR = 2.0
WRITES_A_SECOND = 100
COLD_SECONDS = 1.5


@dataclass(slots=True)
class Outcome:
    """What was measured, what to print and which limits were missed."""

    figures: list[dict[str, Any]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def limit(self, what: str, value: float, bound: float, *, at_least: bool = False) -> None:
        """Note a limit and whether the value keeps it."""
        kept = value >= bound if at_least else value < bound
        sign = ">=" if at_least else "<"
        verdict = f"{what}: {value:.2f} {sign} {bound:g}"
        self.lines.append(f"  {'kept' if kept else 'MISSED'}  {verdict}")
        if not kept:
            self.missed.append(verdict)


@dataclass(frozen=True, slots=True)
class Bench:
    """An open store of a known shape and its questions."""

    shape: str
    records: int
    retold: Retold
    embedder: StoredVectors
    queries: list[Query]

    @property
    def title(self) -> str:
        """Return a heading."""
        return f"{self.records} records, {self.shape}, {self.embedder.dims} dims"

    def ask(self, query: Query) -> SearchResponse:
        """Search as the caller."""
        request = SearchRequest(queries=(query.text,), k=K)
        return self.retold.runtime.retriever.search(caller(), request)

    def warm_of(self, response: SearchResponse) -> int:
        """Return the ``warm`` column of a search's log row."""
        with self.retold.store.read() as tx:
            row = tx.search_log.get(response.search_id)
        if row is None:
            raise RuntimeError("the search was not logged")
        return int(row["warm"])


def measure_pairs(bench: Bench, literal: LiteralMethod, outcome: Outcome) -> None:
    """Run every query both ways in turns; equal ids are required, not measured."""
    calls: list[dict[str, float]] = []
    cpu: list[float] = []
    theirs: list[dict[str, float]] = []
    found = 0
    for number, query in enumerate(bench.queries):
        ids: dict[str, list[str]] = {}
        for who in ("product", "literal") if number % 2 else ("literal", "product"):
            if who == "product":
                begun = time.thread_time()
                response = bench.ask(query)
                cpu.append((time.thread_time() - begun) * 1000)
                _require_full(response)
                calls.append(dict(response.timings_ms))
                ids[who] = [result.record.id for result in response.results]
            else:
                started = time.perf_counter()
                ids[who] = literal.search(caller(), query.text, query.vector, K)
                total = (time.perf_counter() - started) * 1000 - literal.uncharged_ms
                theirs.append({**literal.stages, "total": total})
        if ids["product"] != ids["literal"]:
            raise AssertionError(f"the two methods disagree on query {number} of {bench.title}")
        found += len(ids["product"])
    ratios = [b["total"] / a["total"] for a, b in zip(calls, theirs, strict=True)]
    figures = {
        "shape": bench.shape,
        "records": bench.records,
        "dims": bench.embedder.dims,
        "queries": len(calls),
        "results_per_query": round(found / len(calls), 2),
        "product_ms": stage_spreads(calls),
        "product_cpu_ms": spread(cpu),
        "literal_ms": stage_spreads(theirs),
        "ratio": round(median(ratios), 2),
    }
    outcome.figures.append({"search": figures})
    outcome.lines += _pair_lines(bench.title, figures)
    if bench.embedder.dims == CHECKED_DIMS:
        total = figures["product_ms"]["total"]["p50"]  # type: ignore[index]
        bound = TOTAL_MS.get((bench.shape, bench.records))
        if bound is not None:
            asked, reference = bound
            literal_ms = figures["literal_ms"]["total"]["p50"]  # type: ignore[index]
            outcome.lines.append(
                f"  asked for: {asked:g} ms where the literal method takes {reference:g} ms; "
                f"here it takes {literal_ms:.2f} ms"
            )
            outcome.limit("search p50 ms", total, asked * literal_ms / reference)
        if (bench.shape, bench.records) == ("one", 50_000):
            outcome.limit("times faster than literal", median(ratios), RATIO, at_least=True)


def measure_with_embedding(bench: Bench, sleep_ms: float, outcome: Outcome) -> None:
    """Search with a model's forward pass replaced by a sleep; the first call is the cold one."""
    first = bench.ask(bench.queries[0])
    second = bench.ask(bench.queries[1])
    warm = [bench.warm_of(first), bench.warm_of(second)]
    calls = [dict(bench.ask(query).timings_ms) for query in bench.queries]
    stages = stage_spreads(calls)
    figures = {
        "shape": bench.shape,
        "records": bench.records,
        "sleep_ms": sleep_ms,
        "warm": warm,
        "first_ms": round(first.timings_ms["total"], 1),
        "product_ms": stages,
    }
    outcome.figures.append({"with_embedding": figures})
    outcome.lines += [
        f"{bench.title}, {sleep_ms:g} ms for the embedding: first call {figures['first_ms']} ms, "
        f"then p50 {stages['total']['p50']} p95 {stages['total']['p95']} ms; warm {warm}"
    ]
    if warm != [0, 1]:
        outcome.missed.append(f"warm is {warm}, not 0 and then 1")
    outcome.limit("search with embedding p50 ms", stages["total"]["p50"], WITH_EMBEDDING_MS)


def measure_writes(bench: Bench, count: int, outcome: Outcome) -> None:
    """Time explicit writes with their quotes, a new conversation every 25."""
    calls: list[dict[str, float]] = []
    wall: list[float] = []
    claims = Corpus(1_000, bench.embedder.dims, seed=23).claims(count)
    bench.embedder.know([claim.text for claim in claims], [claim.vector for claim in claims])
    for number, claim in enumerate(claims):
        if number % 25 == 0:
            session = bench.retold.session(USER, session_id=f"writes-{number}")
        started = time.perf_counter()
        result = session.remember(claim.text, evidence=claim.text)
        wall.append((time.perf_counter() - started) * 1000)
        calls.append(dict(result.timings_ms))
    figures = {
        "records": bench.records,
        "writes": count,
        "remember_ms": spread(wall),
        "stages_ms": stage_spreads(calls),
    }
    outcome.figures.append({"write": figures})
    stages = ", ".join(f"{name} {value['p50']:.2f}" for name, value in stage_spreads(calls).items())
    outcome.lines += [
        f"writes into {bench.title}: p50 {spread(wall)['p50']} p95 {spread(wall)['p95']} ms",
        f"  of which {stages}",
    ]
    outcome.limit("write p50 ms", spread(wall)["p50"], WRITE_MS)


def measure_beside_writers(bench: Bench, writers: int, seconds: float, outcome: Outcome) -> None:
    """Compare searches while other processes write with searches while nobody does."""
    alone = _search_for(bench, seconds)
    with _writing(bench, writers) as processes:
        together = _search_for(bench, seconds)
        written = _stop(processes)
    figures = {
        "shape": bench.shape,
        "records": bench.records,
        "writers": writers,
        "transactions_a_second": round(sum(one["rate"] for one in written), 1),
        "commit_ms": median(one["commit_ms"] for one in written),
        "searches": [len(alone), len(together)],
        "alone_ms": spread(alone),
        "together_ms": spread(together),
    }
    outcome.figures.append({"writers": figures})
    outcome.lines += [
        f"{bench.title} beside {writers} writers, "
        f"{figures['transactions_a_second']} transactions a second together, "
        f"each with a COMMIT of {figures['commit_ms']:.2f} ms (p50, the disk included):",
        f"  searches alone p50 {spread(alone)['p50']} p95 {spread(alone)['p95']} ms, "
        f"with writers p50 {spread(together)['p50']} p95 {spread(together)['p95']} ms",
    ]
    factor = spread(together)["p95"] / spread(alone)["p95"]
    outcome.limit("p95 with writers / p95 alone", factor, WRITERS_FACTOR)


def measure_cold(records: int, runs: int, cache: Path, outcome: Outcome) -> None:
    """Time `retold search` in fresh processes on a store of the packaged embedder."""
    config = parse_config({}, profile="offline")
    embedder = CachedEmbedder(embedder_from_config(config.embedding), cache)
    corpus = Corpus(records, 8)
    with TemporaryDirectory(prefix="retold-benchmark-") as folder:
        path = Path(folder) / "memory.sqlite"
        overrides = Overrides(embedder=embedder)
        with Retold.open(path, profile="offline", overrides=overrides) as retold:
            retold.host.grant(caller().agent_id, Scope("user", USER), read=True, write=True)
            items = [HostItem(text) for text in corpus.texts]
            list(retold.host.write_many(Scope("user", USER), items, dedup=False))
        command = [sys.executable, "-m", "retold", "search", "--store", str(path)]
        command += ["--agent", caller().agent_id, "--user", USER]
        wall = []
        for query in corpus.queries(runs):
            started = time.perf_counter()
            subprocess.run([*command, query.text], check=True, capture_output=True, cwd=folder)
            wall.append(time.perf_counter() - started)
    outcome.figures.append({"cold": {"records": records, "seconds": [round(w, 3) for w in wall]}})
    outcome.lines.append(
        f"`retold search` in a new process on {records} records: "
        f"median {median(wall):.2f} s, fastest {min(wall):.2f} s"
    )
    outcome.limit("cold search s", median(wall), COLD_SECONDS)


def write_until_told(path: Path, dims: int, rate: float, seed: int) -> None:
    """Be a writer: one transaction after the other at a rate, until standard input ends."""
    import threading

    stop = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        stop.set()

    random = np.random.default_rng(seed)
    embedder = StoredVectors(dims)
    with opened(path, embedder) as retold:
        retold.runtime.retriever.flush_log()
        print("ready", flush=True)
        threading.Thread(target=wait_for_end, daemon=True).start()
        started = time.perf_counter()
        commits: list[float] = []
        while not stop.is_set():
            text = f"writer {seed} notes thing {len(commits)}"
            vector = random.standard_normal(dims).astype(np.float32)
            embedder.know([text], [vector / np.linalg.norm(vector)])
            result = retold.host.write(Scope("user", USER), text)
            commits.append(result.timings_ms["transaction"])
            stop.wait(max(0.0, started + len(commits) / rate - time.perf_counter()))
        spent = time.perf_counter() - started
    print(json.dumps({"rate": len(commits) / spent, "commit_ms": spread(commits)["p50"]}))


@contextmanager
def _writing(bench: Bench, writers: int) -> Iterator[list[subprocess.Popen[str]]]:
    rate = str(WRITES_A_SECOND / writers)
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, __file__, "--write-to", str(bench.retold.store.path)),
                *("--dims", str(bench.embedder.dims), "--rate", rate, "--seed", str(seed)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(1, writers + 1)
    ]
    try:
        for process in processes:
            if process.stdout is None or process.stdout.readline().strip() != "ready":
                raise RuntimeError("a writer did not start")
        yield processes
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()


def _stop(processes: Sequence[subprocess.Popen[str]]) -> list[dict[str, float]]:
    answers = [process.communicate(timeout=60)[0] for process in processes]
    return [json.loads(answer) for answer in answers]


def _search_for(bench: Bench, seconds: float) -> list[float]:
    end = time.perf_counter() + seconds
    wall: list[float] = []
    while time.perf_counter() < end or len(wall) < 20:
        query = bench.queries[len(wall) % len(bench.queries)]
        started = time.perf_counter()
        bench.ask(query)
        wall.append((time.perf_counter() - started) * 1000)
    return wall


def _require_full(response: SearchResponse) -> None:
    if response.degraded or response.log != "written":
        raise RuntimeError(f"not a full search: {response.degraded}, log {response.log}")


def _pair_lines(title: str, figures: dict[str, Any]) -> list[str]:
    ours, theirs = figures["product_ms"], figures["literal_ms"]
    lines = [
        f"{title}: {figures['queries']} queries, {figures['results_per_query']} results each, "
        "the same ids from both",
        f"  {'product':14}{'p50 ms':>9}{'p95 ms':>9}      {'literal':14}{'p50 ms':>9}{'p95 ms':>9}",
    ]
    left = list(ours.items())
    right = list(theirs.items())
    for at in range(max(len(left), len(right))):
        line = "  "
        for column in (left, right):
            name, value = column[at] if at < len(column) else ("", None)
            cells = "" if value is None else f"{value['p50']:>9.3f}{value['p95']:>9.3f}"
            line += f"{name:14}{cells:18}      "
        lines.append(line.rstrip())
    cpu = figures["product_cpu_ms"]
    lines.append(f"  {'cpu':14}{cpu['p50']:>9.3f}{cpu['p95']:>9.3f}")
    lines.append(f"  {figures['ratio']} times faster (median of the pairs)")
    return lines


def run_store(shape: str, records: int, options: argparse.Namespace, outcome: Outcome) -> None:
    """Measure one store, built anew or taken from ``--stores``."""
    progress = Progress()
    progress(f"making {records} sentences and vectors")
    corpus = Corpus(records, options.dims)
    queries = corpus.queries(options.queries)
    with TemporaryDirectory(prefix="retold-benchmark-") as folder:
        path = Path(folder) / "memory.sqlite"
        kept = None
        if options.stores is not None:
            options.stores.mkdir(parents=True, exist_ok=True)
            kept = options.stores / f"{shape}-{records}-{options.dims}-{_fingerprint()}.sqlite"
        if kept is None or not kept.is_file():
            progress(f"writing {records} records, {shape}")
            builder = StoredVectors(options.dims)
            builder.know(corpus.texts, corpus.vectors)
            build(path, corpus, shape, builder)  # type: ignore[arg-type]  # argparse checked it
            if kept is not None:
                shutil.copyfile(path, kept)
        else:
            shutil.copyfile(kept, path)
        progress.done()
        embedder = StoredVectors(options.dims, sleep_seconds=options.embed_ms / 1000)
        embedder.know([query.text for query in queries], [query.vector for query in queries])
        # The literal method is one of the design's pipeline.
        with opened(path, embedder, retrieval={"preset": "design"}) as retold:
            bench = Bench(shape, records, retold, embedder, queries)
            _measure(bench, Path(folder), options, outcome)


def _fingerprint() -> str:
    """Return what tells a kept store of another schema or corpus apart."""
    schema = files("retold.store").joinpath("schema.sql").read_bytes()
    corpus = Path(__file__).parent.joinpath("support", "synthetic.py").read_bytes()
    return hashlib.sha256(schema + corpus).hexdigest()[:8]


def _measure(bench: Bench, folder: Path, options: argparse.Namespace, outcome: Outcome) -> None:
    if options.embed_ms:
        measure_with_embedding(bench, options.embed_ms, outcome)
        return
    for query in bench.queries[:5]:
        bench.ask(query)
    if options.writers:
        measure_beside_writers(bench, options.writers, options.seconds, outcome)
        return
    store, config = bench.retold.store, bench.retold.runtime.config
    literal = LiteralMethod(store, folder / "literal.sqlite", config)
    try:
        literal.search(caller(), bench.queries[0].text, bench.queries[0].vector, K)
        measure_pairs(bench, literal, outcome)
    finally:
        literal.close()
    if options.writes and bench.shape == "one":
        measure_writes(bench, options.writes, outcome)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 50_000])
    parser.add_argument("--shape", nargs="+", choices=("one", "shared"), default=["one", "shared"])
    parser.add_argument("--dims", type=int, default=CHECKED_DIMS, help="width of vectors (384)")
    parser.add_argument("--queries", type=int, default=60, help="questions of each store (60)")
    parser.add_argument("--writes", type=int, default=200, help="explicit writes, 0 for none (200)")
    parser.add_argument("--embed-ms", type=float, default=0.0, help="sleep for a model's pass")
    parser.add_argument("--writers", type=int, default=0, help="processes that write meanwhile")
    parser.add_argument("--seconds", type=float, default=6.0, help="searching with --writers (6)")
    parser.add_argument("--cold", action="store_true", help="time `retold search` instead")
    parser.add_argument("--stores", type=Path, help="folder that keeps the stores for another run")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="vectors, for --cold")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="fail where a limit is missed")
    parser.add_argument("--write-to", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rate", type=float, default=50.0, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and answer 1 when `--check` was asked for and a limit was missed."""
    options = parse_arguments(argv)
    if options.write_to is not None:
        write_until_told(options.write_to, options.dims, options.rate, options.seed)
        return 0
    outcome = Outcome()
    if options.cold:
        measure_cold(options.records[0], 5, options.cache, outcome)
    else:
        for records in options.records:
            for shape in options.shape:
                run_store(shape, records, options, outcome)
    if options.json:
        document = {"machine": machine_facts(), "figures": outcome.figures}
        print(json.dumps({**document, "missed": outcome.missed}))
    else:
        print(machine_line(), *outcome.lines, sep="\n")
    return 1 if options.check and outcome.missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
