"""``retold workers``: whether the work in the background goes on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import click

from retold.cli.document import echo_document
from retold.cli.exits import DONE, PENDING, UNHEALTHY
from retold.cli.opening import opened_store, require_huey
from retold.cli.options import GlobalOptions, global_options
from retold.cli.text import clean, count, labelled, table
from retold.operations.worker_health import QueueHealth, WorkersHealth, workers_health


@click.group(invoke_without_command=True)
@global_options
@click.pass_context
def workers(context: click.Context) -> None:
    """Look after the workers."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@workers.command(short_help="Say whether the workers work, and what to do if not.")
@global_options
@click.pass_obj
def health(options: GlobalOptions) -> int:
    """Look at queue files, signs of life and the to-do list.

    A sign of life is written by a task that came through the queue. The exit code is 6 when
    somebody has to look now, as when sessions wait for a key, and 5 when sessions were set aside
    or have been waiting for long.
    """
    with opened_store(options) as (store, settings):
        require_huey(settings)
        found = workers_health(store, settings.config)
    if options.as_json:
        echo_document(found)
    else:
        click.echo("\n".join(_lines(found)))
    if found.problems:
        return UNHEALTHY
    return PENDING if found.notices else DONE


def _lines(found: WorkersHealth) -> Iterator[str]:
    rows = [_row(each, found.at) for each in found.queues]
    yield from table(("queue", "pending", "sign of life", "file"), rows, right=(1,))
    backlog = found.backlog
    yield from labelled(
        "sessions",
        f"{backlog.waiting} waiting, {backlog.claimed} being worked on, {backlog.failed} set aside",
    )
    for text in found.problems:
        yield from labelled("problem", clean(text))
    for text in found.notices:
        yield from labelled("notice", clean(text))
    if not found.problems and not found.notices:
        yield from labelled("health", "the work in the background goes on")


def _row(each: QueueHealth, now: datetime) -> tuple[str, str, str, str]:
    pending = "" if each.state.pending is None else str(each.state.pending)
    beat = each.heartbeat
    seconds = None if beat is None else (now - beat.at) // timedelta(seconds=1)
    seen = "never" if seconds is None else f"{count(seconds, 'second')} ago"
    return each.state.name, pending, seen, clean(each.state.path.rpartition("/")[2])
