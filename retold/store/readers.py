"""Read-only connections, each lent to one transaction at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

import apsw

from retold.errors import StoreBusy

MAX_READERS: Final = 16
"""Readers kept open at once; one store serves this many searching threads without waiting."""
POLL_SECONDS: Final = 0.001


class Readers:
    """Connections that wait, and tokens of the transactions that hold a place.

    A place belongs to a token that its holder made beforehand, so that an exception which strikes
    at any moment, such as an interrupt, cannot lose it: ``lent.pop(token, None)`` in ``finally``
    is right wherever taking it stopped, and cannot be stopped itself.
    """

    def __init__(self) -> None:
        """Start without a connection."""
        self.lent: dict[object, apsw.Connection | None] = {}
        self._idle: list[apsw.Connection] = []
        self._lock = threading.Lock()

    def take(
        self, token: object, timeout_seconds: float, still_open: Callable[[], None]
    ) -> apsw.Connection | None:
        """Give a place to the token and return its connection; None when one is to be opened.

        ``still_open`` is called while waiting, and raises to give up. Raises StoreBusy when every
        place stays taken.
        """
        deadline = time.monotonic() + timeout_seconds
        while not self._granted(token):
            still_open()
            if time.monotonic() >= deadline:
                raise StoreBusy(f"all {MAX_READERS} readers are in use; try again")
            time.sleep(POLL_SECONDS)
        return self.lent[token]

    def _granted(self, token: object) -> bool:
        with self._lock:
            if len(self.lent) >= MAX_READERS:
                return False
            self.lent[token] = self._idle.pop() if self._idle else None
            return True

    def put(self, connection: apsw.Connection) -> bool:
        """Keep a connection for later; False when enough of them wait already."""
        with self._lock:
            if len(self._idle) >= MAX_READERS:
                return False
            self._idle.append(connection)
            return True

    def drain(self) -> list[apsw.Connection]:
        """Return the connections that wait, and keep none."""
        with self._lock:
            waiting, self._idle = self._idle, []
            return waiting
