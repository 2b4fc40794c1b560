"""``retold expire``: close the records whose time is over."""

from __future__ import annotations

import click

from retold.cli.document import echo_document
from retold.cli.maintaining import shown_progress
from retold.cli.opening import opened_store
from retold.cli.options import GlobalOptions, global_options
from retold.cli.text import count, labelled
from retold.operations.maintenance.expire import expire_records


@click.command()
@global_options
@click.pass_obj
def expire(options: GlobalOptions) -> None:
    """Mark every active record past its expiry as expired, with one event each.

    Searches hide such records already; this makes the file say so too. Interrupted or not, the
    same command goes on, and a second run finds nothing to do.
    """
    with opened_store(options) as (store, _), shown_progress("expired", "record") as report:
        outcome = expire_records(store, actor=options.actor, report=report)
    if options.as_json:
        echo_document(outcome)
        return
    lines = labelled("expired", count(outcome.expired, "record"))
    if outcome.resumed:
        lines += labelled("resumed", "a run that was interrupted is counted too")
    click.echo("\n".join(lines))
