"""One memory with everything that belongs to it, written below the ingestor, and what must hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import apsw
import numpy as np

from retold.models import Record, Scope
from retold.store import Store, Transaction
from retold.store.meta import EmbeddingIdentity
from retold.store.records import NewRecord

MOMENT = datetime(2026, 1, 15, 9, 0, tzinfo=UTC)
DIMS = 16
IDENTITY = EmbeddingIdentity("tests/vectors", "1", DIMS)
SCOPE = Scope("user", "ana")


def new_record(content: str = "Likes green tea", **fields: object) -> NewRecord:
    """Return what a writer decides about a row, every field defaulted."""
    record = NewRecord(
        type="semantic",
        content=content,
        scope=SCOPE,
        subject_entity_id=None,
        attribute=None,
        attribute_derived=False,
        source_kind="user_statement",
        source_ref=None,
        creator_agent_id="helper",
        evidence=None,
        event_at=MOMENT,
        expires_at=None,
        valid_from=None,
        valid_until=None,
        review_at=None,
        confidence=1.0,
        status="confirmed",
        supersedes_id=None,
        version=1,
        temporary=False,
        tags=(),
    )
    return replace(record, **fields)


def prepare(store: Store) -> None:
    """Let a new store know whose vectors it holds."""
    with store.write() as tx:
        tx.meta.set_embedding_identity(IDENTITY)


def vector(number: int) -> np.ndarray:
    """Return a unit vector that belongs to a number."""
    values = np.random.default_rng(number).standard_normal(DIMS).astype(np.float32)
    return values / np.linalg.norm(values)


def remember(tx: Transaction, content: str, **fields: object) -> Record:
    """Store a record with its index row, its vector and its event, as one write does."""
    record = tx.records.insert(new_record(content, **fields))
    tx.records.set_token_count(record.seq, tx.lexical.insert(record.seq, content, "likes", ""))
    tx.embeddings.put(record.seq, vector(record.seq))
    tx.events.append("record.created", "helper", record_id=record.id)
    return record


def contents(store: Store) -> list[str]:
    """Return the content of every record, oldest first."""
    with store.read() as tx:
        return [row[0] for row in tx.run("select content from records order by seq")]


def problems(path: Path) -> list[str]:
    """Return what is wrong with a closed or crashed store, which is recovered as by any opener.

    SQLite's own checks hold; full-text rows are those of the records that were not forgotten, each
    of which has a vector; an event tells of every record; no record is newer than the counter; the
    chain of events is whole.
    """
    found = []
    with Store.open(path, create=False) as store, store.read() as tx:
        found += [row[0] for row in tx.run("pragma integrity_check") if row[0] != "ok"]
        found += [f"reference {row}" for row in tx.run("pragma foreign_key_check")]
        live = {row[0] for row in tx.run("select seq from records where status <> 'deleted'")}
        if set(tx.lexical.row_keys()) != live:
            found.append("full-text rows are not the live records")
        if live - {row[0] for row in tx.run("select seq from embeddings")}:
            found.append("a live record has no vector")
        newest = tx.one("select coalesce(max(index_version), 0) from records")[0]
        if tx.meta.records_version() < newest:
            found.append("a record is newer than the counter")
        told = {row[0] for row in tx.run("select record_id from event_refs")}
        if {row[0] for row in tx.run("select id from records")} - told:
            found.append("a record has no event")
        if (broken := tx.events.verify()) is not None:
            found.append(f"the chain of events breaks at {broken}")
    return found + _index_problems(path)


def _index_problems(path: Path) -> list[str]:
    connection = apsw.Connection(str(path))
    try:
        connection.execute(
            "insert into records_fts(records_fts, rank) values ('integrity-check', 1)"
        )
    except apsw.Error as error:
        return [f"full-text index: {type(error).__name__}"]
    finally:
        connection.close()
    return []
