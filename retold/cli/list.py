"""``retold list``: the newest records, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from retold.cli.document import echo_document, plain
from retold.cli.options import GlobalOptions, global_options
from retold.cli.reading import opened_reading, record_filters
from retold.cli.record_text import Document, view_lines
from retold.cli.text import labelled
from retold.models import ACTIVE_STATUSES, RECORD_STATUSES, Scope
from retold.retrieve import lookup
from retold.text import MAX_PAGE


@click.command()
@record_filters
@click.option(
    "--status", "statuses", multiple=True, type=click.Choice(RECORD_STATUSES), help="Only these."
)
@click.option(
    "--limit",
    type=click.IntRange(1, MAX_PAGE),
    default=20,
    show_default=True,
    help="Most records.",
)
@click.option("--after", metavar="ID", help="Go on after this record.")
@global_options
@click.pass_obj
def list(
    options: GlobalOptions,
    *,
    scope: Scope | None,
    types: tuple[Any, ...],
    statuses: tuple[Any, ...],
    limit: int,
    after: str | None,
) -> None:
    """List records, the newest first: the active ones, or those of a --status."""
    with opened_reading(options) as reading:
        reading.require(scope)
        page = lookup.list_page(
            reading.tx,
            reading.reader,
            scope=scope,
            types=types or None,
            statuses=statuses or ACTIVE_STATUSES,
            after=after,
            limit=limit,
        )
    if options.as_json:
        echo_document(page)
    else:
        click.echo("\n".join(page_lines(plain(page), is_first=after is None)))


def page_lines(page: Document, *, is_first: bool) -> Iterator[str]:
    """Yield the lines for people; ``is_first`` unless the page goes on after a record."""
    if not page["records"] and not is_first:
        yield from labelled("nothing", "comes after that record, or there is no such record")
    elif not page["records"]:
        yield from labelled("nothing", "no such record; --status superseded shows replaced ones")
    for number, view in enumerate(page["records"], start=1):
        yield from view_lines(str(number), view)
    if page["next_after"] is not None:
        yield ""
        yield from labelled("more", f"the same with --after {page['next_after']}")
