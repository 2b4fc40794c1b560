"""Whose eyes a command reads with: the operator's, or those of the pair that ``--as`` names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from retold.cli.opening import opened_store
from retold.cli.options import GlobalOptions, ScopeName
from retold.errors import NotFound
from retold.models import MEMORY_TYPES, Scope
from retold.retrieve import lookup
from retold.retrieve.lookup import Operator, Reader
from retold.store import Transaction
from retold.tools.shown import PREFIX

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reading:
    """One snapshot of the store, and who looks at it."""

    tx: Transaction
    reader: Reader

    @property
    def by_operator(self) -> bool:
        """Return whether everything may be shown, audit events included."""
        return isinstance(self.reader, Operator)

    def require(self, scope: Scope | None) -> None:
        """Raise NotFound for a scope without records, whether it is empty, unknown or foreign."""
        if scope is not None and not lookup.status_counts(self.tx, self.reader, scope=scope):
            raise NotFound(f"no records in scope {str(scope)!r}; see `retold scope list`")


@contextmanager
def opened_reading(options: GlobalOptions) -> Iterator[Reading]:
    """Open the store and one snapshot of it; no model is needed."""
    with opened_store(options, for_principals=True) as (store, _), store.read() as tx:
        yield Reading(tx, options.principal or Operator())


def no_record(missing: Sequence[str]) -> str:
    """Return the line for ids of which there is nothing to tell, and where the whole ids stand."""
    line = f"no record {', '.join(map(repr, missing))}; `retold list` shows the ids there are"
    short = any(one.startswith(PREFIX) for one in missing)
    return f"{line}, and what follows {PREFIX} is the end of one" if short else line


def record_filters(command: Command) -> Command:
    """Add the options that narrow a list of records: ``scope`` and ``types``."""
    types = click.Choice(MEMORY_TYPES)
    command = click.option("--type", "types", multiple=True, type=types, help="Only these.")(
        command
    )
    return click.option(
        "--scope", type=ScopeName(), metavar="SCOPE", help="Only this one, such as user:ana."
    )(command)
