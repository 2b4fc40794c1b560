"""Moments and ids that a test decides."""

from __future__ import annotations

import itertools
import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID

START = datetime(2026, 1, 15, 9, 0, tzinfo=UTC)


class FakeClock:
    """A clock that stands still until it is moved. Safe across threads."""

    __test__ = False

    def __init__(self, start: datetime = START) -> None:
        """Stand at ``start``, which must be aware."""
        self._lock = threading.Lock()
        self._now = _aware(start)

    def __call__(self) -> datetime:
        """Return the present moment, in UTC."""
        with self._lock:
            return self._now

    def advance(self, by: timedelta | None = None, **parts: float) -> datetime:
        """Move by a timedelta or by its parts, as ``advance(days=2)``; return the new moment."""
        with self._lock:
            self._now += (by or timedelta()) + timedelta(**parts)
            return self._now

    def set(self, moment: datetime) -> None:
        """Stand at another moment, earlier ones included. Raises ValueError for a naive one."""
        with self._lock:
            self._now = _aware(moment)


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no UTC offset")
    return moment.astimezone(UTC)


class CountingIds:
    """UUIDv7-shaped ids that count from 1, so that they sort by creation. Safe across threads."""

    __test__ = False

    def __init__(self, start: int = 1) -> None:
        """Begin with ``start``."""
        self._numbers = itertools.count(start)

    def __call__(self) -> str:
        """Return the next id in the canonical text form."""
        return self.nth(next(self._numbers))

    @staticmethod
    def nth(number: int) -> str:
        """Return the id of a number, as ``nth(1)`` for the first one."""
        return str(UUID(int=(0x7 << 76) | (0x2 << 62) | number))
