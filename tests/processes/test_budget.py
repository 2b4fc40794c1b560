"""Several processes that use hosted models on one store."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from datetime import date

from retold.store import Store
from tests.warm_process import WarmPopen

PRELUDE = """
import os, signal, sys
from datetime import UTC, datetime
from retold.errors import BudgetExhausted
from retold.models import TokenUsage
from retold.policy.day_budget import DayBudget
from retold.store import Store

store = Store.open(sys.argv[1], clock=lambda: datetime(2026, 1, 5, tzinfo=UTC))
budget = DayBudget(store, int(sys.argv[2]) or None, max_wait_ms=60_000)
print("ready", flush=True)
sys.stdin.readline()
"""
DAY = date(2026, 1, 5)


def run_together(path, limit, bodies):
    """Start the bodies at one moment; return what each printed, and how it ended."""
    processes = [
        WarmPopen(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(body), str(path), str(limit)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for body in bodies
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    return [(process.communicate(timeout=120)[0], process.returncode) for process in processes]


def counted(path):
    with Store.open(path) as store, store.read() as tx:
        return [tuple(one) for one in tx.budget.list_for(DAY)]


CALLS = """
for number in range(100):
    budget.reserve("openai", 50)
    budget.settle("openai", 50, TokenUsage(number, 1, 1))
store.close()
"""


def test_processes_at_once_add_up_exactly(tmp_path):
    path = tmp_path / "memory.sqlite"
    Store.open(path).close()

    ends = run_together(path, 0, [CALLS] * 3)

    assert [code for _, code in ends] == [0, 0, 0]
    assert counted(path) == [("openai", 3 * (sum(range(100)) + 100), 300)]


UNTIL_REFUSED = """
made = 0
try:
    while True:
        budget.reserve("openai", 7)
        made += 1
except BudgetExhausted:
    print(made)
store.close()
"""


def test_processes_at_once_stay_below_the_limit_together(tmp_path):
    """Look at the limit outside the transaction that adds, and they pass it."""
    path = tmp_path / "memory.sqlite"
    Store.open(path).close()

    ends = run_together(path, 1000, [UNTIL_REFUSED] * 3)

    assert sum(int(out) for out, _ in ends) == 1000 // 7
    assert counted(path) == [("openai", 1000 // 7 * 7, 1000 // 7)]


DIES = """
budget.reserve("openai", 50)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_call_whose_process_was_killed_stays_counted(tmp_path):
    path = tmp_path / "memory.sqlite"
    Store.open(path).close()

    ((_, code),) = run_together(path, 0, [DIES])

    assert code == -signal.SIGKILL
    assert counted(path) == [("openai", 50, 1)]
