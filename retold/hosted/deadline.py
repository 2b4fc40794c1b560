"""A call that is waited for no longer than it may take."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from retold.errors import LocalLimit

Answer = TypeVar("Answer")


def within(seconds: float, call: Callable[[], Answer]) -> Answer | None:
    """Return what ``call`` returns, or None when it takes longer.

    The call runs on a daemon thread of its own and is left to end by itself: looking a name up
    or a TLS handshake cannot be interrupted. What it raises is raised here.
    Raises LocalLimit when no thread can be started.
    """
    answer: Future[Answer] = Future()

    def run() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # handed to whoever waits
            answer.set_exception(error)

    try:
        threading.Thread(target=run, name="retold-hosted", daemon=True).start()
    except RuntimeError:
        raise LocalLimit("no thread could be started for a hosted call; try again later") from None
    try:
        return answer.result(max(0.0, seconds))
    except TimeoutError:
        if answer.done():
            raise
        return None
