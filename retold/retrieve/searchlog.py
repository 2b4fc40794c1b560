"""Log rows reach the store at once, or follow from a bounded queue."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any, Literal

from retold.errors import StoreBusy
from retold.store import Store

logger = logging.getLogger(__name__)

LogOutcome = Literal["written", "deferred", "failed", "off"]
Row = Mapping[str, Any]

MAX_QUEUED_ROWS = 1000
"""A row holds some tens of kilobytes; beyond this a store that stays locked costs log rows."""
CLOSE_WAIT_MS = 5000
_DRAIN_WAIT_MS = 250


class SearchLogWriter:
    """Write search log rows on the store's log connection, never failing a search.

    ``write`` waits at most ``max_wait_ms`` for the lock. A row that cannot be written then is
    queued; a thread that lives only while there is a queue retries in order. ``close`` writes
    what is left.
    """

    def __init__(
        self, store: Store, max_wait_ms: int, *, max_queued: int = MAX_QUEUED_ROWS
    ) -> None:
        self._store = store
        self._max_wait_ms = max_wait_ms
        self._max_queued = max_queued
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._queue: deque[Row] = deque()
        self._drainer: threading.Thread | None = None
        self._closed = False

    @property
    def queued(self) -> int:
        """Return how many rows wait."""
        return len(self._queue)

    def write(self, row: Row) -> LogOutcome:
        """Store the row, or queue it behind those that wait already."""
        if self._store.read_only:
            return "off"
        if not self._queue:
            try:
                self._insert([row], self._max_wait_ms)
            except StoreBusy:
                return self._defer(row)
            except Exception as error:  # a failed log never fails a search
                return self._lost(error, 1)
            return "written"
        return self._defer(row)

    def flush(self, max_wait_ms: int = CLOSE_WAIT_MS) -> bool:
        """Write what waits; False when rows remain."""
        with self._flushing:
            with self._lock:
                rows = list(self._queue)
            if not rows:
                return True
            try:
                self._insert(rows, max_wait_ms)
            except StoreBusy:
                return False
            except Exception as error:  # the same rows would fail again
                self._lost(error, len(rows))
            with self._lock:
                for _ in rows:
                    self._queue.popleft()
            return True

    def close(self) -> None:
        """Write what waits and stop; rows that still find no lock are lost and counted."""
        with self._lock:
            self._closed = True
            drainer = self._drainer
        if drainer is not None:
            drainer.join(timeout=CLOSE_WAIT_MS / 1000)
        if not self.flush():
            logger.error("search log rows were lost", extra={"rows": self.queued})

    def _insert(self, rows: list[Row], max_wait_ms: int) -> None:
        with self._store.write_log(max_wait_ms) as tx:
            for row in rows:
                tx.search_log.insert(row)

    def _defer(self, row: Row) -> LogOutcome:
        with self._lock:
            if self._closed or len(self._queue) >= self._max_queued:
                logger.error("a search log row was lost", extra={"queued": self.queued})
                return "failed"
            self._queue.append(row)
            if self._drainer is None:
                self._drainer = threading.Thread(
                    target=self._drain, name="retold-search-log", daemon=True
                )
                self._drainer.start()
        return "deferred"

    def _drain(self) -> None:
        """Retry until the queue is empty or the writer closes."""
        while True:
            with self._lock:
                if self._closed or not self._queue:
                    self._drainer = None
                    return
            self.flush(_DRAIN_WAIT_MS)

    def _lost(self, error: Exception, rows: int) -> LogOutcome:
        logger.error("the search log failed", extra={"error": type(error).__name__, "rows": rows})
        return "failed"
