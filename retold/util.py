"""Clock, ids and a stage timer; nothing else."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tell the present moment as an aware UTC datetime."""

    def __call__(self) -> datetime:
        """Return now, in UTC."""
        ...


IdSource = Callable[[], str]

MAX_COUNTER = 0xFFF
"""Ids per millisecond before the source borrows from the next one: 12 bits."""


def system_clock() -> datetime:
    """Return the wall clock in UTC."""
    return datetime.now(UTC)


class _Uuid7Source:
    """UUIDv7 whose 12 ``rand_a`` bits count within a millisecond (RFC 9562, method 1).

    Ids of one process sort by creation even when the wall clock steps back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_ms = 0
        self._counter = 0

    def __call__(self) -> str:
        """Return a new id in the canonical text form."""
        with self._lock:
            now_ms = time.time_ns() // 1_000_000
            if now_ms > self._last_ms:
                self._last_ms, self._counter = now_ms, 0
            elif self._counter == MAX_COUNTER:
                self._last_ms, self._counter = self._last_ms + 1, 0
            else:
                self._counter += 1
            head = (self._last_ms << 16) | 0x7000 | self._counter
        tail = (int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)) | (1 << 63)
        digits = f"{head:016x}{tail:016x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


new_id: IdSource = _Uuid7Source()


class _Stage(AbstractContextManager[None]):
    """One stage that runs; a class, because a search enters some forty of them."""

    __slots__ = ("_begun", "_name", "_timer")

    def __init__(self, timer: Timer, name: str) -> None:
        self._timer = timer
        self._name = name

    def __enter__(self) -> None:
        self._begun = self._timer.ticks()

    def __exit__(self, *_raised: object) -> None:
        stages, spent = self._timer.stages, (self._timer.ticks() - self._begun) * 1000.0
        stages[self._name] = stages.get(self._name, 0.0) + spent


class Timer:
    """Named stage durations in milliseconds, in the order the stages ran."""

    def __init__(self, ticks: Callable[[], float] = time.perf_counter) -> None:
        """Start now. ``ticks`` returns seconds and never goes back."""
        self._ticks = ticks
        self._start = ticks()
        self.stages: dict[str, float] = {}

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Add the time spent inside to ``name``, also when it raises."""
        return _Stage(self, name)

    def ticks(self) -> float:
        """Return seconds on the timer's own clock."""
        return self._ticks()

    def total_ms(self) -> float:
        """Return milliseconds since the timer was made."""
        return (self._ticks() - self._start) * 1000.0
