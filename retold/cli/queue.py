"""``retold queue``: the files that announce work."""

from __future__ import annotations

import click

from retold.cli.document import echo_document
from retold.cli.opening import opened_store
from retold.cli.options import GlobalOptions, global_options
from retold.cli.text import clean, labelled
from retold.queue import QUEUES, queue_path, reset_queue


@click.group(invoke_without_command=True)
@global_options
@click.pass_context
def queue(context: click.Context) -> None:
    """Look after the queue files."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@queue.command(short_help="Move the queue files aside; nothing is lost.")
@click.argument("name", required=False, type=click.Choice(QUEUES), metavar="[QUEUE]")
@global_options
@click.pass_obj
def reset(options: GlobalOptions, name: str | None) -> None:
    """Move the files of QUEUE, or of both, aside under a name with the moment.

    Workers that run make new files, and the sweep announces again what is due: the to-do list is
    in the store. What was moved can be deleted.
    """
    label = f"reset-{options.sources.clock():%Y%m%dT%H%M%SZ}"
    with opened_store(options) as (store, settings):
        files = [
            queue_path(store.path, settings.config.queue.directory, each)
            for each in QUEUES
            if name in (None, each)
        ]
    moved = [(file, reset_queue(file, label)) for file in files]
    if options.as_json:
        rows = [{"file": str(file), "moved_to": aside and str(aside)} for file, aside in moved]
        echo_document({"queues": rows})
        return
    for file, aside in moved:
        told = "there was none" if aside is None else f"now {clean(aside.name)}"
        click.echo("\n".join(labelled("queue", f"{clean(file.name)}: {told}")))
