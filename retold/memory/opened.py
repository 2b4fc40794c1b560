"""An opened store: the first thing an application holds."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from retold.config import (
    PROFILES,
    RetoldConfig,
    load_config,
    profile_config,
    read_environment,
    resolve_profile,
)
from retold.errors import (
    NotYetAvailable,
    StoreUnavailable,
)
from retold.host import MemoryHost
from retold.memory.session import MemorySession
from retold.models import (
    Principal,
)
from retold.operations.status import StoreStatus, store_status
from retold.runtime import MemoryRuntime, OnMismatch, Overrides, build_runtime
from retold.store import Store


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
        standard. ``path`` None takes ``store.path`` of the configuration. Raises ValueError for
        both at once or an unknown profile, RetoldSetupError for a missing model or package,
        MigrationRequired, ForeignFile, EmbeddingProfileMismatch and StoreUnavailable.
        """
        chosen, name = _settings(path, config, profile)
        runtime = build_runtime(
            chosen,
            path,
            overrides=overrides,
            profile=name,
            create=create,
            migrate=migrate,
            read_only=read_only,
            on_embedding_mismatch=on_embedding_mismatch,
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
        transcript. Raises InvalidInput for blank ids, control characters, a slash in agent or user
        id, or ``~`` in a session id.
        """
        if extract:
            raise NotYetAvailable.named("session(extract=True)")
        principal = Principal(agent_id, user_id, session_id or self.runtime.id_source(), project_id)
        self.runtime.hooks.on_session_start(principal, record=record)
        return MemorySession(self.runtime, principal)

    def status(self) -> StoreStatus:
        """Return what an operator asks first: counts over the whole store, models, sizes."""
        return store_status(self.store, self.runtime.config, "the open store")

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of every table, by name: what a refused write leaves as is."""
        with self.store.read() as tx:
            return tx.meta.row_counts()

    def asession(self, user_id: str, **options: Any) -> NoReturn:  # noqa: ANN401  # any option
        """Say that the async face comes with a later release."""
        raise NotYetAvailable.named("the async face")

    def forget_user(self, user_id: str, **options: Any) -> NoReturn:  # noqa: ANN401  # any option
        """Say that erasure comes with a later release."""
        raise NotYetAvailable.named("erasing a user")


def _settings(
    path: str | os.PathLike[str] | None,
    config: RetoldConfig | str | os.PathLike[str] | None,
    profile: str | None,
) -> tuple[RetoldConfig, str | None]:
    """Return the configuration to use and the profile name a new store remembers."""
    choices = ", ".join(PROFILES)
    if config is not None and profile is not None:
        raise ValueError(f"pass config or profile, not both; the profiles are {choices}")
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}; choose one of {choices}")
    if isinstance(config, RetoldConfig):
        return config, None
    if config is not None:
        return load_config(Path(config)), None
    choice = resolve_profile(profile, _stored_profile(path), read_environment())
    if choice.config_path is not None:
        return load_config(choice.config_path), None
    name = choice.profile or "standard"
    return profile_config(name), name


def _stored_profile(path: str | os.PathLike[str] | None) -> str | None:
    """Return the profile an existing store was made with; None for a new or unreadable file.

    What is wrong with the file is reported when it is opened for good.
    """
    if path is None or not Path(path).is_file() or Path(path).stat().st_size == 0:
        return None
    try:
        with (
            Store.open(path, read_only=True, allow_migration_issues=True) as store,
            store.read() as tx,
        ):
            return tx.meta.profile()
    except (StoreUnavailable, OSError):
        return None
