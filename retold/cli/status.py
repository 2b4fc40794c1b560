"""``retold status``: what is in a store and which models serve it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from retold.cli.document import echo_document
from retold.cli.opening import opened_store
from retold.cli.options import GlobalOptions, global_options
from retold.cli.text import clean, count, heading, labelled, size, table
from retold.operations.status import StoreStatus, store_status


@click.command()
@global_options
@click.pass_obj
def status(options: GlobalOptions) -> None:
    """Show what the store holds and which models serve it, loading none."""
    with opened_store(options) as (store, chosen):
        state = store_status(store, chosen.config, chosen.configured)
    if options.as_json:
        echo_document(state)
    else:
        click.echo("\n".join(status_lines(state)))


def status_lines(state: StoreStatus) -> Iterator[str]:
    """Yield the lines for people."""
    wal = f", log {size(state.files.wal)}" if state.files.wal else ""
    yield from labelled("store", clean(state.path))
    made = f", made {_minute(state.created_at)}" if state.created_at else ""
    yield from labelled(
        "file", f"schema {state.schema_version}, {size(state.files.store)}{wal}{made}"
    )
    yield from labelled(
        "settings", f"{state.configured}; the store was made with {state.profile or 'no profile'}"
    )
    embedder = state.embedder
    pinned = f", weights sha256 {embedder.sha256}" if embedder.sha256 else ""
    yield from labelled(
        "embedder", f"{embedder.name} ({embedder.version}), {embedder.dims} dims{pinned}"
    )
    yield from labelled("judge", state.judge)
    reason = f": {state.dense.reason}" if state.dense.reason else ""
    named = ", some without the name of whom they are about" if state.dense.text == "mixed" else ""
    stored = f"{count(state.dense.vectors, 'vector')} stored{named}"
    yield from labelled("vectors", f"{state.dense.state}{reason}; {stored}")
    if state.single_words.missing:
        lacking = count(state.single_words.missing, "record")
        yield from labelled(
            "",
            f"{lacking} without token vectors, which retrieval.late_interaction ranks by: run "
            "`retold token-vectors`",
        )
    yield from _contents(state)
    yield from _events(state)


def _contents(state: StoreStatus) -> Iterator[str]:
    total = sum(sum(of_type.values()) for of_type in state.records.values())
    yield from labelled("records", str(total))
    for type_, counts in state.records.items():
        shown = ", ".join(f"{number:,} {name}" for name, number in counts.items())
        yield from labelled("", f"{type_}: {shown}")
    if state.unresolved_migration_issues:
        waiting = count(state.unresolved_migration_issues, "record")
        yield from labelled("", f"{waiting} without a subject: run `retold migrate`")
    sessions = state.sessions
    yield from labelled(
        "sessions",
        f"{sessions.total:,} with {count(state.turns, 'turn')}; {sessions.open:,} open, "
        f"{sessions.waiting:,} waiting for extraction",
    )
    last = f", the last {_minute(state.last_search_at)}" if state.last_search_at else ""
    yield from labelled("searches", f"{state.searches:,} logged{last}")
    if state.scopes:
        yield ""
        yield heading("scopes, the fullest first")
        rows = [(f"{one.active:,}", f"{one.total:,}", clean(one.scope)) for one in state.scopes]
        yield from table(("active", "all", "scope"), rows, right=(0, 1))
        more = state.scopes_total - len(state.scopes)
        if more:
            yield f"and {more:,} more"


def _events(state: StoreStatus) -> Iterator[str]:
    if not state.last_events:
        return
    yield ""
    yield heading("last events, the newest first")
    rows = [
        (str(one.seq), _minute(one.at), clean(one.kind), clean(one.actor))
        for one in state.last_events
    ]
    yield from table(("#", "at", "kind", "by"), rows, right=(0,))


def _minute(moment: object) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
