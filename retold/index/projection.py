"""What keeps the in-process projection of the store current."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from retold.errors import EmbeddingProfileMismatch, StoreError
from retold.index.generation import Generation
from retold.index.remembered import Remembered
from retold.store import Transaction
from retold.store.meta import Clocks, EmbeddingIdentity
from retold.store.projection import ProjectionRow

_Fact = TypeVar("_Fact")
Freshness = Literal["loaded", "current", "delta", "reloaded"]

COMPACT_ABOVE = 4096
"""Retired rows kept before a full load drops them, however few live ones there are."""
_REEMBEDDED = "another process replaced all vectors of this store; open it again"


class Projection:
    """The rows and vectors of one store, loaded whole once and kept current from its changes.

    Two locks. ``_refreshing`` serialises refreshes and is held while they read the store, so that
    a slow one never overwrites what a faster one brought. ``changing`` is held for
    microseconds to milliseconds, while rows are changed or an ``Eligible`` is made. Searching
    holds neither: the rows of an ``Eligible`` never change their meaning and a vector is written
    once, so a refresh and a search do not wait for each other.

    The projection only moves forward. A search whose snapshot is older may meet newer facts and
    looks its final records up in its own snapshot.
    """

    def __init__(self, identity: EmbeddingIdentity) -> None:
        """Take the identity of the process's embedder; nothing is read yet."""
        self._identity = identity
        self._refreshing = threading.Lock()
        self.changing = threading.Lock()
        self._generation: Generation | None = None
        self._clocks = Clocks(0, "", 0)
        self._own_writes: dict[int, int] = {}

    def __len__(self) -> int:
        generation = self._generation
        return 0 if generation is None else len(generation.columns)

    @property
    def is_loaded(self) -> bool:
        """Return whether a search can begin without a full load."""
        return self._generation is not None

    @property
    def dense_unavailable(self) -> str | None:
        """Return why there is no dense search; None when there is."""
        generation = self._generation
        return None if generation is None else generation.dense_unavailable

    def load(self, tx: Transaction) -> None:
        """Read everything in the snapshot of a read transaction; an earlier load is replaced."""
        _require_snapshot(tx)
        with self._refreshing:
            self._reload(tx, tx.meta.clocks(), None)

    def refresh(self, tx: Transaction, incremental_reload_max: int) -> Freshness:
        """Bring the projection at least to the snapshot of a read transaction.

        More than ``incremental_reload_max`` records changed by others, another epoch and mostly
        retired rows mean a full load. "current" means that nothing had to be applied.
        """
        _require_snapshot(tx)
        clocks = tx.meta.clocks()
        if self._covers(clocks):
            return "current"
        with self._refreshing:
            if self._covers(clocks):
                return "current"
            if self._generation is None:
                self._reload(tx, clocks, None)
                return "loaded"
            if clocks.store_epoch != self._clocks.store_epoch:
                self._reload(tx, clocks, None)
                return "reloaded"
            return self._follow(tx, clocks, self._generation, incremental_reload_max)

    def note_own_write(self, tx: Transaction, seqs: Iterable[int]) -> None:
        """Let the index follow a write: rows of ``seqs`` are read before COMMIT, applied after it.

        Call it with every record touched or removed, at any point of the transaction and as often
        as convenient; nothing happens after a rollback. What is not named here arrives with the
        next refresh.
        """
        noted = tuple(seqs)
        rows: dict[int, ProjectionRow | None] = {}

        def read() -> None:
            if self.is_loaded:
                rows.update(dict.fromkeys(noted))
                rows.update((row.seq, row) for row in tx.projection.rows(noted, self._identity))

        def apply(version: int) -> None:
            gone = [seq for seq, row in rows.items() if row is None]
            self.apply_committed(version, [row for row in rows.values() if row], gone)

        tx.before_commit(read)
        tx.on_commit(apply)

    def apply_committed(
        self, version: int, rows: Sequence[ProjectionRow], removed: Iterable[int] = ()
    ) -> None:
        """Apply committed rows at their own versions and removals at ``version``.

        Remembered per record, so that refresh skips them. Late and repeated calls are harmless.
        """
        with self.changing:
            generation = self._generation
            if generation is None:
                return
            for row in rows:
                if self._is_news(row.seq, row.version):
                    generation.apply(row)
                    self._own_writes[row.seq] = row.version
            for seq in removed:
                if self._is_news(seq, version):
                    generation.remove(seq)
                    self._own_writes[seq] = version

    def require_embedding(self, tx: Transaction) -> None:
        """Refuse to write vectors that would not fit the store.

        Raises EmbeddingProfileMismatch when the store's vectors belong to another model or were
        all replaced since this index was loaded.
        """
        stored = tx.meta.embedding_identity()
        if stored is not None and stored != self._identity:
            raise EmbeddingProfileMismatch(
                f"the store's vectors come from {stored}, this process uses {self._identity}"
            )
        reason = self.dense_unavailable
        generation = self._clocks.embedding_generation
        if reason is None and self.is_loaded and tx.meta.embedding_generation() != generation:
            reason = _REEMBEDDED
        if reason is not None:
            raise EmbeddingProfileMismatch(reason)

    @property
    def version(self) -> int:
        """Return the records version that was applied last; own writes may be ahead of it."""
        return self._clocks.records_version

    def loaded(self) -> Generation:
        """Return what is loaded; ``changing`` keeps it so. Raises StoreError before a load."""
        if self._generation is None:
            raise StoreError("the index is not loaded; call load or refresh first")
        return self._generation

    def remember(
        self, tx: Transaction, remembered: Remembered[_Fact], facts: Mapping[int, _Fact]
    ) -> None:
        """Keep what a snapshot says, unless the projection has moved beyond it meanwhile.

        What is kept goes when a change of its record is applied, and that of a later one is not
        applied yet. A record that this process wrote is kept from the next refresh on.
        """
        clocks = tx.meta.clocks()
        with self.changing:
            if clocks == self._clocks:
                own = self._own_writes
                remembered.keep({seq: one for seq, one in facts.items() if seq not in own})

    def _covers(self, clocks: Clocks) -> bool:
        """Return whether a snapshot holds nothing that the projection lacks."""
        loaded = self._clocks
        if self._generation is None or clocks.store_epoch != loaded.store_epoch:
            return False
        if clocks.records_version != loaded.records_version:
            return clocks.records_version < loaded.records_version
        return clocks.embedding_generation == loaded.embedding_generation

    def _is_news(self, seq: int, version: int) -> bool:
        return version > self._clocks.records_version and version >= self._own_writes.get(seq, 0)

    def _reload(self, tx: Transaction, clocks: Clocks, dense_unavailable: str | None) -> None:
        """Replace the generation. Own writes after the snapshot come back with the next refresh.

        The old one stays searchable meanwhile, at the price of two matrices for that time.
        """
        fresh = Generation.load(tx, self._identity, dense_unavailable=dense_unavailable)
        with self.changing:
            if self._generation is not None:
                fresh.keep_words_of(self._generation)
            self._generation = fresh
            self._clocks = clocks
            self._own_writes.clear()

    def _follow(
        self,
        tx: Transaction,
        clocks: Clocks,
        generation: Generation,
        incremental_reload_max: int,
    ) -> Freshness:
        lost = generation.dense_unavailable
        if clocks.embedding_generation != self._clocks.embedding_generation:
            lost = _REEMBEDDED
        retired = generation.columns.retired
        changes = tx.projection.changes_since(
            self._clocks.records_version, incremental_reload_max + len(self._own_writes)
        )
        foreign = None if changes is None else self._foreign(changes)
        if (
            foreign is None
            or len(foreign) > incremental_reload_max
            or retired > max(COMPACT_ABOVE, len(generation.columns))
        ):
            self._reload(tx, clocks, lost)
            return "reloaded"
        rows = tx.projection.rows(foreign, self._identity) if foreign else []
        is_news = bool(foreign) or lost != generation.dense_unavailable
        self._advance(clocks, generation, foreign, rows, lost)
        return "delta" if is_news else "current"

    def _foreign(self, changes: dict[int, int]) -> dict[int, int]:
        """Return the changes that this process did not apply itself."""
        with self.changing:
            own = self._own_writes
            return {seq: version for seq, version in changes.items() if version > own.get(seq, 0)}

    def _advance(
        self,
        clocks: Clocks,
        generation: Generation,
        foreign: dict[int, int],
        rows: Sequence[ProjectionRow],
        lost: str | None,
    ) -> None:
        """Apply what others changed, unless a write of ours overtook it meanwhile."""
        present = {row.seq for row in rows}
        with self.changing:
            if lost is not None and generation.dense_unavailable is None:
                generation.end_dense(lost)
            for row in rows:
                if foreign[row.seq] > self._own_writes.get(row.seq, 0):
                    generation.apply(row)
            for seq in foreign.keys() - present:
                if foreign[seq] > self._own_writes.get(seq, 0):
                    generation.remove(seq)
            self._clocks = clocks
            reached = clocks.records_version
            self._own_writes = {s: v for s, v in self._own_writes.items() if v > reached}


def _require_snapshot(tx: Transaction) -> None:
    """Uncommitted rows must not enter the projection: a rollback would leave them there."""
    if tx.writable:
        raise StoreError("refresh the index in a read transaction, not in a write")
