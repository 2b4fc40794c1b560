"""Rows for tests of the in-process index, written the way any process writes them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from retold.models import Scope
from retold.store import Store, Transaction
from retold.store.codec import from_us, to_text
from retold.store.meta import EmbeddingIdentity

DIMS = 8
IDENTITY = EmbeddingIdentity("test/model", "1", DIMS)
OTHER_IDENTITY = EmbeddingIdentity("test/other", "2", DIMS)


@dataclass(frozen=True, slots=True)
class Row:
    """What a test says about one record; the rest is filler."""

    scope: str = "user:ana"
    vector: np.ndarray | None = None
    type: str = "semantic"
    status: str = "confirmed"
    source_kind: str = "user_statement"
    event_us: int = 1_000
    expires_us: int | None = None
    source_ref: str | None = None


def open_store(path: Path, identity: EmbeddingIdentity | None = IDENTITY) -> Store:
    """Open a store and let it remember an embedding identity."""
    store = Store.open(path)
    if identity is not None:
        with store.write() as tx:
            if tx.meta.embedding_identity() is None:
                tx.meta.set_embedding_identity(identity)
    return store


def axis(*places: int, dims: int = DIMS) -> np.ndarray:
    """Return the unit vector between some axes."""
    vector = np.zeros(dims, dtype=np.float32)
    vector[list(places)] = 1.0
    return vector / np.linalg.norm(vector)


def insert(tx: Transaction, row: Row) -> int:
    """Insert a record with its vector under the transaction's version; return its key."""
    moment = to_text(from_us(row.event_us))
    found = tx.one(
        """
        insert into records (
          id, type, content, scope_code, source_kind, creator_agent_id, created_at, created_us,
          event_at, event_us, expires_us, source_ref, confidence, status, index_version
        ) values (
          :id, :type, 'filler', :scope_code, :source_kind, 'tests', :moment, :event_us,
          :moment, :event_us, :expires_us, :source_ref, 1.0, :status, :version
        ) returning seq
        """,
        {
            "id": tx.new_id(),
            "type": row.type,
            "scope_code": tx.scopes.require(Scope.parse(row.scope)),
            "source_kind": row.source_kind,
            "moment": moment,
            "event_us": row.event_us,
            "expires_us": row.expires_us,
            "source_ref": row.source_ref,
            "status": row.status,
            "version": tx.version(),
        },
    )
    assert found is not None
    seq = int(found[0])
    if row.vector is not None:
        tx.embeddings.put(seq, row.vector)
    return seq


def change(tx: Transaction, seq: int, **values: object) -> None:
    """Set columns of a record under the transaction's version; ``scope`` is ``kind:id``."""
    if "scope" in values:
        values["scope_code"] = tx.scopes.require(Scope.parse(str(values.pop("scope"))))
    for name, value in values.items():
        assert name in {
            "scope_code",
            "status",
            "type",
            "source_kind",
            "event_us",
            "expires_us",
            "source_ref",
        }
        tx.run(
            f"update records set {name} = :value, index_version = :version where seq = :seq",
            {"value": value, "version": tx.version(), "seq": seq},
        )


def remove(tx: Transaction, seq: int) -> None:
    """Delete a record for good and leave the mark that other processes follow."""
    tx.run("delete from embeddings where seq = ?", (seq,))
    tx.run("delete from records where seq = ?", (seq,))
    tx.run(
        "insert into removed_rows(seq, index_version) values (?, ?)",
        (seq, tx.version()),
    )


def scope_codes(store: Store, *scopes: str) -> list[int]:
    """Return the codes of those scopes that have one."""
    with store.read() as tx:
        return list(tx.scopes.codes([Scope.parse(scope) for scope in scopes]).values())
