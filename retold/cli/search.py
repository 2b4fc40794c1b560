"""``retold search``: one search with the reasons for every result and its log row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from retold.cli.document import echo_document, plain
from retold.cli.exits import DONE, PENDING
from retold.cli.opening import opened_for_search
from retold.cli.options import GlobalOptions, Moment, global_options
from retold.models import MEMORY_TYPES, Principal, SearchRequest
from retold.retrieve.request import MAX_QUERIES

if TYPE_CHECKING:
    from retold.models import SearchResponse
    from retold.retrieve.retriever import Retriever
    from retold.store import Store

_TEXTS: Final = frozenset(
    "id at agent_id user_id session_id trigger detail context rewrite_status rerank_status "
    "rerank_error empty_reason pipeline_version".split()
)
"""The columns of the search log that hold plain text; every other text is JSON."""


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--agent", metavar="ID", help="The agent that asks.")
@click.option("--user", metavar="ID", help="The user it asks for.")
@click.option("--project", metavar="ID", help="The project they work on.")
@click.option("-k", type=click.IntRange(min=1), help="Most results.  [default: default_k]")
@click.option("--type", "types", multiple=True, type=click.Choice(MEMORY_TYPES), help="Only these.")
@click.option("--since", type=Moment(), help="Only what happened at or after this moment.")
@click.option("--until", type=Moment(), help="Only what happened before this moment.")
@click.option("--known-at", type=Moment(), help="Search what the store believed then.")
@click.option("--as-of", type=Moment(), help="Search what was true then.")
@click.option("--history", is_flag=True, help="Include superseded and expired records.")
@click.option("--log", is_flag=True, help="Print the whole row of the search log.")
@global_options
@click.pass_obj
def search(
    options: GlobalOptions,
    *,
    query: tuple[str, ...],
    agent: str | None,
    user: str | None,
    project: str | None,
    k: int | None,
    types: tuple[Any, ...],
    since: datetime | None,
    until: datetime | None,
    known_at: datetime | None,
    as_of: datetime | None,
    history: bool,
    log: bool,
) -> int:
    """Search as an agent for a user and show why each result came back.

    One to three phrases. --as AGENT/USER stands for --agent and --user. The search is logged
    like any other.
    """
    if len(query) > MAX_QUERIES:
        raise click.UsageError(
            f"1 to {MAX_QUERIES} phrases, not {len(query)}: put one of several words in quotes"
        )
    principal = asking(options, agent, user, project)
    with opened_for_search(options) as runtime:
        request = SearchRequest(
            queries=query,
            k=runtime.config.retrieval.default_k if k is None else k,
            types=types or None,
            since=since,
            until=until,
            include_history=history,
            known_at=known_at,
            as_of=as_of,
        )
        response = runtime.retriever.search(principal, request)
        row = logged_row(runtime.store, runtime.retriever, response)
    found = search_document(response, row)
    if options.as_json:
        echo_document(found)
    else:
        from retold.cli.search_text import search_lines

        click.echo("\n".join(search_lines(found, whole_log=log)))
    return PENDING if response.degraded else DONE


def asking(
    options: GlobalOptions, agent: str | None, user: str | None, project: str | None
) -> Principal:
    """Return who asks; ``--as AGENT/USER`` says it alone and never beside another pair."""
    named = options.principal
    for option, given, of_pair in (
        ("--agent", agent, named and named.agent_id),
        ("--user", user, named and named.user_id),
    ):
        if given is None and of_pair is None:
            hint = " (`assistant` unless you named yours)" if option == "--agent" else ""
            raise click.UsageError(f"Missing option '{option}'{hint}, or pass --as AGENT/USER")
        if None not in (given, of_pair) and given != of_pair:
            raise click.UsageError(f"--as {options.actor} and {option} {given} are not the same")
    pair = named or Principal(str(agent), str(user))
    return Principal(pair.agent_id, pair.user_id, None, project)


def logged_row(
    store: Store, retriever: Retriever, response: SearchResponse
) -> dict[str, Any] | None:
    """Return the search's row of the log with its JSON columns parsed; None when it has none."""
    retriever.flush_log()
    with store.read() as tx:
        row = tx.search_log.get(response.search_id)
    if row is None:
        return None
    return {
        name: json.loads(value) if isinstance(value, str) and name not in _TEXTS else value
        for name, value in row.items()
    }


def search_document(response: SearchResponse, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return everything about a search as JSON types: the response and its log row."""
    return {**plain(response), "log_row": None if row is None else dict(row)}
