"""Ring the queue of the workers so that nothing it does reaches a conversation."""

from __future__ import annotations

import logging
import threading

from retold.protocols import JobQueue

logger = logging.getLogger(__name__)


class Doorbell:
    """Announce sessions to a queue that may fail or hang; the store holds the to-do list.

    A ring that outlives its time is left to itself. Until it ends no other is tried, so that a
    hanging queue holds one thread, however many conversations end.
    """

    def __init__(self, queue: JobQueue, timeout_ms: int) -> None:
        """Take the queue and the longest wait for one ring."""
        self._queue = queue
        self._timeout_seconds = timeout_ms / 1000
        self._lock = threading.Lock()
        self._hanging: threading.Thread | None = None

    def ring(self, session_id: str) -> None:
        """Announce that a session waits for extraction. Never raises; waits for the timeout."""
        with self._lock:
            if self._hanging is not None and self._hanging.is_alive():
                logger.warning("the queue still hangs", extra={"session_id": session_id})
                return
            self._hanging = None
        ringing = threading.Thread(
            target=self._announce, args=(session_id,), name="retold-doorbell", daemon=True
        )
        try:
            ringing.start()
        except RuntimeError:  # no more threads, or the interpreter is going down
            logger.warning("the queue was not rung", extra={"session_id": session_id})
            return
        ringing.join(self._timeout_seconds)
        if ringing.is_alive():
            with self._lock:
                self._hanging = ringing
            logger.warning("the queue hangs", extra={"session_id": session_id})

    def _announce(self, session_id: str) -> None:
        try:
            self._queue.request_extraction(session_id)
        except Exception as error:
            logger.warning(
                "the queue refused a session, which stays due in the store",
                extra={"session_id": session_id, "error": type(error).__name__},
            )
