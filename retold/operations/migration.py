"""Bringing a store to the present schema, for an operator who decides about leftovers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from retold.errors import StoreUnavailable
from retold.store import Store, connection, migrations
from retold.store.migrations import Issue, MigrationReport
from retold.util import new_id, system_clock

Unmapped = Literal["list", "expire", "allow"]


@dataclass(frozen=True, slots=True)
class MigrationOutcome:
    """What was done. ``unresolved`` are the records that still wait for a decision."""

    path: str
    report: MigrationReport
    expired: int
    acknowledged: int
    unresolved: tuple[Issue, ...]


def migrate_store(
    path: str | os.PathLike[str],
    *,
    busy_timeout_seconds: float,
    unmapped: Unmapped = "list",
    actor: str = "admin",
) -> MigrationOutcome:
    """Migrate an existing file, then list, expire or acknowledge records without a subject.

    Never makes a file. Raises StoreUnavailable for a missing or empty one, and ForeignFile,
    SchemaTooNew or StoreCorrupt with the file left as it was.
    """
    report = _to_present(connection.checked_path(path), busy_timeout_seconds)
    expired = acknowledged = 0
    with Store.open(
        path,
        busy_timeout_seconds=busy_timeout_seconds,
        create=False,
        allow_migration_issues=True,
    ) as store:
        if unmapped != "list":
            with store.write() as tx:
                if unmapped == "expire":
                    expired = migrations.expire_unmapped(tx, actor=actor)
                else:
                    acknowledged = migrations.acknowledge_unmapped(tx, actor=actor)
        with store.read() as tx:
            issues = tuple(migrations.list_issues(tx))
    return MigrationOutcome(str(path), report, expired, acknowledged, issues)


def _to_present(path: Path, busy_timeout_seconds: float) -> MigrationReport:
    writer = connection.open_writer(path, busy_timeout_seconds, create=False)
    try:
        if migrations.inspect(writer) == "empty":
            raise StoreUnavailable(f"{path} is empty: there is nothing to migrate")
        return migrations.migrate(writer, system_clock, new_id)
    finally:
        writer.close(True)
