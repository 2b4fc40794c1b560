"""One transaction: its moment, its version and the repositories that work inside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import apsw

from retold.errors import StoreError
from retold.util import IdSource

if TYPE_CHECKING:
    from retold.store.budget import BudgetRepository
    from retold.store.claims import ClaimRepository
    from retold.store.embeddings import EmbeddingRepository
    from retold.store.entities import EntityRepository
    from retold.store.events import EventRepository
    from retold.store.evidence import EvidenceRepository
    from retold.store.extraction import ExtractionRepository
    from retold.store.grants import GrantRepository
    from retold.store.lexical import LexicalRepository
    from retold.store.meta import MetaRepository
    from retold.store.projection import ProjectionRepository
    from retold.store.providers import ProviderRepository
    from retold.store.records import RecordRepository
    from retold.store.scopes import ScopeRepository
    from retold.store.search_log import SearchLogRepository
    from retold.store.sessions import SessionRepository
    from retold.store.token_vectors import TokenVectorRepository

Bindings = Mapping[str, Any] | Sequence[Any]
CommitHook = Callable[[int], None]
_Repository = TypeVar("_Repository")


class _made_once(Generic[_Repository]):  # reads as the decorator that it is
    """``functools.cached_property`` without its lock: a transaction belongs to one thread."""

    def __init__(self, make: Callable[[Transaction], _Repository]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, tx: None, owner: type) -> Self: ...

    @overload
    def __get__(self, tx: Transaction, owner: type) -> _Repository: ...

    def __get__(self, tx: Transaction | None, owner: type) -> Self | _Repository:
        if tx is None:
            return self
        made = tx.__dict__[self._name] = self._make(tx)
        # The first one of a process pays for the import: it takes longer than the making.
        self._make = type(made)
        return made


class Transaction:
    """A snapshot to read from or a unit of work to write in; made by ``Store`` only.

    ``now`` was read once at the beginning, so everything written together carries one moment.
    """

    def __init__(
        self, connection: apsw.Connection, *, now: datetime, new_id: IdSource, writable: bool
    ) -> None:
        """Wrap an open driver transaction."""
        self.connection = connection
        self.now = now
        self.new_id = new_id
        self.writable = writable
        self._version = 0
        self._hooks: list[CommitHook] = []
        self._last_reads: list[Callable[[], None]] = []

    def run(self, sql: str, bindings: Bindings = ()) -> apsw.Cursor:
        """Run one statement; the cursor yields tuples."""
        return self.connection.execute(sql, bindings)

    def one(self, sql: str, bindings: Bindings = ()) -> tuple[Any, ...] | None:
        """Run one statement and return its first row, or None."""
        cursor = self.connection.execute(sql, bindings)
        row: tuple[Any, ...] | None = cursor.fetchone()
        cursor.close()
        return row

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        return self.connection.changes()

    def inserted_key(self) -> int:
        """Return the integer key of the row that the last statement inserted.

        Asking afterwards costs nothing; `returning` makes an insert take twice as long.
        """
        return self.connection.last_insert_rowid()

    def version(self) -> int:
        """Return the records version of this transaction, allocating it on first use.

        Allocation happens under the write lock, so the order of versions is the order of commits.
        """
        if not self.writable:
            raise StoreError("a read transaction has no version of its own")
        if self._version == 0:
            self._version = self.meta.next_records_version()
        return self._version

    @property
    def committed_version(self) -> int:
        """Return the allocated version; 0 when nothing that the indexes see has changed."""
        return self._version

    def on_commit(self, hook: CommitHook) -> None:
        """Call ``hook`` with the committed version after COMMIT, in order; never after rollback."""
        self._hooks.append(hook)

    def before_commit(self, hook: Callable[[], None]) -> None:
        """Call ``hook`` right before COMMIT, in order; what it raises undoes the transaction."""
        self._last_reads.append(hook)

    def finish(self) -> None:
        """Call what ``before_commit`` was given; for the store."""
        for hook in self._last_reads:
            hook()

    def take_hooks(self) -> tuple[CommitHook, ...]:
        """Hand the hooks to the store, which runs them after COMMIT."""
        hooks, self._hooks = tuple(self._hooks), []
        return hooks

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo only what happened inside when it raises, its hooks and version included."""
        hooks, reads, version = len(self._hooks), len(self._last_reads), self._version
        try:
            with self.connection:
                yield
        except BaseException:
            del self._hooks[hooks:], self._last_reads[reads:]
            self._version = version
            self.scopes.forget()
            self.meta.forget()
            raise

    @_made_once
    def meta(self) -> MetaRepository:
        """Return counters, identities and other single values."""
        from retold.store.meta import MetaRepository

        return MetaRepository(self)

    @_made_once
    def scopes(self) -> ScopeRepository:
        """Return scopes and their integer codes."""
        from retold.store.scopes import ScopeRepository

        return ScopeRepository(self)

    @_made_once
    def grants(self) -> GrantRepository:
        """Return which agent may use which shared scope."""
        from retold.store.grants import GrantRepository

        return GrantRepository(self)

    @_made_once
    def entities(self) -> EntityRepository:
        """Return entities, aliases and links."""
        from retold.store.entities import EntityRepository

        return EntityRepository(self)

    @_made_once
    def records(self) -> RecordRepository:
        """Return memories and their conflicts."""
        from retold.store.records import RecordRepository

        return RecordRepository(self)

    @_made_once
    def evidence(self) -> EvidenceRepository:
        """Return the observations behind records."""
        from retold.store.evidence import EvidenceRepository

        return EvidenceRepository(self)

    @_made_once
    def lexical(self) -> LexicalRepository:
        """Return the full-text index."""
        from retold.store.lexical import LexicalRepository

        return LexicalRepository(self)

    @_made_once
    def embeddings(self) -> EmbeddingRepository:
        """Return stored vectors."""
        from retold.store.embeddings import EmbeddingRepository

        return EmbeddingRepository(self)

    @_made_once
    def token_vectors(self) -> TokenVectorRepository:
        """Return stored token vectors."""
        from retold.store.token_vectors import TokenVectorRepository

        return TokenVectorRepository(self)

    @_made_once
    def projection(self) -> ProjectionRepository:
        """Return what the in-process index is made of."""
        from retold.store.projection import ProjectionRepository

        return ProjectionRepository(self)

    @_made_once
    def sessions(self) -> SessionRepository:
        """Return conversations and turns."""
        from retold.store.sessions import SessionRepository

        return SessionRepository(self)

    @_made_once
    def claims(self) -> ClaimRepository:
        """Return who works on which step of an extraction."""
        from retold.store.claims import ClaimRepository

        return ClaimRepository(self)

    @_made_once
    def extraction(self) -> ExtractionRepository:
        """Return what is staged between the two steps of an extraction, and what was refused."""
        from retold.store.extraction import ExtractionRepository

        return ExtractionRepository(self)

    @_made_once
    def providers(self) -> ProviderRepository:
        """Return which providers of models answer."""
        from retold.store.providers import ProviderRepository

        return ProviderRepository(self)

    @_made_once
    def budget(self) -> BudgetRepository:
        """Return what hosted models were used for."""
        from retold.store.budget import BudgetRepository

        return BudgetRepository(self)

    @_made_once
    def events(self) -> EventRepository:
        """Return the audit trail."""
        from retold.store.events import EventRepository

        return EventRepository(self)

    @_made_once
    def search_log(self) -> SearchLogRepository:
        """Return logged searches."""
        from retold.store.search_log import SearchLogRepository

        return SearchLogRepository(self)
