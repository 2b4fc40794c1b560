"""Measure what searches find on several files, beside the floors that must hold and the aims.

Each file is measured as ``retold evaluate`` does it. Floors and aims are those of the preset
``measured`` on the development or held-out half of a public set, known by the file's name without
its last word: ``locomo-facts-dev.jsonl`` is a half of ``locomo-facts``. A floor is about the lower
end of the 95% interval that was measured on the held-out halves when the preset was designed, the
aim its middle. Files of other names are measured without either.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.cache import default_cache
from support.machine import machine_line

from retold.cli.evaluate import PIPELINES, read_evaluation, run
from retold.config import parse_config
from retold.operations.evaluation.summary import flat

Flat = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Goal:
    """What a metric must reach, and what it may reach; of ``most`` a value may not exceed it."""

    set_name: str
    metric: str
    floor: float
    aim: float
    most: bool = False

    def holds(self, value: float) -> bool:
        """Return whether the value is on the right side of the floor."""
        return value <= self.floor if self.most else value >= self.floor


GOALS = (
    Goal("locomo-facts", "recall@1", 0.40, 0.432),
    Goal("locomo-facts", "recall@5", 0.67, 0.697),
    Goal("locomo-facts", "recall@10", 0.77, 0.799),
    Goal("locomo-facts", "ndcg@10", 0.62, 0.645),
    Goal("locomo-facts", "auto no_memory_admitted", 0.06, 0.034, most=True),
    Goal("locomo-facts", "auto needed_empty", 0.02, 0.000, most=True),
    Goal("realmem-facts", "recall@5", 0.35, 0.370),
    Goal("realmem-facts", "recall@10", 0.49, 0.514),
    Goal("realmem-facts", "recall@20", 0.63, 0.651),
    Goal("realmem-facts", "ndcg@10", 0.33, 0.350),
    Goal("realmem-facts", "no_memory_admitted", 0.18, 0.137, most=True),
    Goal("realmem-facts", "needed_empty", 0.13, 0.097, most=True),
    Goal("realmem-facts", "returned_recall", 0.38, 0.407),
    Goal("realmem-facts", "auto no_memory_admitted", 0.05, 0.027, most=True),
    Goal("realmem-facts", "auto needed_empty", 0.35, 0.310, most=True),
    Goal("realmem-facts", "auto returned_recall", 0.30, 0.328),
    Goal("locomo", "recall@5", 0.65, 0.677),
    Goal("locomo", "recall@10", 0.74, 0.768),
    Goal("locomo", "ndcg@10", 0.53, 0.558),
    Goal("locomo", "session recall@5", 0.86, 0.885),
    Goal("locomo", "auto no_memory_admitted", 0.10, 0.081, most=True),
    Goal("realmem", "recall@10", 0.74, 0.773),
    Goal("realmem", "auto no_memory_admitted", 0.10, 0.081, most=True),
    Goal("beam", "recall@10", 0.48, 0.53),
    Goal("xquad-en", "recall@1", 0.94, 0.96),
    Goal("xquad-zh", "recall@1", 0.91, 0.93),
    Goal("xquad-th", "recall@1", 0.91, 0.93),
    Goal("jsquad", "recall@1", 0.88, 0.90),
)
"""From the measurements that the preset was designed by; docs/quality.md tells of them."""


def goals_of(data: Path) -> list[Goal]:
    """Return what holds for a file; none for one of an unknown set."""
    return [goal for goal in GOALS if goal.set_name == data.stem.rpartition("-")[0]]


def goal_lines(data: Path, results: Mapping[str, Flat]) -> Iterator[str]:
    """Yield the goals of a file with what was measured, a mark before each that is missed."""
    for goal in goals_of(data):
        values = [results[name].get(goal.metric) for name in ("design", "measured")]
        shown = "".join("       -" if value is None else f"{value:8.3f}" for value in values)
        sign = "<=" if goal.most else ">="
        mark = " " if values[1] is not None and goal.holds(values[1]) else "!"
        yield f"{mark} {goal.metric:26}{shown}   {sign} {goal.floor:.3f}   {goal.aim:.3f}"


def missed(data: Path, results: Mapping[str, Flat]) -> list[str]:
    """Return the metrics of a file that are not where they must be."""
    measured = results["measured"]
    return [
        f"{data.name}: {goal.metric} is {value}, "
        f"{'more' if goal.most else 'less'} than {goal.floor}"
        for goal in goals_of(data)
        if (value := measured.get(goal.metric)) is None or not goal.holds(value)
    ]


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="files of cases")
    parser.add_argument("--no-memory", type=Path, help="prompts (no-memory*.jsonl beside data)")
    parser.add_argument("--profile", default="offline", help="whose embedder is measured")
    parser.add_argument("--sample", type=int, help="ask at most so many questions of each sort")
    parser.add_argument("--json", action="store_true", help="print one JSON object, by file")
    parser.add_argument("--check", action="store_true", help="end with 1 when a floor is missed")
    parser.add_argument(
        "--cache", type=Path, default=default_cache(), help="folder that keeps vectors"
    )
    options = parser.parse_args(argv)
    if options.check and options.sample:
        parser.error("--check judges whole files; leave --sample away")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Measure every file; absent ones are named on standard error and left out."""
    options = parse_arguments(argv)
    config = parse_config({}, profile=options.profile)
    document: dict[str, dict[str, Flat]] = {}
    failures: list[str] = []
    print(machine_line(), file=sys.stderr)
    for data in options.data:
        if not data.is_file():
            print(f"skipped: {data.name} is absent; give its path", file=sys.stderr)
            continue
        evaluation = read_evaluation(data, options.no_memory, options.sample, config)
        answers = run(evaluation, PIPELINES, options.cache)
        results: dict[str, Flat] = {name: flat(one) for name, one in answers.items()}
        document[data.name] = results
        failures += missed(data, results)
        if not options.json:
            print(f"\n{data.name:28}  design measured   floor      aim", flush=True)
            print(*goal_lines(data, results), sep="\n", flush=True)
    if options.json:
        print(json.dumps(document))
    if options.check:
        print(*failures, sep="\n", file=sys.stderr)
    return 1 if options.check and failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
