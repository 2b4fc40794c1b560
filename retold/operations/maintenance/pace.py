"""How many rows one batch takes, and how long it leaves the write lock alone afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from retold.store.retention import DueRow

FIRST_ROWS: Final = 8
MOST_ROWS: Final = 500
MOST_BYTES: Final = 1 << 20
AIM_SECONDS: Final = 0.01
"""What a batch should take, its sync included: others wait for it, and once more in their sleep."""
LEAST_REST_SECONDS: Final = 0.002

Row = TypeVar("Row")


@dataclass(slots=True)
class Pace:
    """Follows how fast the disk is; ``ticks`` returns seconds and ``sleep`` waits for some."""

    ticks: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep
    rows: int = field(default=FIRST_ROWS)

    def note(self, seconds: float) -> None:
        """Take half as many rows after a batch that took too long, else up to twice as many."""
        if seconds > AIM_SECONDS:
            self.rows = max(1, self.rows // 2)
        elif seconds < AIM_SECONDS / 2:
            self.rows = min(MOST_ROWS, self.rows * 2)

    def rest(self, seconds: float) -> None:
        """Leave the lock free for as long as it was held.

        A writer that waits does so in sleeps that grow with its waiting: it wakes up in this time.
        """
        self.sleep(seconds + LEAST_REST_SECONDS)


def within_bytes(rows: Sequence[DueRow]) -> Sequence[DueRow]:
    """Return the first rows that are no more than one batch may rewrite; at least one."""
    size = 0
    for at, row in enumerate(rows):
        size += row.size
        if size > MOST_BYTES:
            return rows[: max(1, at)]
    return rows
