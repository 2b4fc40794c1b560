"""The road from any older file to the present schema, forward only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata, resources
from os import PathLike
from pathlib import Path
from typing import Literal

import apsw

from retold.errors import (
    ForeignFile,
    MigrationRequired,
    SchemaTooNew,
    StoreCorrupt,
    StoreUnavailable,
)
from retold.models import Scope
from retold.store import connection as opening
from retold.store import reindex, version_1
from retold.store.codec import to_text
from retold.store.queries import load_queries
from retold.store.transaction import Transaction
from retold.text import FTS_PREPARE_VERSION
from retold.util import Clock, IdSource

QUERIES = load_queries("migrations")

APPLICATION_ID = 0x52746C64
"""``Rtld``: what makes a SQLite file one of ours."""

FileState = Literal["empty", "version_1", "older", "current"]


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What ``migrate`` did.

    ``from_version`` is 0 for a new file; it equals ``to_version`` when nothing was to be done.
    ``rows`` counts copied rows by table, ``naive_timestamps`` stored moments without an offset
    that were taken as UTC, ``unresolved`` records that an operator must look at.
    """

    from_version: int
    to_version: int
    rows: Mapping[str, int] = field(default_factory=dict)
    naive_timestamps: int = 0
    unresolved: int = 0


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: a script, then what SQL cannot say."""

    version: int
    script: str
    backfill: Callable[[Transaction], None] | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """A record that a migration could not give a subject; ``reason`` is a code."""

    migration_version: int
    record_seq: int
    record_id: str
    scope: Scope
    type: str
    reason: str


MIGRATIONS: tuple[Migration, ...] = (
    Migration(100, "0100_initial.sql"),
    Migration(101, "0101_token_vectors.sql"),
)
"""In order; the first creates the schema and takes over files of version 1."""

SCHEMA_VERSION = MIGRATIONS[-1].version


def read_script(name: str) -> str:
    """Return the text of a migration script."""
    source = resources.files("retold.store").joinpath("sql", "migrations", name)
    return source.read_text(encoding="utf-8")


def inspect(connection: apsw.Connection) -> FileState:
    """Say what kind of file is open, changing nothing.

    Raises ForeignFile for a file that is not ours and SchemaTooNew for a later release's.
    """
    with opening.translated(Path(connection.filename)), _one_snapshot(connection):
        application_id, version = _identity(connection)
        if application_id == APPLICATION_ID:
            return _state_of(connection, version)
        objects = list(connection.execute(QUERIES["objects"]))
        if application_id == 0 and version == 0 and not objects:
            return "empty"
        columns = list(connection.execute(QUERIES["columns"]))
        if (
            application_id == 0
            and version in version_1.USER_VERSIONS
            and version_1.is_recognised(objects, columns)
        ):
            return "version_1"
        raise ForeignFile(f"{connection.filename}: not a Retold store; it was left untouched")


@contextmanager
def _one_snapshot(connection: apsw.Connection) -> Iterator[None]:
    """Let several statements see one file: another process may just be making a store of it."""
    if connection.in_transaction:
        yield
        return
    connection.execute("begin")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("rollback")


def require_current(connection: apsw.Connection) -> None:
    """Raise unless the file has exactly the present schema.

    MigrationRequired for an older one, StoreUnavailable for an empty file, and as ``inspect``.
    """
    if _identity(connection) == (APPLICATION_ID, SCHEMA_VERSION):
        return
    state = inspect(connection)
    if state == "empty":
        raise StoreUnavailable(f"{connection.filename} is empty; create the store first")
    if state != "current":
        raise _migration_required(connection.filename)


def prepare_file(
    connection: apsw.Connection,
    *,
    path: str | PathLike[str],
    clock: Clock,
    id_source: IdSource,
    create: bool,
    migrate: bool,
) -> MigrationReport | None:
    """Create or migrate the open file as far as the caller allows; None when it was current.

    A refused file is left untouched. A current one whose full-text index was prepared by another
    release gets it rebuilt. Raises as ``require_current``.
    """
    state = inspect(connection)
    if state == "current":
        _refresh_index(connection, clock, id_source)
        return None
    if state == "empty" and not create:
        raise StoreUnavailable(f"{path} is empty; create the store first")
    if state in ("older", "version_1") and not migrate:
        raise _migration_required(path)
    return _migrate(connection, clock, id_source)


def migrate(connection: apsw.Connection, clock: Clock, new_id: IdSource) -> MigrationReport:
    """Bring the open file to the present schema, a new one included, in one transaction.

    So nobody ever meets a file between two steps, whatever ends this process. Several processes
    may do so at once: each looks again under the lock. Raises ForeignFile, SchemaTooNew, and
    StoreCorrupt for rows that cannot be carried over; then nothing changed.
    """
    inspect(connection)
    return _migrate(connection, clock, new_id)


def _migrate(connection: apsw.Connection, clock: Clock, new_id: IdSource) -> MigrationReport:
    opening.take_write_lock_at_begin(connection)
    opening.overwrite_deleted(connection)
    steps: list[MigrationReport] = []
    with opening.translated(Path(connection.filename)):
        with connection:
            tx = Transaction(connection, now=clock(), new_id=new_id, writable=True)
            for migration in MIGRATIONS:
                steps += _apply(tx, migration)
        first = steps[0] if steps else MigrationReport(SCHEMA_VERSION, SCHEMA_VERSION)
        with connection:
            unresolved = count_unresolved(tx)
            if first.from_version == version_1.VERSION:
                rows = {table: count for table, count in tx.meta.row_counts().items() if count}
                first = replace(first, rows=rows)
    return replace(first, to_version=SCHEMA_VERSION, unresolved=unresolved)


def _refresh_index(connection: apsw.Connection, clock: Clock, new_id: IdSource) -> None:
    if not reindex.is_stale(connection):
        return
    opening.take_write_lock_at_begin(connection)
    opening.overwrite_deleted(connection)
    with connection:
        if inspect(connection) == "current" and reindex.is_stale(connection):
            tx = Transaction(connection, now=clock(), new_id=new_id, writable=True)
            reindex.rebuild(tx)


def _apply(tx: Transaction, migration: Migration) -> list[MigrationReport]:
    """Run one step under the lock; an empty list when another process was faster."""
    state, version = inspect(tx.connection), _identity(tx.connection)[1]
    if state == "current" or (state == "older" and version >= migration.version):
        return []
    report = MigrationReport(version, migration.version)
    if state == "version_1":
        version_1.set_aside(tx)
    tx.connection.execute(read_script(migration.script)).fetchall()
    if state != "older":
        _write_identity(tx)
    if state == "version_1":
        carried = version_1.carry_over(tx)
        report = MigrationReport(
            version_1.VERSION, migration.version, naive_timestamps=carried.naive_timestamps
        )
    if migration.backfill is not None:
        migration.backfill(tx)
    _refuse_broken_references(tx)
    tx.connection.pragma("application_id", APPLICATION_ID)
    tx.connection.pragma("user_version", migration.version)
    return [report]


def _write_identity(tx: Transaction) -> None:
    for key, value in (
        ("records_version", 0),
        ("store_epoch", tx.new_id()),
        ("store_id", tx.new_id()),
        ("fts_prepare_version", FTS_PREPARE_VERSION),
        ("embedding_generation", 0),
        ("created_at", to_text(tx.now)),
        ("created_by", _library_version()),
    ):
        tx.run(QUERIES["insert_meta"], {"key": key, "value": value})


def _library_version() -> str:
    try:
        return metadata.version("retold")
    except metadata.PackageNotFoundError:
        return "unknown"  # a source tree that was never installed


def _refuse_broken_references(tx: Transaction) -> None:
    broken = dict(tx.run(QUERIES["broken_references"]))
    if broken:
        raise StoreCorrupt(f"rows point at missing ones: {broken}; nothing was changed")


def _identity(connection: apsw.Connection) -> tuple[int, int]:
    # As pragmas: the table-valued functions of the same names prepare these at every run.
    ((application_id,),) = connection.execute(QUERIES["application_id"])
    ((version,),) = connection.execute(QUERIES["user_version"])
    return int(application_id), int(version)


def _state_of(connection: apsw.Connection, version: int) -> FileState:
    if version > SCHEMA_VERSION:
        raise SchemaTooNew(
            f"{connection.filename} has schema {version}, this release knows {SCHEMA_VERSION}; "
            "upgrade retold"
        )
    if version == SCHEMA_VERSION:
        return "current"
    if version < MIGRATIONS[0].version:
        raise ForeignFile(
            f"{connection.filename}: no release wrote schema {version}; it was left untouched"
        )
    return "older"


def _migration_required(path: str | PathLike[str]) -> MigrationRequired:
    return MigrationRequired(f"{path} has an older schema; run `retold migrate`")


def count_unresolved(tx: Transaction) -> int:
    """Return how many active records still wait for an operator's decision."""
    row = tx.one(QUERIES["count_unresolved"])
    return 0 if row is None else int(row[0])


def list_issues(tx: Transaction) -> list[Issue]:
    """Return the unresolved issues, oldest record first."""
    return [
        Issue(version, seq, record_id, Scope(kind, scope_id), type_, reason)
        for version, seq, record_id, kind, scope_id, type_, reason in tx.run(QUERIES["list_issues"])
    ]


def expire_unmapped(tx: Transaction, *, actor: str = "admin") -> int:
    """Expire every unresolved record with one ``record.status`` event each; return how many."""
    issues = list_issues(tx)
    for issue in issues:
        record = tx.records.require(issue.record_id)
        tx.records.update(replace(record, status="expired"))
        tx.events.append(
            "record.status",
            actor,
            record_id=issue.record_id,
            payload={
                "from": record.status,
                "to": "expired",
                "reason": "migration_unmapped",
                "issue": issue.reason,
            },
        )
    return len(issues)


def acknowledge_unmapped(tx: Transaction, *, actor: str = "admin") -> int:
    """Keep every unresolved record as it is, with one event for all; return how many."""
    unresolved = count_unresolved(tx)
    if unresolved:
        tx.run(QUERIES["acknowledge"], {"at": to_text(tx.now)})
        tx.events.append("migration.acknowledged", actor, payload={"records": unresolved})
    return unresolved
