"""Single values: counters, identity of the store and of its vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from retold.errors import StoreCorrupt
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("meta")


class Clocks(NamedTuple):
    """What a projection compares before it calls itself current."""

    records_version: int
    store_epoch: str
    embedding_generation: int


class EmbeddingIdentity(NamedTuple):
    """Whose vectors the store holds."""

    model: str
    version: str
    dims: int

    def __str__(self) -> str:
        return f"{self.model} (version {self.version}, {self.dims} dims)"


_IDENTITY: Final = tuple(f"embedding_{name}" for name in EmbeddingIdentity._fields)
_CLOCKS: Final = (*Clocks._fields, "fts_prepare_version")
"""What nearly every read asks for; the statement ``clocks`` reads all of it at once."""
_SHARED: Final = (*_CLOCKS, *_IDENTITY, "embedded_text")
"""What nearly every write asks for, whose vectors these are first; likewise, by ``shared``."""

_NO_COUNTERS: Final = "store_meta lacks its counters; restore a snapshot"


class MetaRepository:
    """Typed access to ``store_meta``.

    A transaction reads each value once: nobody else changes what it sees.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._known: dict[str, object] = {}

    def get_text(self, key: str) -> str | None:
        """Return a text value; None when the key is absent."""
        value = self._get(key)
        return None if value is None else str(value)

    def get_int(self, key: str) -> int | None:
        """Return an integer value; None when the key is absent. Raises StoreCorrupt otherwise."""
        value = self._get(key)
        if value is not None and not isinstance(value, int):
            raise StoreCorrupt(f"store_meta {key!r} is not an integer")
        return value

    def set_text(self, key: str, value: str) -> None:
        """Store or replace a text value."""
        self._set(key, value)

    def set_int(self, key: str, value: int) -> None:
        """Store or replace an integer value."""
        self._set(key, value)

    def clocks(self) -> Clocks:
        """Return the three counters."""
        epoch = self._get("store_epoch")
        if epoch is None:
            raise StoreCorrupt(_NO_COUNTERS)
        return Clocks(
            self._counter("records_version"), str(epoch), self._counter("embedding_generation")
        )

    def records_version(self) -> int:
        """Return the version of the last committed change that indexes must see."""
        return self._counter("records_version")

    def store_epoch(self) -> str:
        """Return the epoch; it changes when the whole file was replaced."""
        return self.clocks().store_epoch

    def embedding_generation(self) -> int:
        """Return the generation; it changes when all vectors were replaced."""
        return self._counter("embedding_generation")

    def next_records_version(self) -> int:
        """Allocate the next version; call it through ``Transaction.version`` only."""
        version = self.records_version() + 1
        self.set_int("records_version", version)
        return version

    def embedding_identity(self) -> EmbeddingIdentity | None:
        """Return whose vectors the store holds; None before the first embedding profile."""
        model, version, dims = map(self._get, _IDENTITY)
        if model is None or version is None or dims is None:
            return None
        if not isinstance(dims, int):
            raise StoreCorrupt("store_meta 'embedding_dims' is not an integer")
        return EmbeddingIdentity(str(model), str(version), dims)

    def set_embedding_identity(self, identity: EmbeddingIdentity) -> None:
        """Remember whose vectors the store holds from now on."""
        self.set_text("embedding_model", identity.model)
        self.set_text("embedding_version", identity.version)
        self.set_int("embedding_dims", identity.dims)

    def profile(self) -> str | None:
        """Return the profile the store was made with; None when a configuration was given."""
        return self.get_text("profile")

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of every table, by name; for status and for tests."""
        return {str(name): int(count) for name, count in self._tx.run(QUERIES["row_counts"])}

    def forget(self) -> None:
        """Remember no value: an undone savepoint may have set some."""
        self._known.clear()

    def _counter(self, key: str) -> int:
        value = self._get(key)
        if not isinstance(value, int):
            raise StoreCorrupt(_NO_COUNTERS)
        return value

    def _get(self, key: str) -> object:
        if key not in self._known:
            if key in _CLOCKS:
                self._known.update(dict.fromkeys(_CLOCKS) | dict(self._tx.run(QUERIES["clocks"])))
            elif key in _SHARED:
                self._known.update(dict.fromkeys(_SHARED) | dict(self._tx.run(QUERIES["shared"])))
            else:
                row = self._tx.one(QUERIES["get"], {"key": key})
                self._known[key] = None if row is None else row[0]
        return self._known[key]

    def _set(self, key: str, value: object) -> None:
        self._tx.run(QUERIES["set"], {"key": key, "value": value})
        self._known[key] = value
