"""Save the write-ahead log into the store's file and empty it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from retold.store import Store
from retold.store.checkpoint import Checkpoint

MOST_WAIT_MS: Final = 20
"""Writers wait as long while the log is emptied; a reader of an ordinary search is done by then."""
ATTEMPTS: Final = 5
REST_SECONDS: Final = 0.05


def save_store(store: Store, *, sleep: Callable[[float], None] = time.sleep) -> Checkpoint:
    """Save the log as far as readers allow and return how far that was.

    Running it again is safe. What stays pinned goes as soon as its reader has left.
    """
    saved = store.checkpoint(max_wait_ms=MOST_WAIT_MS)
    for _ in range(ATTEMPTS - 1):
        if saved.emptied:
            break
        sleep(REST_SECONDS)
        saved = store.checkpoint(max_wait_ms=MOST_WAIT_MS)
    return saved
