"""Measure what searching finds in public conversations, stage by stage.

Every case gets a store of its own. Items are written in order through ``MemoryHost.write_many``
without comparing them; a question is asked when exactly its visible items are stored, the clock at
its time. The rankings are read from the row that each search logs, decided by the library's own
functions: the lexical and the dense list alone, the fused pool, the pool after freshness, and what
is left of it after the gate. Where gold names sessions, a ranking is that of the sessions of its
items, each at its first place.

A pool holds at most the longest list of each generator, so recall beyond that needs a larger
``--per-generator-k`` than the product's own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from support.cache import default_cache
from support.machine import machine_line
from support.progress import Progress
from support.ranking import summarise, table_lines

from retold import Overrides, Principal, Retold
from retold.config import RetoldConfig, parse_config, resolve_levers
from retold.config.retrieval import Preset
from retold.host import HostItem
from retold.index.embedder import embedder_from_config
from retold.models import Candidate, MemoryType, SearchRequest, Trigger
from retold.operations.evaluation.cases import Case, Question, read_cases
from retold.operations.evaluation.evaluate import EVERYTHING
from retold.operations.evaluation.metrics import measure
from retold.operations.evaluation.vectors import CachedEmbedder
from retold.retrieve.replay import logged_candidates, replay_gate

STAGES = ("lexical", "dense", "fused", "freshness", "gate")
Rankings = dict[str, list[str]]
"""The ranked record ids of one search, by stage."""


class MovedClock:
    """A clock that stands where the data says."""

    def __init__(self) -> None:
        self.now: datetime | None = None

    def __call__(self) -> datetime:
        """Return the moment the data has reached."""
        if self.now is None:
            return datetime.now().astimezone()
        return self.now


class LoadedCase:
    """One case's store, filled as far as the questions have got."""

    def __init__(
        self, case: Case, config: RetoldConfig, embedder: CachedEmbedder, folder: Path
    ) -> None:
        self._case = case
        self._clock = MovedClock()
        self._principal = Principal("benchmark", "case", "questions")
        self._session_of = {item.id: item.session for item in case.items}
        self._item_of: dict[str, str] = {}
        self._written = 0
        self._retold = Retold.open(
            folder / "case.sqlite",
            config=config,
            overrides=Overrides(embedder=embedder, clock=self._clock),
        )

    def close(self) -> None:
        """Close the store."""
        self._retold.close()

    def ask(self, question: Question, trigger: Trigger) -> Rankings:
        """Return the ranking of every stage, as item ids or session ids."""
        self._write_up_to(question.visible)
        self._clock.now = question.at
        retriever = self._retold.runtime.retriever
        request = SearchRequest(queries=(question.text,), k=8, trigger=trigger)
        response = retriever.search(self._principal, request)
        if response.degraded:
            raise RuntimeError(f"a channel did not run: {response.degraded}")
        retriever.flush_log()
        with self._retold.store.read() as tx:
            row = tx.search_log.get(response.search_id)
        if row is None:
            raise RuntimeError("the search was not logged")
        pool, kept = logged_candidates(row), replay_gate(row).kept
        stages: dict[str, Iterable[Candidate]] = {
            "lexical": _by_rank(pool, "lexical"),
            "dense": _by_rank(pool, "dense"),
            "fused": sorted(pool, key=lambda one: one.fused_rank),
            "freshness": pool,
            "gate": kept,
        }
        return {name: self._named(question, ranking) for name, ranking in stages.items()}

    def _write_up_to(self, visible: int) -> None:
        # A store refuses blank content; blank turns still count towards what is visible.
        items = [one for one in self._case.items[self._written : visible] if one.text.strip()]
        self._written = max(visible, self._written)
        if not items:
            return
        kind: MemoryType = "semantic" if self._case.is_facts else "episodic"
        self._clock.now = max(item.at for item in self._case.items[:visible])
        results = self._retold.host.write_many(
            self._principal.private_scope,
            [HostItem(one.text, kind, source=one.id, event_at=one.at) for one in items],
            dedup=False,
        )
        for item, result in zip(items, results, strict=True):
            self._item_of[result.record_id] = item.id

    def _named(self, question: Question, ranking: Iterable[Candidate]) -> list[str]:
        items = [self._item_of[one.record_id] for one in ranking]
        if not question.by_session:
            return items
        return list(dict.fromkeys(self._session_of[item] for item in items))


def _by_rank(pool: Sequence[Candidate], channel: str) -> list[Candidate]:
    ranked = [(hit.rank, one) for one in pool if (hit := getattr(one, channel)) is not None]
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def run_case(
    case: Case,
    config: RetoldConfig,
    embedder: CachedEmbedder,
    trigger: Trigger,
    progress: Progress,
) -> list[tuple[Question, Rankings]]:
    """Ask a case's questions in the order in which their items exist."""
    asked = [question for question in case.questions if question.gold]
    answered = []
    with TemporaryDirectory(prefix="retold-benchmark-") as folder:
        loaded = LoadedCase(case, config, embedder, Path(folder))
        try:
            for question in sorted(asked, key=lambda one: one.visible):
                answered.append((question, loaded.ask(question, trigger)))
                progress(f"{case.id}: {len(answered)}/{len(asked)} questions")
        finally:
            loaded.close()
    return answered


def report(answered: Sequence[tuple[Question, Rankings]]) -> dict[str, dict[str, dict[str, float]]]:
    """Return ``{stage: {category: summary}}``; the category ``all`` comes first."""
    rows: dict[str, defaultdict[str, list[tuple[float, ...]]]] = {
        stage: defaultdict(list) for stage in STAGES
    }
    for question, rankings in answered:
        for stage in STAGES:
            values = measure(rankings[stage], question.gold)
            rows[stage]["all"].append(values)
            rows[stage][question.category].append(values)
    return {
        stage: {category: summarise(values) for category, values in by_category.items()}
        for stage, by_category in rows.items()
    }


def flat(summaries: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return one stage's summaries as ``metric`` and ``category metric`` keys."""
    return {
        name if category == "all" else f"{category} {name}": value
        for category, summary in summaries.items()
        for name, value in summary.items()
    }


def human_lines(results: dict[str, dict[str, dict[str, float]]]) -> Iterable[str]:
    """Yield one table a category, with the stages as its rows."""
    for category in results[STAGES[0]]:
        rows = {stage: results[stage][category] for stage in STAGES}
        yield ""
        yield from table_lines(f"{category} ({rows[STAGES[0]]['questions']:.0f})", rows)


def limited(cases: Sequence[Case], limit: int | None) -> list[Case]:
    """Return the cases with at most ``limit`` questions each, and no item nobody asks about."""
    if limit is None:
        return list(cases)
    shorter = []
    for case in cases:
        questions = sorted((one for one in case.questions if one.gold), key=lambda q: q.visible)
        chosen = tuple(questions[:limit])
        seen = max((question.visible for question in chosen), default=0)
        shorter.append(Case(case.id, case.items[:seen], chosen, case.is_facts))
    return shorter


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="a file of cases, one a line")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--limit", type=int, help="questions asked of each case (all)")
    parser.add_argument("--preset", choices=get_args(Preset), default="design", help="(design)")
    parser.add_argument(
        "--per-generator-k", type=int, help="longest list of a generator (30, measured: 100)"
    )
    parser.add_argument("--trigger", choices=("tool", "auto"), default="tool")
    parser.add_argument(
        "--cache", type=Path, default=default_cache(), help="folder that keeps vectors"
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure one file; return 0 also when it is absent, which is said on standard error."""
    options = parse_arguments(argv)
    if not options.data.is_file():
        print(f"skipped: {options.data.name} is absent; give its path", file=sys.stderr)
        return 0
    longest = options.per_generator_k
    retrieval = {"preset": options.preset, "per_generator_k": longest, "pool_limit": EVERYTHING}
    config = parse_config({"retrieval": retrieval}, profile="offline")
    progress = Progress()
    cases = limited(read_cases(options.data), options.limit)
    embedder = CachedEmbedder(embedder_from_config(config.embedding), options.cache)
    embedder.prefetch(
        [one.text for case in cases for one in case.questions if one.gold],
        [one.text for case in cases for one in case.items],
        lambda text, share: progress(f"vectors of {text}"),
    )
    answered: list[tuple[Question, Rankings]] = []
    for case in cases:
        answered += run_case(case, config, embedder, options.trigger, progress)
    progress.done()
    if not answered:
        print(f"{options.data.name} has no question with gold", file=sys.stderr)
        return 1
    results = report(answered)
    longest = resolve_levers(config.retrieval).per_generator_k
    heading = (
        f"{options.data.name}: {len(cases)} stores, {len(answered)} questions with gold, "
        f"preset {options.preset}, {longest} a generator, {options.trigger} search, "
        f"{embedder.name} {embedder.version}"
    )
    if options.json:
        print(f"{heading}\n{machine_line()}", file=sys.stderr)
        print(json.dumps({stage: flat(results[stage]) for stage in STAGES}))
    else:
        print(f"{heading}\n{machine_line()}", *human_lines(results), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
