"""``retold grant`` and ``retold revoke``: which agent may use which shared scope."""

from __future__ import annotations

import click

from retold.cli.document import echo_document
from retold.cli.opening import opened_store
from retold.cli.options import GlobalOptions, ScopeName, global_options
from retold.cli.text import clean, labelled
from retold.errors import NotFound
from retold.host import set_grant, take_grant
from retold.models import Grant, Scope
from retold.store import Store
from retold.text import require_id


@click.command()
@click.argument("agent")
@click.argument("scope", type=ScopeName())
@click.option("--read", is_flag=True, help="Let it read.")
@click.option("--write", is_flag=True, help="Let it write.")
@global_options
@click.pass_obj
def grant(options: GlobalOptions, *, agent: str, scope: Scope, read: bool, write: bool) -> None:
    """Let an agent use a shared scope, such as user:ana or project:apollo.

    The rights named replace those of an earlier grant on the scope. A user's scope opens only
    while the agent works for that user.
    """
    if not (read or write):
        raise click.UsageError("pass --read, --write or both; `retold revoke` takes a grant away")
    with opened_store(options) as (store, _):
        before, known = _granted(store, agent, scope), _is_known(store, scope)
        after = set_grant(store, options.actor, agent, scope, read=read, write=write)
    if options.as_json:
        echo_document({"grant": after, "before": before})
        return
    lines = labelled("granted", f"{clean(agent)} may {rights(after)} {clean(str(scope))}")
    if before is not None and before != after:
        lines += labelled("before", f"it could {rights(before)}")
    if not known:
        lines += labelled("note", f"nothing is stored in {clean(str(scope))} yet")
    click.echo("\n".join(lines))


@click.command()
@click.argument("agent")
@click.argument("scope", type=ScopeName())
@global_options
@click.pass_obj
def revoke(options: GlobalOptions, *, agent: str, scope: Scope) -> None:
    """Take a grant away. Without such a grant nothing changes, and the exit code is 2."""
    with opened_store(options) as (store, _):
        before = _granted(store, agent, scope)
        if not take_grant(store, options.actor, agent, scope):
            raise NotFound(
                f"{agent!r} has no grant on {str(scope)!r}; `retold scope list` shows all grants"
            )
    if options.as_json:
        echo_document({"revoked": before})
        return
    could = "" if before is None else f"; it could {rights(before)}"
    click.echo("\n".join(labelled("revoked", f"{clean(agent)} on {clean(str(scope))}{could}")))


def rights(one: Grant) -> str:
    """Return what a grant allows, in words."""
    return " and ".join(
        name for name, given in (("read", one.can_read), ("write", one.can_write)) if given
    )


def _is_known(store: Store, scope: Scope) -> bool:
    with store.read() as tx:
        return tx.scopes.code(scope) is not None


def _granted(store: Store, agent: str, scope: Scope) -> Grant | None:
    require_id(agent, "agent_id", allow_slash=False)
    with store.read() as tx:
        return next((one for one in tx.grants.list_for(agent) if one.scope == scope), None)
