"""``retold migrate``: bring a store to the present schema and decide about what did not fit."""

from __future__ import annotations

from collections.abc import Iterator

import click

from retold.cli.document import echo_document
from retold.cli.exits import DONE, REFUSED
from retold.cli.opening import settings, store_path
from retold.cli.options import GlobalOptions, global_options
from retold.cli.text import clean, count, labelled, table
from retold.operations.migration import MigrationOutcome, Unmapped, migrate_store


@click.command()
@click.option("--expire-unmapped", is_flag=True, help="Expire records without a subject.")
@click.option("--allow-unmapped", is_flag=True, help="Keep records without a subject active.")
@global_options
@click.pass_obj
def migrate(options: GlobalOptions, *, expire_unmapped: bool, allow_unmapped: bool) -> int:
    """Bring the store to the present schema.

    Lists the records that could not be given one subject, and exits with 2 while any wait for
    a decision.
    """
    if expire_unmapped and allow_unmapped:
        raise click.UsageError("pass --expire-unmapped or --allow-unmapped, not both")
    unmapped: Unmapped = "list"
    if expire_unmapped or allow_unmapped:
        unmapped = "expire" if expire_unmapped else "allow"
    outcome = migrate_store(
        store_path(options),
        busy_timeout_seconds=settings(options, None).config.store.busy_timeout_seconds,
        unmapped=unmapped,
        actor=options.actor,
    )
    if options.as_json:
        echo_document(outcome)
    else:
        click.echo("\n".join(migration_lines(outcome)))
    if outcome.unresolved:
        waiting = count(len(outcome.unresolved), "record")
        click.echo(
            f"retold: {waiting} without a subject; decide with --expire-unmapped or "
            "--allow-unmapped",
            err=True,
        )
        return REFUSED
    return DONE


def migration_lines(outcome: MigrationOutcome) -> Iterator[str]:
    """Yield the lines for people."""
    report = outcome.report
    if report.from_version == report.to_version:
        done = f"has schema {report.to_version} already"
    else:
        done = f"migrated from schema {report.from_version} to {report.to_version}"
    yield from labelled("store", f"{clean(outcome.path)} {done}")
    if report.rows:
        shown = ", ".join(f"{number:,} {name}" for name, number in report.rows.items())
        yield from labelled("carried", shown)
    if report.naive_timestamps:
        moments = count(report.naive_timestamps, "moment")
        yield from labelled("times", f"{moments} without an offset taken as UTC")
    if outcome.expired:
        yield from labelled("expired", count(outcome.expired, "record"))
    if outcome.acknowledged:
        yield from labelled("kept", count(outcome.acknowledged, "record"))
    if outcome.unresolved:
        rows = [
            (one.record_id, one.type, one.reason, clean(str(one.scope)))
            for one in outcome.unresolved
        ]
        yield from table(("record without a subject", "type", "reason", "scope"), rows)
