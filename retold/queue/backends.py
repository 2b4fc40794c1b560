"""Queues that need no file: one that rings nothing, and one that works in this process."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence

logger = logging.getLogger(__name__)

Job = Callable[[str], object]
"""Work on one session; what it raises is logged by its class, and the session stays due."""


Due = Callable[[], Sequence[str]]
"""Sessions that wait in the store and that nobody works on, longest waiting first."""

Pause = Callable[[], float | None]
"""Seconds until another session is due, None when none will be by itself."""

LONGEST_PAUSE_SECONDS = 60.0
"""A pause may end earlier than it seemed: somebody put a session back on the list."""


def _no_pause() -> float | None:
    return None


class NoQueue:
    """Ring nothing. A requested session stays due in the store until workers look for it."""

    def request_extraction(self, session_id: str) -> None:
        """Do nothing; ``sessions.extraction_requested_at`` already records the wish."""


class ThreadQueue:
    """Work on announced sessions in this process, one after the other, on a thread of its own.

    The thread lives only while there is something to do. A session that is announced again while
    it waits is worked on once. After the announced ones it looks for others that are due: those
    that an earlier process left, whose announcement was lost, or that failed and are to be tried
    again, for which it waits.
    """

    def __init__(
        self, job: Job, *, max_pending: int, due: Due = tuple, pause: Pause = _no_pause
    ) -> None:
        """Take the work; beyond ``max_pending`` waiting sessions an announcement is dropped."""
        self._job = job
        self._due = due
        self._pause = pause
        self._max_pending = max_pending
        self._lock = threading.Condition()
        self._waiting: deque[str] = deque()
        self._thread: threading.Thread | None = None
        self._closed = False

    def request_extraction(self, session_id: str) -> None:
        """Let the thread work on a session. Never raises and never waits for the work."""
        with self._lock:
            if self._closed or session_id in self._waiting:
                return
            if len(self._waiting) >= self._max_pending:
                logger.warning("too many sessions wait", extra={"session_id": session_id})
                return
            self._waiting.append(session_id)
            self._lock.notify()
            if self._thread is not None and self._thread.is_alive():
                return
            thread = threading.Thread(target=self._work, name="retold-extraction", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no more threads, or the interpreter is going down
                self._waiting.clear()
                logger.warning("no thread to work on", extra={"session_id": session_id})
                return
            self._thread = thread

    def close(self, timeout_seconds: float) -> bool:
        """Take nothing more, forget what waits, and wait for the session that is worked on.

        Returns whether it ended within the time; what was not done stays due in the store.
        """
        with self._lock:
            self._closed = True
            self._waiting.clear()
            self._lock.notify()
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout_seconds)
        return not thread.is_alive()

    def _work(self) -> None:
        tried: set[str] = set()
        while (session_id := self._next(tried)) is not None:
            tried.add(session_id)
            try:
                self._job(session_id)
            except Exception as error:  # whatever it was, the next session has its turn
                logger.warning(
                    "a session was not worked on and stays due in the store",
                    extra={"session_id": session_id, "error": type(error).__name__},
                )

    def _next(self, tried: set[str]) -> str | None:
        """Return what is announced, else what is due; None ends the thread.

        What was tried and is due at once again, as after a claim that ended by itself, is left to
        the next pause.
        """
        while True:
            with self._lock:
                if self._waiting:
                    return self._waiting.popleft()
            left, pause = self._look(tried)
            with self._lock:
                if self._waiting:
                    return self._waiting.popleft()
                if left is not None and not self._closed:
                    return left
                if pause is None or self._closed:
                    # Under the lock: an announcement that comes now starts a thread of its own.
                    self._thread = None
                    return None
                self._lock.wait(min(pause, LONGEST_PAUSE_SECONDS))
            tried.clear()

    def _look(self, tried: set[str]) -> tuple[str | None, float | None]:
        """Return a session that is due and was not tried, and the pause when there is none."""
        if self._closed:
            return None, None
        try:
            left = next((one for one in self._due() if one not in tried), None)
            return left, self._pause() if left is None else None
        except Exception as error:  # it is asked again with the next announcement
            logger.warning("could not look what is due", extra={"error": type(error).__name__})
            return None, None
