"""Save the write-ahead log into the file, and say what a reader kept in it."""

from __future__ import annotations

from dataclasses import dataclass

import apsw


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far the log was saved.

    ``pages`` were in the log and ``saved`` of them are in the file now; the others are pinned by a
    reader that began before them. ``emptied`` says that the log is empty: until then it may hold
    earlier states of pages, what was removed since included.
    """

    pages: int
    saved: int
    emptied: bool

    @property
    def pinned(self) -> int:
        """Return how many pages only the log has."""
        return self.pages - self.saved


def save_log(connection: apsw.Connection, max_wait_ms: int) -> Checkpoint:
    """Save what no reader pins, then empty the log if that takes no longer than the wait.

    The first step holds up nobody. The second keeps writers out while it waits for readers.
    """
    try:
        pages, saved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.BusyError:
        # Another connection is saving the log at this moment.
        return Checkpoint(0, 0, emptied=False)
    if saved < pages:
        return Checkpoint(pages, saved, emptied=False)
    connection.set_busy_timeout(max_wait_ms)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return Checkpoint(pages, saved, emptied=False)
    return Checkpoint(pages, saved, emptied=True)
