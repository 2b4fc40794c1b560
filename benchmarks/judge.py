"""Precision and recall of the rule judge on labelled pairs, with Wilson 95% intervals.

Three files, each skipped with a message when it is absent:

- ``--pairs``: ``{"a", "b", "label"}`` a line.  Labels may be the judge's own (same, contradicts,
  distinct) or those of inference data.  Of the latter, contradiction is read as contradicts and
  neutral as distinct; entailment is read as same, although the data gives one direction only and
  most entailments are refinements.  So "same" is right when it falls on an entailment, its recall
  is the share of all entailments, and a low one is expected.
- ``--people``: the same format, about people, with the judge's own labels.
- ``--support``: ``{"quote", "claim", "names", "honest", "kind"}`` a line.  A pair passes when its
  score reaches the floor.  A pair that is not scored (None) is neither: its status follows the
  turn's role, so it is counted apart, while the stricter rate counts it as not passed when honest
  and as not failed when dishonest.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from retold.ingest.lexical_judge import LexicalJudge

HERE: Final = Path(__file__).resolve().parent
DEFAULT_PAIRS: Final = HERE.parent.parent / "shared" / "data" / "pairs-sick-dev.jsonl"
DEFAULT_PEOPLE: Final = HERE / "data" / "people_pairs.jsonl"
DEFAULT_SUPPORT: Final = HERE / "data" / "support_pairs.jsonl"
LABELS: Final = ("contradicts", "same", "distinct")
READ_AS: Final = {"entailment": "same", "contradiction": "contradicts", "neutral": "distinct"}
FLOOR: Final = 0.5
Z: Final = 1.959964


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its Wilson 95% interval; ``n`` 0 leaves the share at 0 and the interval open."""

    hits: int
    n: int
    share: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return the share, its interval and its count."""
        return f"{self.share:.3f} [{self.low:.3f}, {self.high:.3f}] ({self.hits}/{self.n})"


def wilson(hits: int, n: int) -> Rate:
    """Return the share of hits with Wilson's 95% score interval."""
    if not n:
        return Rate(0, 0, 0.0, 0.0, 1.0)
    share = hits / n
    centre = share + Z * Z / (2 * n)
    spread = Z * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    return Rate(hits, n, share, max(0.0, (centre - spread) / scale), (centre + spread) / scale)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the JSON objects of a file, one a line, blank lines aside."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def rates(counts: Mapping[tuple[str, str], int]) -> dict[str, dict[str, Rate]]:
    """Return precision and recall per label from (gold, given) counts."""
    out: dict[str, dict[str, Rate]] = {}
    for label in LABELS:
        hits = counts.get((label, label), 0)
        given = sum(n for (_, answer), n in counts.items() if answer == label)
        gold = sum(n for (truth, _), n in counts.items() if truth == label)
        out[label] = {"precision": wilson(hits, given), "recall": wilson(hits, gold)}
    return out


def measure_pairs(judge: LexicalJudge, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Judge every pair once and return rates per label, the share unknown, rule counts, cost."""
    counts: Counter[tuple[str, str]] = Counter()
    rules: Counter[str] = Counter()
    started = time.process_time()
    for row in rows:
        verdict = judge.judge(row["a"], row["b"])
        gold = READ_AS.get(row["label"], row["label"])
        counts[gold, verdict.label] += 1
        rules[f"{verdict.rule} -> {verdict.label} ({gold})"] += 1
    spent = time.process_time() - started
    unknown = sum(n for (_, given), n in counts.items() if given == "unknown")
    return {
        "n": len(rows),
        "labels": rates(counts),
        "unknown": wilson(unknown, len(rows)),
        "cpu_microseconds_per_pair": round(1e6 * spent / max(1, len(rows)), 1),
        "rules": dict(sorted(rules.items())),
    }


def measure_support(judge: LexicalJudge, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Score every quote and return how many honest pairs pass and dishonest ones fail, by kind."""
    outcomes: Counter[tuple[bool, str, str]] = Counter()
    for row in rows:
        verdict = judge.support(row["quote"], row["claim"], names=row.get("names") or ())
        passed = "unscored" if verdict is None else "pass" if verdict.entails >= FLOOR else "fail"
        outcomes[bool(row["honest"]), str(row.get("kind", "")), passed] += 1
    kinds = sorted({(honest, kind) for honest, kind, _ in outcomes})
    return {
        "n": len(rows),
        "honest_pass": _support_rate(outcomes, honest=True, wanted="pass"),
        "dishonest_fail": _support_rate(outcomes, honest=False, wanted="fail"),
        "by_kind": {
            f"{'honest' if honest else 'dishonest'}: {kind}": {
                result: outcomes[honest, kind, result] for result in ("pass", "fail", "unscored")
            }
            for honest, kind in kinds
        },
    }


def _support_rate(
    outcomes: Mapping[tuple[bool, str, str], int], *, honest: bool, wanted: str
) -> dict[str, Rate | int]:
    mine = {key: n for key, n in outcomes.items() if key[0] is honest}
    hits = sum(n for (_, _, result), n in mine.items() if result == wanted)
    unscored = sum(n for (_, _, result), n in mine.items() if result == "unscored")
    total = sum(mine.values())
    return {
        "scored": wilson(hits, total - unscored),
        "all": wilson(hits, total),
        "unscored": unscored,
    }


def as_json(value: object) -> object:
    """Return nested results with every rate as an object."""
    if isinstance(value, Rate):
        return asdict(value)
    if isinstance(value, Mapping):
        return {key: as_json(item) for key, item in value.items()}
    return value


def pair_lines(title: str, result: Mapping[str, Any], *, rules: bool) -> Iterable[str]:
    """Yield the human report of one file of pairs."""
    cost = result["cpu_microseconds_per_pair"]
    yield f"{title}: {result['n']} pairs, {cost} us of processor time a pair"
    for label, pair in result["labels"].items():
        yield f"  {label:<12} precision {pair['precision']}  recall {pair['recall']}"
    yield f"  {'unknown':<12} share     {result['unknown']}"
    if rules:
        yield from (f"    {count:>5}  {rule}" for rule, count in result["rules"].items())


def support_lines(title: str, result: Mapping[str, Any]) -> Iterable[str]:
    """Yield the human report of one file of quotes and claims."""
    yield f"{title}: {result['n']} quotes"
    for name in ("honest_pass", "dishonest_fail"):
        rate = result[name]
        label = name.replace("_", " ")
        yield f"  {label:<15} {rate['scored']}  all {rate['all']}  unscored {rate['unscored']}"
    for kind, counts in result["by_kind"].items():
        yield f"    {kind}: " + ", ".join(f"{name} {n}" for name, n in counts.items())


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=Path, default=DEFAULT_PAIRS)
    parser.add_argument("--people", type=Path, default=DEFAULT_PEOPLE)
    parser.add_argument("--support", type=Path, default=DEFAULT_SUPPORT)
    parser.add_argument("--rules", action="store_true", help="also count verdicts by rule")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure each file that exists; return 0 even when some are skipped."""
    options = parse_arguments(argv)
    judge = LexicalJudge()
    results: dict[str, Any] = {}
    lines: list[str] = []
    for name in ("pairs", "people", "support"):
        path: Path = getattr(options, name)
        if not path.is_file():
            print(f"skipped --{name}: {path.name} is absent; give its path", file=sys.stderr)
            continue
        rows = read_rows(path)
        if name == "support":
            results[name] = measure_support(judge, rows)
            lines.extend(support_lines(path.name, results[name]))
        else:
            results[name] = measure_pairs(judge, rows)
            lines.extend(pair_lines(path.name, results[name], rules=options.rules))
    print(json.dumps(as_json(results), indent=2) if options.json else "\n".join(lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
