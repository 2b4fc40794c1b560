"""``retold scope``: what the store keeps for whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from retold.cli.document import echo_document
from retold.cli.grants import rights
from retold.cli.options import GlobalOptions, global_options
from retold.cli.reading import Reading, opened_reading
from retold.cli.text import clean, heading, labelled, table
from retold.models import Grant, Principal
from retold.policy.grants import readable_scopes, writable_scopes
from retold.retrieve.lookup import Operator
from retold.store.inspection import InspectionRepository


@dataclass(frozen=True, slots=True)
class ScopeLine:
    """One scope with its numbers of records.

    ``grants`` are those on it, which only an operator sees; for an agent it is None, and
    ``rights`` says what the agent may do there.
    """

    scope: str
    active: int
    total: int
    grants: tuple[Grant, ...] | None
    rights: str | None


@click.group(invoke_without_command=True)
@global_options
@click.pass_context
def scope(context: click.Context) -> None:
    """Look at scopes: who owns records."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@scope.command("list", short_help="List scopes with their records and grants.")
@global_options
@click.pass_obj
def list_scopes(options: GlobalOptions) -> None:
    """List the scopes with their numbers of records, and the grants on them.

    With --as AGENT/USER those that the agent may use for the user.
    """
    with opened_reading(options) as reading:
        lines = scope_lines(reading)
    if options.as_json:
        echo_document({"scopes": lines})
    else:
        click.echo("\n".join(_text(lines)))


def scope_lines(reading: Reading) -> tuple[ScopeLine, ...]:
    """Return the scopes that may be seen, by kind and id."""
    if isinstance(reading.reader, Operator):
        return _all(reading)
    return _own(reading, reading.reader)


def _all(reading: Reading) -> tuple[ScopeLine, ...]:
    granted: dict[str, tuple[Grant, ...]] = {}
    for one in reading.tx.grants.list_all():
        granted[str(one.scope)] = (*granted.get(str(one.scope), ()), one)
    inspection = InspectionRepository(reading.tx)
    return tuple(
        ScopeLine(one.scope, one.active, one.total, granted.get(one.scope, ()), None)
        for one in inspection.count_by_scope(inspection.scope_codes())
    )


def _own(reading: Reading, principal: Principal) -> tuple[ScopeLine, ...]:
    tx = reading.tx
    readable, writable = readable_scopes(tx, principal), writable_scopes(tx, principal)
    codes = tx.scopes.codes(readable).values()
    counts = {one.scope: one for one in InspectionRepository(tx).count_by_scope(tuple(codes))}
    lines = []
    for one in sorted({*readable, *writable}):
        may = rights(Grant(principal.agent_id, one, one in readable, one in writable))
        counted = counts.get(str(one))
        active, total = (counted.active, counted.total) if counted else (0, 0)
        lines.append(ScopeLine(str(one), active, total, None, may))
    return tuple(lines)


def _text(lines: tuple[ScopeLine, ...]) -> Iterator[str]:
    if not lines:
        yield from labelled("nothing", "no scope holds anything yet")
        return
    own = lines[0].rights is not None
    yield from table(
        ("active", "all", *(["may"] if own else []), "scope"),
        [
            (
                f"{one.active:,}",
                f"{one.total:,}",
                *([one.rights or ""] if own else []),
                clean(one.scope),
            )
            for one in lines
        ],
        right=(0, 1),
    )
    grants = [grant for one in lines for grant in one.grants or ()]
    if grants:
        yield ""
        yield heading("grants")
        rows = [
            (rights(one), f"{clean(one.agent_id)} on {clean(str(one.scope))}") for one in grants
        ]
        yield from table(("may", "agent and scope"), rows)
