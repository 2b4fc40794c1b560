"""What the in-process index is made of, as rows of the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from retold.models import MEMORY_TYPES, MemoryType
from retold.store.codec import to_json
from retold.store.meta import EmbeddingIdentity
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("projection")

PROJECTED_TYPES: tuple[MemoryType, ...] = MEMORY_TYPES
"""The family of records that one index holds; rows of other types are left to other indexes."""


class ProjectionRow(NamedTuple):
    """One record as the index sees it.

    Epochs are microseconds; ``expires_us`` is None when the record never expires. ``vector`` holds
    little-endian float32 bytes, None when the record has no vector of the asked identity;
    ``has_foreign_vector`` says that it has one of another. ``version`` is the newest
    ``index_version`` of the record and its vector.
    """

    seq: int
    scope_code: int
    type: str
    status: str
    source_kind: str
    expires_us: int | None
    event_us: int
    source_ref: str | None
    vector: bytes | None
    has_foreign_vector: int
    version: int

    @property
    def is_projected(self) -> bool:
        """Return whether the index holds this row; a deleted one has left it."""
        return self.status != "deleted" and self.type in PROJECTED_TYPES


class ProjectionRepository:
    """Read side only: writers change ``records`` and ``embeddings`` and bump their versions.

    A read transaction looks changes up once: nobody else changes what it sees.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._changes: dict[int, dict[int, int]] = {}

    def count(self) -> int:
        """Return how many rows ``load`` yields at most."""
        row = self._tx.one(QUERIES["count"])
        return 0 if row is None else int(row[0])

    def load(self, identity: EmbeddingIdentity) -> Iterator[ProjectionRow]:
        """Yield every projected row in key order. Consume it before the transaction ends."""
        bindings = {**identity._asdict(), "types": to_json(list(PROJECTED_TYPES))}
        return map(ProjectionRow._make, self._tx.run(QUERIES["load"], bindings))

    def rows(self, seqs: Iterable[int], identity: EmbeddingIdentity) -> list[ProjectionRow]:
        """Return those rows that exist, in key order, deleted and foreign types included."""
        bindings = {**identity._asdict(), "seqs": to_json([int(seq) for seq in seqs])}
        return [ProjectionRow._make(row) for row in self._tx.run(QUERIES["rows"], bindings)]

    def changes_since(self, version: int, limit: int) -> dict[int, int] | None:
        """Return the newest version per key that changed after ``version``.

        Keys that ``rows`` no longer knows were removed for good. None means that more than
        ``limit`` keys changed.
        """
        changes = self._changes.get(version)
        if changes is None:
            changes = self._read_changes(version, limit)
        if changes is not None and not self._tx.writable:
            self._changes[version] = changes
        return None if changes is None or len(changes) > limit else changes

    def _read_changes(self, version: int, limit: int) -> dict[int, int] | None:
        """Read the newest version per key, None where there may be more than ``limit``."""
        # A key comes at most twice (its record and its vector), hence the factor.
        most = 2 * limit + 1
        changes: dict[int, int] = {}
        read = 0
        for seq, changed in self._tx.run(
            QUERIES["changes_since"], {"version": version, "most": most}
        ):
            read += 1
            changes[seq] = max(changed, changes.get(seq, 0))
        return None if read == most else changes
