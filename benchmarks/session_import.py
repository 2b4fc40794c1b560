"""Measure what importing transcripts costs: seconds, turns a second and peak memory.

Every measurement is one ``retold sessions import`` in a process of its own, on a new store. The
whole of the data and its first tenth take turns, and what counts is the median. Peak memory is
what the system says of the process (``ru_maxrss``). ``--check`` fails when the whole takes more
than the limit times the memory of the first tenth: a file must not be held in memory.

    python benchmarks/session_import.py --data cases.jsonl more.jsonl --check
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from support.machine import machine_line

LIMIT = 1.1
SHARE = 10
ROOT = Path(__file__).resolve().parents[1]
DEFAULT_DATA = tuple(
    ROOT.parent / "shared" / "data" / f"{name}.jsonl" for name in ("locomo-dev", "realmem-dev")
)
NEW_STORE = "import sys; from retold import Retold; Retold.open(sys.argv[1], profile='offline')"


def cases(files: Sequence[Path]) -> Iterator[dict[str, object]]:
    """Yield the cases of the files, one at a time."""
    for file in files:
        with file.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines if line.strip())


def write_cases(files: Sequence[Path], to: Path, most_turns: int | None = None) -> int:
    """Write the cases to one file, up to a number of turns; return how many turns it has."""
    written = 0
    with to.open("w", encoding="utf-8") as out:
        for case in cases(files):
            left = None if most_turns is None else most_turns - written
            case["turns"] = list(case["turns"])[:left]  # type: ignore[call-overload]  # a list
            written += len(case["turns"])
            out.write(json.dumps(case, ensure_ascii=False) + "\n")
            if left is not None and written >= most_turns:  # type: ignore[operator]  # an int
                break
    return written


def run(store: Path, data: Path) -> dict[str, float]:
    """Import the file and return seconds, peak memory in MiB and the number of turns stored."""
    command = ["sessions", "import", str(data), "--format", "cases", "--user", "ana", "--json"]
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "retold", *command, "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    answer = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the import of {data.name} ended with {process.returncode}")
    peak = mebibytes(usage.ru_maxrss)
    # A process that is started counts the memory of its starter until it becomes itself.
    own = own_peak()
    if own >= peak:
        raise SystemExit(f"this program holds {own:.0f} MiB and hides the peak of what it starts")
    return {"seconds": seconds, "peak_mib": peak, "imported": json.loads(answer)["imported"]}


def own_peak() -> float:
    """Return the most memory that this program held, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():  # ``ru_maxrss`` would count what started this program, too
        (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) / (1 << 10)
    return mebibytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def mebibytes(maxrss: int) -> float:
    """Return what ``ru_maxrss`` says in MiB; it counts bytes on macOS and kibibytes elsewhere."""
    return maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def measure(files: Sequence[Path], rounds: int) -> dict[str, dict[str, float]]:
    """Return the medians of the whole, of its first tenth and of the whole a second time."""
    taken: dict[str, list[dict[str, float]]] = {"tenth": [], "whole": [], "again": []}
    with tempfile.TemporaryDirectory() as folder:
        whole, tenth = Path(folder, "whole.jsonl"), Path(folder, "tenth.jsonl")
        turns = {"whole": write_cases(files, whole)}
        turns["tenth"] = write_cases(files, tenth, max(turns["whole"] // SHARE, 1))
        turns["again"] = 0
        for number in range(rounds):
            for name, data in (("tenth", tenth), ("whole", whole), ("again", whole)):
                store = Path(folder, f"{'tenth' if data == tenth else 'whole'}-{number}.sqlite")
                if name != "again":
                    subprocess.run([sys.executable, "-c", NEW_STORE, str(store)], check=True)
                found = run(store, data)
                if found["imported"] != turns[name]:
                    raise SystemExit(f"{name}: {turns[name]} turns, imported {found['imported']}")
                taken[name].append(found)
    return {name: summary(of_one, turns["whole"], turns[name]) for name, of_one in taken.items()}


def summary(runs: list[dict[str, float]], whole: int, imported: int) -> dict[str, float]:
    """Return the medians of the runs and the turns looked at in a second."""
    seconds = statistics.median(one["seconds"] for one in runs)
    return {
        "imported": imported,
        "seconds": round(seconds, 2),
        "turns_per_second": round((imported or whole) / seconds),
        "peak_mib": round(statistics.median(one["peak_mib"] for one in runs), 1),
    }


def main() -> int:
    """Measure, print, and answer 1 when ``--check`` was asked for and memory grows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", metavar="FILE", help="files of cases")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind (3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--check", action="store_true", help=f"fail when memory grows by more than {LIMIT}"
    )
    options = parser.parse_args()
    files = options.data or DEFAULT_DATA
    absent = [file.name for file in files if not file.is_file()]
    if absent:
        print(f"skipped: {', '.join(absent)} is absent; give its path", file=sys.stderr)
        return 0
    print(machine_line(), file=sys.stderr)
    results = measure(files, options.rounds)
    ratio = results["whole"]["peak_mib"] / results["tenth"]["peak_mib"]
    if options.json:
        print(json.dumps({"limit": LIMIT, "memory_ratio": round(ratio, 3), **results}))
    else:
        for name, row in results.items():
            print(
                f"{name:6} {row['imported']:7,} imported  {row['seconds']:6.2f} s  "
                f"{row['turns_per_second']:7,} turns/s  peak {row['peak_mib']:6.1f} MiB"
            )
        print(f"memory of the whole by that of its first tenth: {ratio:.3f}, limit {LIMIT}")
    if options.check and ratio > LIMIT:
        print("memory grows with the file", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
