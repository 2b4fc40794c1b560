"""Measure what a foreground write waits while a job of the maintenance works beside it (B42).

The store gets rows that are due: records past their expiry, records to review, turns, logged
searches and events. Each job runs in a process of its own, while this one writes a record with
its event every 50 ms, first alone and then beside the job. A write counts from asking for the
lock to the end of its commit. ``--check`` fails when the 99th percentile beside a job is above
250 ms, or its median more than 30 ms above the median alone.

    python benchmarks/maintenance.py --rows 200000 --check
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from support.machine import machine_line

from retold.models import Principal, Scope
from retold.store import Store, Transaction
from retold.store.records import NewRecord
from retold.store.search_log import COLUMNS

LIMIT_P99_MS = 250.0
LIMIT_MEDIAN_MS = 30.0
PAUSE_SECONDS = 0.05
ALONE_WRITES = 60
BATCH = 500
THEN = datetime(2024, 1, 1, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[1]
JOBS = ("expire", "review-due", "retain")


def record(content: str, **fields: object) -> NewRecord:
    """Return a row as a writer decides about it."""
    values: dict[str, object] = {
        "type": "semantic",
        "content": content,
        "scope": Scope("user", "ana"),
        "subject_entity_id": None,
        "attribute": None,
        "attribute_derived": False,
        "source_kind": "user_statement",
        "source_ref": None,
        "creator_agent_id": "bench",
        "evidence": None,
        "event_at": THEN,
        "expires_at": None,
        "valid_from": None,
        "valid_until": None,
        "review_at": None,
        "confidence": 1.0,
        "status": "confirmed",
        "supersedes_id": None,
        "version": 1,
        "temporary": False,
        "tags": (),
    }
    return NewRecord(**(values | fields))  # type: ignore[arg-type]  # as the class declares them


def write(tx: Transaction, content: str, **fields: object) -> None:
    """Write one record with its index row and its event."""
    stored = tx.records.insert(record(content, **fields))
    tx.lexical.insert(stored.seq, content, "", "")
    tx.events.append("record.created", "bench", record_id=stored.id, payload={"reason": content})


def search_row(tx: Transaction, number: int) -> dict[str, object]:
    """Return a logged search with as many candidates as a real one has."""
    candidates = [{"id": tx.new_id(), "dense": 0.5, "lexical": 1.0, "n": at} for at in range(60)]
    texts = {"id": tx.new_id(), "at": "2024-01-01T00:00:00.000000+00:00", "agent_id": "bench"}
    texts |= {"user_id": "ana", "trigger": "tool", "detail": "full", "rewrite_status": "disabled"}
    texts |= {"rerank_status": "disabled", "candidates": json.dumps(candidates)}
    empty = dict.fromkeys(("session_id", "context", "rerank_error", "empty_reason", "reranked"))
    return dict.fromkeys(COLUMNS, "[]") | {"warm": 1, **texts, **empty}


def build(path: Path, rows: int) -> None:
    """Make a store of which everything is due."""
    with Store.open(path, clock=lambda: THEN) as store:
        with store.write() as tx:
            session = tx.sessions.start(Principal("bench", "ana"), "long ago")
        for first in range(0, rows, BATCH):
            with store.write() as tx:
                for number in range(first, min(rows, first + BATCH)):
                    soon = THEN + timedelta(seconds=number)
                    kept = {"review_at": soon} if number % 2 else {"expires_at": soon}
                    write(tx, f"record {number} of the benchmark", **kept)
                    if number % 4 == 0:
                        tx.search_log.insert(search_row(tx, number))
                        tx.sessions.append_turn(session.id, "user", f"turn {number} " * 20)
        with store.write() as tx:
            tx.sessions.end(session.id)
            tx.run(  # the benchmark plays the extractor
                (ROOT / "benchmarks" / "data" / "extracted.sql").read_text(encoding="utf-8")
            )


def waits(store: Store, goes_on: Callable[[int], bool]) -> Iterator[float]:
    """Write now and then, and yield the milliseconds that each write took."""
    number = 0
    while goes_on(number):
        begun = time.perf_counter()
        with store.write() as tx:
            write(tx, f"foreground {number}")
        yield (time.perf_counter() - begun) * 1000
        number += 1
        time.sleep(PAUSE_SECONDS)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of the sorted values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def beside(store: Store, path: Path, job: str, config: Path) -> tuple[list[float], float]:
    """Return the waits while a job runs, and how many seconds it ran."""
    command = [sys.executable, "-m", "retold", job, "--store", str(path), "--config", str(config)]
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        found = list(waits(store, lambda _number: child.poll() is None))
    if child.returncode not in (0, 3, 5):
        raise SystemExit(f"{job} failed with {child.returncode}")
    return found, time.perf_counter() - begun


def line(name: str, values: Sequence[float], seconds: float | None = None) -> dict[str, object]:
    """Return the figures of one series."""
    return {
        "beside": name,
        "writes": len(values),
        "p50_ms": round(statistics.median(values), 2),
        "p95_ms": round(percentile(values, 0.95), 2),
        "p99_ms": round(percentile(values, 0.99), 2),
        "max_ms": round(max(values), 2),
        "job_seconds": None if seconds is None else round(seconds, 2),
    }


def measure(rows: int, folder: Path) -> list[dict[str, object]]:
    """Return one line of figures for writes alone and one beside each job."""
    path, config = folder / "memory.sqlite", folder / "retold.yaml"
    build(path, rows)
    config.write_text(f"ingestion: {{temporal_review_batch_size: {rows}}}\n", encoding="utf-8")
    with Store.open(path) as store:
        lines = [line("nothing", list(waits(store, lambda number: number < ALONE_WRITES)))]
        for job in JOBS:
            found, seconds = beside(store, path, job, config)
            lines.append(line(job, found, seconds))
    return lines


def missed(lines: Sequence[dict[str, object]]) -> list[str]:
    """Return what is above its limit."""
    alone = float(str(lines[0]["p50_ms"]))
    return [
        f"{one['beside']}: p50 {one['p50_ms']} ms (alone {alone}), p99 {one['p99_ms']} ms"
        for one in lines[1:]
        if float(str(one["p99_ms"])) > LIMIT_P99_MS
        or float(str(one["p50_ms"])) > alone + LIMIT_MEDIAN_MS
    ]


def main() -> int:
    """Measure, print, and answer 1 when ``--check`` was asked for and a limit was missed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--rows", type=int, default=20_000, help="records that are due")
    parser.add_argument("--check", action="store_true", help="fail where a limit is missed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = measure(options.rows, Path(folder))
    wrong = missed(lines)
    if options.json:
        print(json.dumps({"rows": options.rows, "lines": lines, "missed": wrong}))
    else:
        print(machine_line())
        for one in lines:
            print("  ".join(f"{name} {value}" for name, value in one.items()))
        print(*wrong or ["within the limits"], sep="\n")
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
