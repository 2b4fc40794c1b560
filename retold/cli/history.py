"""``retold history``: every version of one claim."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import click

from retold.cli.document import echo_document, plain
from retold.cli.options import GlobalOptions, Moment, global_options
from retold.cli.reading import no_record, opened_reading
from retold.cli.record_text import Document, minute, view_lines
from retold.cli.text import labelled
from retold.errors import NotFound
from retold.retrieve import lookup


@click.command()
@click.argument("record_id", metavar="ID")
@click.option("--known-at", type=Moment(), help="Show what the store held then.")
@global_options
@click.pass_obj
def history(options: GlobalOptions, *, record_id: str, known_at: datetime | None) -> None:
    """Show every version of the claim that a record belongs to, the oldest first."""
    with opened_reading(options) as reading:
        try:
            versions = lookup.history(reading.tx, reading.reader, record_id, known_at=known_at)
        except NotFound:
            raise NotFound(no_record([record_id])) from None
    if options.as_json:
        echo_document({"versions": versions})
    else:
        click.echo("\n".join(line for view in plain(versions) for line in _version(view)))


def _version(view: Document) -> Iterator[str]:
    yield from view_lines(str(view["version"]), view)
    closed = "" if view["closed_at"] is None else f" to {minute(view['closed_at'])}"
    since = "" if closed else "since "
    yield from labelled("", f"believed {since}{minute(view['created_at'])}{closed}", indent=4)
