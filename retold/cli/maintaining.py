"""What the commands that run a job of the maintenance share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from retold.cli.progress import Progress
from retold.cli.text import count
from retold.operations.maintenance.batches import JobProgress, Report


@contextmanager
def shown_progress(verb: str, noun: str) -> Iterator[Report]:
    """Yield what reports a job's progress on standard error while it runs."""
    shown = Progress(verb)

    def report(state: JobProgress) -> None:
        shown.show(count(state.done, noun), state.done / state.total if state.total else None)

    try:
        yield report
    finally:
        shown.end()
