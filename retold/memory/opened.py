"""An opened store: the first thing an application holds."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from retold.config import (
    PROFILES,
    AppliedSettings,
    RetoldConfig,
    applied_settings,
    read_environment,
    resolve_store_path,
)
from retold.errors import InvalidInput, NotYetAvailable
from retold.host import MemoryHost
from retold.memory.asynchronous import AsyncMemorySession
from retold.memory.session import MemorySession
from retold.models import Principal
from retold.operations.fitting import mismatch, stored_embedding
from retold.operations.status import StoreStatus, store_status
from retold.runtime import MemoryRuntime, OnMismatch, Overrides, build_runtime
from retold.store import Store
from retold.text import require_bool


class Retold:
    """A store of memories, opened once per process and safe across its threads.

    ``Retold.open`` owns what it opens; ``Retold(runtime)`` leaves closing to whoever made the
    runtime. Use it as a context manager.
    """

    def __init__(self, runtime: MemoryRuntime, *, owns_runtime: bool = False) -> None:
        """Put the face on a runtime."""
        self.runtime = runtime
        self._owns_runtime = owns_runtime

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        config: RetoldConfig | str | os.PathLike[str] | None = None,
        profile: str | None = None,
        overrides: Overrides | None = None,
        create: bool = True,
        migrate: bool = False,
        read_only: bool = False,
        on_embedding_mismatch: OnMismatch = "raise",
    ) -> Self:
        """Open a store, making a missing file.

        ``config`` is a configuration or a YAML path; ``profile`` one of standard, lite, offline.
        Both None: RETOLD_CONFIG or RETOLD_PROFILE, else the profile the store was made with, else
        standard; a file that is still to be migrated names none. A YAML file that names no profile
        goes on with the store's. ``path`` None takes
        RETOLD_STORE, then ``store.path`` of the configuration. A ``read_only`` store is searched
        and read; what would write raises StoreUnavailable. Raises InvalidInput for a path that no
        file can have and for a switch that is neither True nor False, ValueError for config and
        profile at once or an unknown profile, RetoldSetupError for a missing model or package,
        MigrationRequired, ForeignFile, EmbeddingProfileMismatch and StoreUnavailable.
        """
        for switch, value in (("create", create), ("migrate", migrate), ("read_only", read_only)):
            require_bool(value, switch)
        file, applied = resolve_settings(path, config, profile)
        runtime = build_runtime(
            applied.config,
            file,
            overrides=overrides,
            profile=applied.profile,
            create=create,
            migrate=migrate,
            read_only=read_only,
            on_embedding_mismatch=on_embedding_mismatch,
            misfit=partial(mismatch, applied=applied, speaker="program"),
        )
        return cls(runtime, owns_runtime=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Retold({os.fspath(self.store.path)!r})"

    @property
    def store(self) -> Store:
        """Return the open store."""
        return self.runtime.store

    @property
    def host(self) -> MemoryHost:
        """Return the application's own door: grants, names of users, trusted writes."""
        return self.runtime.host

    def close(self) -> None:
        """Write what waits and close the store, if this object opened it. Idempotent."""
        if self._owns_runtime:
            self.runtime.close()

    def session(
        self,
        user_id: str,
        *,
        agent_id: str = "assistant",
        session_id: str | None = None,
        project_id: str | None = None,
        extract: bool = False,
        record: bool = True,
    ) -> MemorySession:
        """Open a conversation of one agent with one user.

        No grant is needed: without one it works on the private scope of the pair. ``session_id``
        is the host's own id (None makes one); a known one goes on. ``record`` False keeps no
        transcript from now on, until the id is opened with True again: ``turn`` stores nothing and
        returns the number 0, and ``remember`` keeps its evidence with the claim alone. On a
        read-only store the session searches and reads, and leaves no trace. ``extract`` True asks
        for extraction when the session ends. Raises InvalidInput
        for blank ids, control characters, a slash in agent or user id, or ``~`` in a session id;
        with ``extract`` also RetoldSetupError for a model, package or key that is missing, and
        HostedNotAllowed.
        """
        require_bool(record, "record")
        principal = self._principal(user_id, agent_id, session_id, project_id, extract=extract)
        return self._start(principal, record=record, extract=extract)

    def asession(
        self,
        user_id: str,
        *,
        agent_id: str = "assistant",
        session_id: str | None = None,
        project_id: str | None = None,
        extract: bool = False,
        record: bool = True,
    ) -> AsyncMemorySession:
        """Return the async face of a conversation, for ``async with``.

        Arguments and errors are those of ``session``; nothing is stored before the block is
        entered or the first call is awaited.
        """
        require_bool(record, "record")
        principal = self._principal(user_id, agent_id, session_id, project_id, extract=extract)
        return AsyncMemorySession(
            lambda: self._start(principal, record=record, extract=extract), principal
        )

    def status(self) -> StoreStatus:
        """Return what an operator asks first: counts over the whole store, models, sizes."""
        models = (self.runtime.embedder, self.runtime.judge)
        return store_status(self.store, self.runtime.config, "the open store", models)

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of every table, by name: what a refused write leaves as is."""
        with self.store.read() as tx:
            return tx.meta.row_counts()

    def forget_user(self, user_id: str, **options: Any) -> NoReturn:  # noqa: ANN401  # any option
        """Say that erasure comes with a later release."""
        raise NotYetAvailable.named("erasing a user")

    def _principal(
        self,
        user_id: str,
        agent_id: str,
        session_id: str | None,
        project_id: str | None,
        *,
        extract: bool,
    ) -> Principal:
        named = self.runtime.id_source() if session_id is None else session_id
        principal = Principal(agent_id, user_id, named, project_id)
        if require_bool(extract, "extract"):
            self.runtime.require_extraction(principal)
        return principal

    def _start(self, principal: Principal, *, record: bool, extract: bool) -> MemorySession:
        if self.store.read_only:
            return MemorySession(self.runtime, principal)
        started = self.runtime.hooks.on_session_start(principal, record=record)
        return MemorySession(
            self.runtime, principal, extract=extract, first_segment=started.segment
        )


def resolve_settings(
    path: str | os.PathLike[str] | None,
    config: RetoldConfig | str | os.PathLike[str] | None,
    profile: str | None,
) -> tuple[str, AppliedSettings]:
    """Return the file of the store and the settings that apply to it.

    Arguments and errors are those of ``Retold.open``, which takes its settings from here.
    """
    choices = ", ".join(PROFILES)
    if config is not None and profile is not None:
        raise ValueError(f"pass config or profile, not both; the profiles are {choices}")
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}; choose one of {choices}")
    named = None if path is None else os.fspath(path)
    if named is not None and not named:
        raise InvalidInput(
            "the store's path is empty; name a file, or leave path out", field="path"
        )
    environ = read_environment()
    if isinstance(config, RetoldConfig):
        file = resolve_store_path(named, environ, lambda: config.store.path)
        return file, AppliedSettings(config, None, None, "program")
    written = None if config is None else os.fspath(config)
    # No profile says where the store lies, so any will do as long as the store's is unknown.
    file = resolve_store_path(
        named, environ, lambda: applied_settings(written, profile, None, environ).config.store.path
    )
    stored = stored_embedding(Path(file)).profile if profile is None else None
    return file, applied_settings(written, profile, stored, environ)
