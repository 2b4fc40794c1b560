"""``retold token-vectors``: fill in what ranking by single words needs, or remove it."""

from __future__ import annotations

from typing import Final

import click

from retold.cli.document import echo_document
from retold.cli.maintaining import shown_progress
from retold.cli.opening import hide_bars, opened_store
from retold.cli.options import GlobalOptions, global_options
from retold.cli.text import count, labelled, size
from retold.index.embedder import embedder_from_config
from retold.operations.fitting import require_fitting
from retold.operations.maintenance.token_vectors import drop_token_vectors, fill_token_vectors

_STILL_ON: Final = (
    "retrieval.late_interaction is on in these settings: records written from now on get token "
    "vectors again; set retrieval.late_interaction.enabled: false to end that"
)


@click.command("token-vectors")
@click.option("--drop", is_flag=True, help="Remove the token vectors of every record instead.")
@global_options
@click.pass_obj
def token_vectors(options: GlobalOptions, *, drop: bool) -> None:
    """Fill in the token vectors of records that were written without them.

    Searches rank by them where retrieval.late_interaction is on, and records without them keep
    their scores meanwhile. Interrupted or not, the same command goes on, and a second run finds
    nothing to do. With --drop they go, for a store that does not rank by them any more; the file
    keeps its size and uses the room again.
    """
    with opened_store(options) as (store, chosen):
        if drop:
            outcome = drop_token_vectors(store)
            if chosen.config.retrieval.late_interaction.enabled:
                click.echo(_STILL_ON, err=True)
        else:
            require_fitting(store, chosen.applied)
            hide_bars(chosen.config)
            embedder = embedder_from_config(chosen.config.embedding)
            with shown_progress("filled in", "record") as report:
                outcome = fill_token_vectors(store, embedder, report=report)
    if options.as_json:
        echo_document(outcome)
        return
    lines = labelled("dropped" if drop else "filled in", count(outcome.changed, "record"))
    lines += labelled("held", f"{count(outcome.records, 'record')}, {size(outcome.bytes)}")
    click.echo("\n".join(lines))
