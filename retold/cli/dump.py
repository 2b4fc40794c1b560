"""``retold dump``: records as JSON lines, however many there are."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

import click

from retold.cli.document import json_text, plain
from retold.cli.options import GlobalOptions, global_options
from retold.cli.progress import Progress
from retold.cli.reading import opened_reading, record_filters
from retold.cli.text import count
from retold.models import ACTIVE_STATUSES, RecordStatus, Scope
from retold.retrieve import lookup

HISTORY: Final[tuple[RecordStatus, ...]] = (*ACTIVE_STATUSES, "superseded", "expired")
_NEWS: Final = 1000
"""After how many records there is something to say about the progress."""


@click.command()
@record_filters
@click.option("--history", is_flag=True, help="Include superseded and expired records.")
@global_options
@click.pass_obj
def dump(
    options: GlobalOptions, *, scope: Scope | None, types: tuple[Any, ...], history: bool
) -> None:
    """Print active records as JSON lines, in the order they were stored.

    With --as AGENT/USER those that the agent may read for the user. Standard error says what was
    left out.
    """
    statuses = HISTORY if history else ACTIVE_STATUSES
    beside_a_terminal = sys.stdout is not None and sys.stdout.isatty()
    with opened_reading(options) as reading:
        reading.require(scope)
        chosen: dict[str, Any] = {"scope": scope, "types": types or None}
        counts = lookup.status_counts(reading.tx, reading.reader, **chosen)
        total = sum(counts.get(status, 0) for status in statuses)
        views = lookup.walk(reading.tx, reading.reader, **chosen, statuses=statuses)
        progress = Progress("dumped")
        try:
            for number, view in enumerate(views, start=1):
                click.echo(json_text(plain(view)))
                if number % _NEWS == 0 and not beside_a_terminal:
                    progress.show(f"{number:,} of {total:,} records", number / total)
        finally:
            progress.end()
    if sys.stdout is not None:
        sys.stdout.flush()
    click.echo(f"retold: {dumped(counts, statuses)}", err=True)


def dumped(counts: Mapping[RecordStatus, int], statuses: tuple[RecordStatus, ...]) -> str:
    """Return how many records were printed and what a dump leaves out."""
    printed = sum(counts.get(status, 0) for status in statuses)
    names = {"deleted": "forgotten"}
    rest = {name: number for name, number in counts.items() if name not in statuses}
    left_out = ", ".join(f"{number:,} {names.get(name, name)}" for name, number in rest.items())
    hint = " (--history adds these)" if set(rest) - {"deleted"} else ""
    records = f"{left_out}{hint}, and" if left_out else "only"
    return (
        f"{count(printed, 'record')}; left out: {records} transcripts, vectors, entities, grants "
        "and events"
    )
