"""``retold get``: full records by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import click

from retold.cli.document import echo_document, plain
from retold.cli.exits import DONE, REFUSED
from retold.cli.options import GlobalOptions, global_options
from retold.cli.reading import Reading, no_record, opened_reading
from retold.cli.record_text import full_lines
from retold.errors import NotFound
from retold.retrieve import lookup
from retold.store import Transaction


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@global_options
@click.pass_obj
def get(options: GlobalOptions, *, ids: tuple[str, ...]) -> int:
    """Print full records with their lineage and events.

    An agent's own view, with --as AGENT/USER, has no events, no observations and no names of
    entities: they may name others.
    """
    with opened_reading(options) as reading:
        found = records_document(reading, ids)
    if not found["records"]:
        raise NotFound(no_record(found["missing"]))
    if options.as_json:
        echo_document(found)
    else:
        blocks = ["\n".join(full_lines(view)) for view in found["records"]]
        click.echo("\n\n".join(blocks))
    if not found["missing"]:
        return DONE
    click.echo(f"retold: {no_record(found['missing'])}", err=True)
    return REFUSED


def records_document(reading: Reading, ids: tuple[str, ...]) -> dict[str, Any]:
    """Return the readable records as JSON types, and the ids of which there is nothing to tell."""
    looked_up = lookup.get(reading.tx, reading.reader, ids)
    records = [plain(view) for view in looked_up.found]
    if reading.by_operator:
        rows = reading.tx.records.by_ids(view["id"] for view in records)
        for view in records:
            observations = reading.tx.evidence.list_for(rows[view["id"]].seq)
            if view["tombstone"]:  # what is forgotten is not quoted either
                observations = [replace(one, quote=None) for one in observations]
            view["entities"] = list(_named(reading.tx, view["entity_ids"]))
            view["observations"] = plain(observations)
            view["events"] = plain(reading.tx.events.list_for_record(view["id"]))
    return {"records": records, "missing": list(looked_up.missing)}


def _named(tx: Transaction, entity_ids: Iterable[str]) -> Iterator[dict[str, str]]:
    for entity in map(tx.entities.get, entity_ids):
        if entity is not None:
            yield {"id": entity.id, "kind": entity.kind, "name": entity.canonical}
