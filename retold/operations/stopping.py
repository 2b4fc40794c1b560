"""What a request to stop is, however many signals it took to arrive."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

STOPS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""The signals that ask to stop: of a supervisor, of Ctrl-C, and of a terminal that was closed."""

AT_ONCE: Final = signal.SIGUSR1
"""Sent by a process to those it started, and by nobody else: do not wait for what is running."""

Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None

ONE_REQUEST_SECONDS: Final = 1.0
"""Signals within this time are one request: what signals a whole group of processes may reach one
of them twice, directly and passed on by what started it."""


class StopRequests:
    """Tell who insists from who was heard twice. Safe in a signal handler."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Take what tells the time, in seconds."""
        self._clock = clock
        self._first_at: float | None = None

    def note(self) -> bool:
        """Note a signal; return whether it asks for the second time."""
        now = self._clock()
        if self._first_at is None:
            self._first_at = now
        return now - self._first_at > ONE_REQUEST_SECONDS


def listen(handler: Callable[[int, object], None]) -> dict[int, Handler]:
    """Handle every request to stop; return what handled the signals before.

    A SIGHUP that is ignored, as under nohup, stays ignored.
    """
    heard = [each for each in STOPS if not _is_ignored_hangup(each)]
    return {each: signal.signal(each, handler) for each in heard}


def _is_ignored_hangup(number: int) -> bool:
    return number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
