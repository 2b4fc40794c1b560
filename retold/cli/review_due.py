"""``retold review-due``: ask for a second look at records whose time for it has come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from retold.cli.document import echo_document, plain
from retold.cli.exits import BACKLOG, DONE
from retold.cli.maintaining import shown_progress
from retold.cli.opening import opened_store
from retold.cli.options import GlobalOptions, global_options
from retold.cli.record_text import minute, record_lines
from retold.cli.text import count, labelled
from retold.models import Record
from retold.operations.maintenance.review_due import (
    BacklogState,
    ReviewDueOutcome,
    flag_due_reviews,
    list_due_reviews,
)
from retold.store import Store
from retold.store.reviews import OpenReview


@click.command("review-due")
@click.option("--list", "only_list", is_flag=True, help="Flag nothing; show the open reviews.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Most, in a list."
)
@click.option("--after", metavar="ID", help="Go on after this review of the page before.")
@global_options
@click.pass_obj
def review_due(options: GlobalOptions, *, only_list: bool, limit: int, after: str | None) -> int:
    """Flag records whose review is due, one batch at a time.

    Each is flagged once, as an open review; nothing else about it changes. Exits with 3 while more
    reviews are open, or for longer, than the settings `reviews` allow.
    """
    if after is not None and not only_list:
        raise click.UsageError("--after goes on with a list; pass --list too")
    with opened_store(options) as (store, chosen):
        if only_list:
            page, backlog = list_due_reviews(store, chosen.config, after=after, limit=limit)
            records = _records(store, [one.record_id for one in page])
            document = {"reviews": page, "backlog": backlog, "breached": backlog.is_breached}
            lines = [*_page_lines(page, records, limit), *_backlog_lines(backlog)]
        else:
            with shown_progress("flagged", "record") as report:
                outcome = flag_due_reviews(store, chosen.config, report=report)
            backlog = outcome.backlog
            records = _records(store, [one.record_id for one in outcome.flagged])
            document = {**plain(outcome), "breached": backlog.is_breached}
            lines = [*_flagged_lines(outcome, records), *_backlog_lines(backlog)]
    if options.as_json:
        echo_document(document)
    else:
        click.echo("\n".join(lines))
    if backlog.is_breached:
        click.echo(f"retold: the reviews pile up: {'; '.join(backlog.reasons)}", err=True)
        return BACKLOG
    return DONE


def _records(store: Store, record_ids: Sequence[str]) -> Mapping[str, Record]:
    with store.read() as tx:
        return tx.records.by_ids(record_ids)


def _page_lines(
    page: Sequence[OpenReview], records: Mapping[str, Record], limit: int
) -> Iterator[str]:
    for number, one in enumerate(page, start=1):
        yield from record_lines(str(number), plain(records[one.record_id]), [])
        yield from labelled("", f"review {one.id}, due {_due(one.payload)}", indent=4)
    if len(page) == limit:
        yield from labelled("more", f"the same with --after {page[-1].id}")


def _due(payload: Mapping[str, object]) -> str:
    return minute(str(payload["review_at"]))


def _flagged_lines(outcome: ReviewDueOutcome, records: Mapping[str, Record]) -> Iterator[str]:
    yield from labelled("flagged", count(len(outcome.flagged), "record"))
    for number, one in enumerate(outcome.flagged, start=1):
        yield from record_lines(str(number), plain(records[one.record_id]), [])
        yield from labelled("", f"due {minute(one.review_at.isoformat())}", indent=4)
    if outcome.waiting:
        yield from labelled("waiting", f"{count(outcome.waiting, 'record')} for the next run")
    if outcome.closed:
        closed = count(outcome.closed, "review")
        yield from labelled("closed", f"{closed} of records that are history by now")


def _backlog_lines(backlog: BacklogState) -> Iterator[str]:
    since = f", the oldest since {minute(backlog.oldest.isoformat())}" if backlog.oldest else ""
    yield from labelled("open", f"{count(backlog.open, 'review')}{since}")
