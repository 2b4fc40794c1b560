"""Measure what `import retold` costs beside the packages it is built on.

Each measurement is a fresh interpreter that times one import statement in itself, so that starting
Python is not counted. The statements take turns, so that a slow moment of the machine meets all of
them, and each round gives one ratio. `--check` fails when the median ratio of `import retold` is
above the limit; `from retold import Retold`, which loads the whole engine, is shown beside it.

    python benchmarks/import_cost.py --rounds 21 --check
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile

BASE = "import apsw, numpy, pydantic, yaml"
PACKAGE = "import retold"
ENGINE = "from retold import Retold"
LIMIT = 1.2

PROBE = """
import time
started = time.perf_counter()
{statement}
print((time.perf_counter() - started) * 1000)
"""


def milliseconds(statement: str, directory: str) -> float:
    """Return what one import statement takes in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(statement=statement)],
        capture_output=True,
        check=True,
        cwd=directory,
        text=True,
    )
    return float(done.stdout)


def measure(rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each statement, one number a round, after one warm-up round."""
    statements = (BASE, PACKAGE, ENGINE)
    taken: dict[str, list[float]] = {statement: [] for statement in statements}
    # An empty directory: the installed package is measured, never a folder that happens to be here.
    with tempfile.TemporaryDirectory() as directory:
        for number in range(rounds + 1):
            for statement in statements if number % 2 else reversed(statements):
                spent = milliseconds(statement, directory)
                if number:
                    taken[statement].append(spent)
    return taken


def report(taken: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Return the median, the fastest and the median ratio to the base for each statement."""
    return {
        statement: {
            "median_ms": round(statistics.median(values), 2),
            "fastest_ms": round(min(values), 2),
            "ratio": round(
                statistics.median(
                    value / base for value, base in zip(values, taken[BASE], strict=True)
                ),
                3,
            ),
        }
        for statement, values in taken.items()
    }


def main() -> int:
    """Measure, print, and answer 1 when `--check` was asked for and a ratio is too high."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="rounds to measure (15)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help=f"fail above a ratio of {LIMIT}")
    options = parser.parse_args()
    results = report(measure(options.rounds))
    if options.json:
        print(json.dumps({"limit": LIMIT, "rounds": options.rounds, "statements": results}))
    else:
        for statement, row in results.items():
            print(
                f"{statement:36} median {row['median_ms']:7.2f} ms  "
                f"fastest {row['fastest_ms']:7.2f} ms  ratio {row['ratio']:.3f}"
            )
    if options.check and results[PACKAGE]["ratio"] > LIMIT:
        print(f"`{PACKAGE}` is above {LIMIT} times `{BASE}`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
