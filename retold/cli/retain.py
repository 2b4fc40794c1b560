"""``retold retain``: take away what was to be kept for a while only."""

from __future__ import annotations

from collections.abc import Iterator

import click

from retold.cli.document import echo_document
from retold.cli.exits import DONE, PENDING
from retold.cli.maintaining import shown_progress
from retold.cli.opening import opened_store
from retold.cli.options import GlobalOptions, global_options
from retold.cli.text import count, labelled, table
from retold.operations.maintenance.retain import RetainOutcome, preview_retain
from retold.operations.maintenance.retain import retain as retain_store


@click.command()
@click.option("--dry-run", is_flag=True, help="Only count what would go.")
@global_options
@click.pass_obj
def retain(options: GlobalOptions, *, dry_run: bool) -> int:
    """Blank old transcripts and event payloads, and remove old rows of the logs.

    What goes is overwritten and cannot be had back; records and their quotes stay. Interrupted or
    not, the same command goes on, and a second run finds nothing to do. Exits with 5 while a
    reader keeps what was removed in the write-ahead log.
    """
    with opened_store(options) as (store, chosen):
        if dry_run:
            outcome = preview_retain(store, chosen.config)
        else:
            with shown_progress("removed", "row") as report:
                outcome = retain_store(store, chosen.config, actor=options.actor, report=report)
    if options.as_json:
        echo_document(outcome)
    else:
        click.echo("\n".join(retained_lines(outcome)))
    if outcome.log is not None and not outcome.log.emptied:
        click.echo(
            "retold: a reader keeps earlier pages in the log of the store; "
            "run the command again when it has left",
            err=True,
        )
        return PENDING
    return DONE


def retained_lines(outcome: RetainOutcome) -> Iterator[str]:
    """Yield the lines for people."""
    removed, cutoffs = outcome.removed, outcome.cutoffs
    if removed.anything:
        yield from labelled("would go" if outcome.dry_run else "removed", "what is counted here")
    else:
        yield from labelled("nothing", "has been kept for long enough to go")
    transcripts = f"of sessions ended before {cutoffs.transcripts:%Y-%m-%d %H:%M} UTC"
    logs = f"from before {cutoffs.logs:%Y-%m-%d %H:%M} UTC"
    rows = (
        (removed.turns, f"words of turns {transcripts}"),
        (removed.rejections, f"rejected candidates {transcripts}"),
        (removed.searches, f"rows of the search log {logs}"),
        (removed.decisions, f"decisions about turns {logs}"),
        (removed.payloads, f"payloads of events {logs}"),
    )
    yield from table(
        ("count", "what"), [(f"{number:,}", what) for number, what in rows], right=(0,)
    )
    if outcome.waiting_sessions:
        waiting = count(outcome.waiting_sessions, "session")
        yield from labelled("kept", f"the words of {waiting} as old, which nobody extracted")
    if outcome.resumed:
        yield from labelled("resumed", "a run that was interrupted is counted too")
