"""Measure what extracting costs beside the model: time, latency, memory, calls and tokens.

Sessions of eight turns with four facts are extracted by the tasks of a worker in a process of its
own; the model is scripted and asked by the real client over real HTTP. Its time, HTTP included, is
left out of the overhead. Memory is what the process holds after each tenth of the sessions, the
first of which loads the models.

The latency is that from the end of a session to its memories, with real consumers that were idle
before and a model that answers at once. ``--check`` fails when its median is above 1.5 s, when
memory grows by more than a tenth after the first tenth of the sessions, or when a session takes
other than two calls.

    python benchmarks/extraction.py --sessions 2000 --check
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support import chats
from support.loopback import LoopbackModel
from support.machine import machine_line
from support.progress import Progress

from retold import Retold
from retold.store import Store

LIMIT_SECONDS = 1.5
LIMIT_GROWTH = 1.1
CALLS = 2
TENTHS = 10
PATIENCE_SECONDS = 60
LONGEST_PAUSE_SECONDS = 1.0
ROOT = Path(__file__).resolve().parents[1]
MODEL_STAGES = ("extractor_model", "candidate_review")


def make_site(folder: Path) -> dict[str, str]:
    """Return the variables of a new store of the offline profile with its workers' queue."""
    config = folder / "retold.yaml"
    config.write_text("profile: offline\nqueue: {backend: huey, max_pending: 10000}\n", "utf-8")
    return {"RETOLD_STORE": str(folder / "memory.sqlite"), "RETOLD_CONFIG": str(config)}


def opened(site: Mapping[str, str]) -> Retold:
    """Open the store of a site as an application does."""
    return Retold.open(site["RETOLD_STORE"], config=site["RETOLD_CONFIG"])


def work() -> int:
    """Extract everything that is due, as a worker does; print what the process held meanwhile."""
    from retold.operations.steps import claim_policy
    from workers import tasks
    from workers.runtime import WorkerRuntime
    from workers.settings import worker_settings

    runtime = WorkerRuntime(worker_settings())
    limits = claim_policy(runtime.settings.config).limits
    with runtime.store().read() as tx:
        due = tx.claims.list_due(limits(tx.now), limit=1_000_000)
    held, progress, begun = [], Progress(), time.perf_counter()
    for number, session_id in enumerate(due, start=1):
        tasks.extract_session(runtime, session_id)
        if number * TENTHS // len(due) > (number - 1) * TENTHS // len(due):
            held.append(round(held_mebibytes(), 1))
            progress(f"extracted {number} of {len(due)} sessions")
    seconds = time.perf_counter() - begun
    progress.done()
    runtime.close()
    print(json.dumps({"held_mib": held, "seconds": round(seconds, 2)}))
    return 0


def held_mebibytes() -> float:
    """Return the memory that this process holds now; its peak where the system tells no more."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmRSS"))
        return int(line.split()[1]) / (1 << 10)
    import resource

    maxrss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def costs(folder: Path, sessions: int) -> dict[str, Any]:
    """Return overhead, memory, calls and tokens of so many sessions."""
    site = make_site(folder)
    with opened(site) as retold:
        ids = [chats.tell(retold.runtime.hooks, number) for number in range(sessions)]
    with LoopbackModel(chats.answer) as model:
        done = subprocess.run(
            [sys.executable, __file__, "--work"],
            env=os.environ | model.environment | site | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            check=True,
        )
    held = json.loads(done.stdout)
    with Store.open(site["RETOLD_STORE"]) as store, store.read() as tx:
        rows = [_row(tx.events.list_for_session(each)) for each in ids]
    overhead = [row["overhead_ms"] for row in rows]
    stages = sorted({name for row in rows for name in row["stages"]})
    return {
        "sessions": sessions,
        "records_a_session": round(statistics.mean(row["written"] for row in rows), 2),
        "overhead_ms": {"p50": _median(overhead), "p95": _percentile(overhead, 0.95)},
        "stages_p50_ms": {
            name: _median([row["stages"].get(name, 0.0) for row in rows]) for name in stages
        },
        "seconds": held["seconds"],
        "held_mib": held["held_mib"],
        "growth": round(held["held_mib"][-1] / held["held_mib"][0], 3),
        "calls_a_session": statistics.mean(row["calls"] for row in rows),
        "tokens_a_session": round(statistics.mean(row["tokens"] for row in rows)),
    }


def _row(events: Sequence[Any]) -> dict[str, Any]:
    """Return the figures of one session from the events of its two steps."""
    payloads = {event.kind: event.payload for event in events}
    steps = [payloads[f"extraction.{name}"] for name in ("staged", "run")]
    stages: dict[str, float] = {}
    for step in steps:
        for name, taken in step["timings_ms"].items():
            stages[name] = stages.get(name, 0.0) + taken
    total = stages.pop("total")
    stages["embedding and the rest"] = total - sum(stages.values())
    run = steps[1]
    return {
        "overhead_ms": total - sum(stages.get(name, 0.0) for name in MODEL_STAGES),
        "stages": stages,
        "written": run["written"],
        "calls": run["calls"],
        "tokens": run["input_tokens"] + run["output_tokens"],
    }


@contextmanager
def consumer(queue: str, site: Mapping[str, str], model: LoopbackModel) -> Iterator[None]:
    """Run the consumer of a queue, which is idle when the block begins."""
    process = subprocess.Popen(
        [sys.executable, "-m", "workers", queue],
        cwd=ROOT,
        env=os.environ | model.environment | site,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "gave a sign of life" in line:
            break
    else:
        raise SystemExit(f"the consumer of {queue} ended")
    reader = threading.Thread(target=process.stderr.read)
    reader.start()
    try:
        yield
    finally:
        process.terminate()
        reader.join()
        process.wait()


def latency(folder: Path, sessions: int) -> dict[str, Any]:
    """Return the seconds from the end of a session to its memories; the first one loads models."""
    site = make_site(folder)
    pauses = random.Random(0)
    taken = []
    with (
        LoopbackModel(chats.answer) as model,
        opened(site) as retold,
        consumer("maintenance", site, model),
        consumer("extraction", site, model),
    ):
        for number in range(sessions + 1):
            session_id = chats.tell(retold.runtime.hooks, number)
            begun = time.perf_counter()
            while not _is_extracted(retold.store, session_id):
                if time.perf_counter() - begun > PATIENCE_SECONDS:
                    raise SystemExit("a session was not extracted")
                time.sleep(0.002)
            taken.append(time.perf_counter() - begun)
            time.sleep(pauses.uniform(0, LONGEST_PAUSE_SECONDS))
    first, *rest = taken
    return {
        "sessions": len(rest),
        "first_s": round(first, 3),
        "p50_s": round(statistics.median(rest), 3),
        "p95_s": _percentile(rest, 0.95),
        "max_s": round(max(rest), 3),
    }


def _is_extracted(store: Store, session_id: str) -> bool:
    with store.read() as tx:
        return tx.claims.require(session_id).extracted_at is not None


def _median(values: Sequence[float]) -> float:
    return round(statistics.median(values), 2)


def _percentile(values: Sequence[float], share: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(share * len(values)))], 3)


def missed(found: Mapping[str, Any]) -> list[str]:
    """Return what is above its limit."""
    cost, late = found["costs"], found["latency"]
    problems = []
    if late is not None and late["p50_s"] > LIMIT_SECONDS:
        problems.append(f"half of the sessions took more than {late['p50_s']} s to their memories")
    if cost["growth"] > LIMIT_GROWTH:
        problems.append(f"memory grew by the factor {cost['growth']}")
    if cost["calls_a_session"] != CALLS:
        problems.append(f"a session took {cost['calls_a_session']} calls")
    return problems


def human_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines for people."""
    cost, late = found["costs"], found["latency"]
    over = cost["overhead_ms"]
    yield (
        f"{cost['sessions']:,} sessions of 8 turns, {cost['records_a_session']} records each, "
        f"in {cost['seconds']} s"
    )
    yield f"beside the model  p50 {over['p50']} ms, p95 {over['p95']} ms a session"
    for name, taken in cost["stages_p50_ms"].items():
        yield f"  {name:26} p50 {taken:8.2f} ms"
    yield f"memory held       {' '.join(map(str, cost['held_mib']))} MiB, factor {cost['growth']}"
    yield f"model             {cost['calls_a_session']} calls, {cost['tokens_a_session']:,} tokens"
    if late is not None:
        yield (
            f"end to memories   p50 {late['p50_s']} s, p95 {late['p95_s']} s, "
            f"max {late['max_s']} s over {late['sessions']} sessions; the first {late['first_s']} s"
        )


def main() -> int:
    """Measure, print, and answer 1 when ``--check`` was asked for and a limit was missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=200, help="sessions for the costs (200)")
    parser.add_argument("--latency", type=int, default=20, help="sessions for the latency (20)")
    parser.add_argument("--check", action="store_true", help="fail where a limit is missed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        found: dict[str, Any] = {"costs": costs(Path(one), options.sessions)}
        found["latency"] = latency(Path(other), options.latency) if options.latency else None
    wrong = missed(found)
    if options.json:
        print(json.dumps(found | {"missed": wrong}))
    else:
        print(machine_line(), *human_lines(found), sep="\n")
    for each in wrong:
        print(each, file=sys.stderr)
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
