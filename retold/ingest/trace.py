"""What a write did and how long each step took."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal, get_args

from retold.store import Transaction
from retold.util import Timer

WriteStage = Literal[
    "permission",
    "evidence",
    "entities",
    "embed",
    "dedup_search",
    "judge",
    "supersession",
    "persistence",
    "event_log",
    "transaction",
    "index_update",
]
WRITE_STAGES: tuple[WriteStage, ...] = get_args(WriteStage)
AFTER_EVENT: tuple[WriteStage, ...] = ("event_log", "transaction", "index_update")
"""Stages an event cannot time because they end after it was written."""


class WriteTrace:
    """The stages and notes of one write; the only mutable object of a write."""

    def __init__(self, timer: Timer | None = None) -> None:
        """Start the clock."""
        self._timer = timer or Timer()
        self.notes: list[str] = []

    def stage(self, name: WriteStage) -> AbstractContextManager[None]:
        """Time a stage; entering one again adds to it."""
        return self._timer.stage(name)

    def watch_commit(self, tx: Transaction, follow: Callable[[], None]) -> None:
        """Time COMMIT and what follows it; the last call in a transaction.

        ``follow`` registers the hooks that bring the index up to date.
        """
        began = self._timer.total_ms()

        def committed(version: int) -> None:
            nonlocal began
            now = self._timer.total_ms()
            self._timer.stages["transaction"], began = now - began, now

        def followed(version: int) -> None:
            self._timer.stages["index_update"] = self._timer.total_ms() - began

        tx.on_commit(committed)
        follow()
        tx.on_commit(followed)

    def note(self, text: str) -> None:
        """Add a note once."""
        if text not in self.notes:
            self.notes.append(text)

    def event_timings(self) -> dict[str, object]:
        """Return the stages so far, 0.0 for one that did not run, and those still to come."""
        spent = self._timer.stages
        before = [name for name in WRITE_STAGES if name not in AFTER_EVENT]
        done = {name: round(spent.get(name, 0.0), 3) for name in before}
        return {"timings_ms": done, "timings_pending": list(AFTER_EVENT)}

    def timings_ms(self) -> dict[str, float]:
        """Return every stage, 0.0 for one that did not run, and the total."""
        stages: dict[str, float] = {
            name: self._timer.stages.get(name, 0.0) for name in WRITE_STAGES
        }
        return {**stages, "total": self._timer.total_ms()}

    def note_text(self) -> str | None:
        """Return the notes in one line; None when there are none."""
        return "; ".join(self.notes) or None
