"""From the global options to an open store, which a command never makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from retold.cli.options import GlobalOptions, Sources
from retold.config import (
    AppliedSettings,
    Origin,
    RetoldConfig,
    applied_settings,
    read_environment,
    resolve_store_path,
)
from retold.errors import ConfigError, InvalidInput, StoreUnavailable
from retold.store import Store

if TYPE_CHECKING:
    from retold.runtime import MemoryRuntime, SearchRuntime


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that apply, and in words where they come from."""

    applied: AppliedSettings

    @property
    def config(self) -> RetoldConfig:
        """Return the settings themselves."""
        return self.applied.config

    @property
    def configured(self) -> str:
        """Say which flag, variable or profile they come from."""
        applied = self.applied
        if applied.file is not None:
            named = "--config" if applied.origin == "argument" else "RETOLD_CONFIG"
            return f"{named} {applied.file}"
        return f"profile {applied.profile}, from {_ORIGINS[applied.origin]}"


_ORIGINS: Final[Mapping[Origin, str]] = {
    "argument": "--profile",
    "environment": "RETOLD_PROFILE",
    "store": "the store",
    "default": "the default",
}


def store_path(options: GlobalOptions, *, for_principals: bool = False) -> Path:
    """Return the file a command is about. Raises StoreUnavailable when it is not there.

    A command that shows or changes more than an agent may reach is refused for one; those that
    ask what the principal may read say so with ``for_principals``.
    """
    if options.principal is not None and not for_principals:
        raise InvalidInput(
            "this command is for operators: --as takes a name without a slash, such as admin"
        )
    path = Path(_named_path(options))
    if not path.exists():
        raise StoreUnavailable(
            f"there is no store at {str(path)!r}; name one with --store FILE or RETOLD_STORE"
        )
    if not path.is_file():
        raise StoreUnavailable(f"{str(path)!r} is not a file; name a store with --store FILE")
    return path


def _named_path(options: GlobalOptions) -> str:
    # The store's own profile cannot be asked before the store is known.
    return resolve_store_path(
        options.store, read_environment(), lambda: settings(options, None).config.store.path
    )


def settings(options: GlobalOptions, store_profile: str | None) -> Settings:
    """Return the settings that apply to a store made with this profile.

    Raises InvalidInput for an unknown profile and for one beside a configuration, ConfigError for
    a wrong file.
    """
    if options.config is not None and options.profile is not None:
        raise InvalidInput("pass --config or --profile, not both")
    try:
        applied = applied_settings(
            options.config, options.profile, store_profile, read_environment()
        )
    except ValueError as error:
        raise InvalidInput(str(error)) from None
    return Settings(applied)


def require_huey(settings: Settings) -> None:
    """Raise ConfigError when the settings announce nothing to workers."""
    backend = settings.config.queue.backend
    if backend != "huey":
        raise ConfigError(
            f"queue.backend is {backend} ({settings.configured}), so nothing is announced to "
            "workers; set it to huey in a file for --config or RETOLD_CONFIG"
        )


@contextmanager
def opened_store(
    options: GlobalOptions, *, for_principals: bool = False
) -> Iterator[tuple[Store, Settings]]:
    """Open the store without a model; unresolved migration issues do not matter.

    Raises what ``store_path`` raises.
    """
    path = store_path(options, for_principals=for_principals)
    wait = settings(options, None).config.store.busy_timeout_seconds
    with open_existing(path, wait, options.sources) as store:
        with store.read() as tx:
            profile = tx.meta.profile()
        yield store, settings(options, profile)


def open_existing(path: Path, busy_timeout_seconds: float, sources: Sources) -> Store:
    """Open a store that exists, falling back to read-only where it cannot be written.

    A connection that may write tidies the files of the log away when it closes; a read-only one
    would leave them behind.
    """
    open_store = partial(
        Store.open,
        path,
        busy_timeout_seconds=busy_timeout_seconds,
        clock=sources.clock,
        id_source=sources.id_source,
        allow_migration_issues=True,
    )
    try:
        return open_store(create=False)
    except StoreUnavailable:
        return open_store(read_only=True)


@contextmanager
def opened_for_search(options: GlobalOptions) -> Iterator[SearchRuntime]:
    """Open the store with its embedder, which loads on first use."""
    from retold.operations.fitting import mismatch
    from retold.runtime import Overrides, build_search_runtime

    path = store_path(options, for_principals=True)
    with opened_store(options, for_principals=True) as (store, chosen):
        read_only = store.read_only
    hide_bars(chosen.config)
    runtime = build_search_runtime(
        with_threads(chosen.config),
        path,
        overrides=Overrides(clock=options.sources.clock, id_source=options.sources.id_source),
        read_only=read_only,
        misfit=partial(mismatch, applied=chosen.applied, speaker="command"),
    )
    try:
        yield runtime
    finally:
        runtime.close()


@contextmanager
def opened_for_extraction(options: GlobalOptions) -> Iterator[tuple[MemoryRuntime, Settings]]:
    """Open the store with everything that an extraction needs; models load on first use.

    Nothing is announced to anybody: what is due is done by whoever opened it.
    """
    from retold.operations.fitting import mismatch
    from retold.queue import NoQueue
    from retold.runtime import Overrides, build_runtime

    with opened_store(options) as (store, chosen):
        path = store.path
    hide_bars(chosen.config)
    runtime = build_runtime(
        with_threads(chosen.config),
        path,
        create=False,
        overrides=Overrides(
            queue=NoQueue(), clock=options.sources.clock, id_source=options.sources.id_source
        ),
        misfit=partial(mismatch, applied=chosen.applied, speaker="command"),
    )
    try:
        yield runtime, chosen
    finally:
        runtime.close()


def hide_bars(config: RetoldConfig) -> None:
    """Keep the bars that torch models draw while they load off standard error."""
    judge = config.ingestion.equivalence
    if config.embedding.is_packaged and judge.is_lexical and not config.reranker.enabled:
        return
    with suppress(ImportError):
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()


def with_threads(config: RetoldConfig) -> RetoldConfig:
    """Let one command embed on one thread: starting more costs it more than they save."""
    if config.embedding.threads is not None:
        return config
    embedding = config.embedding.model_copy(update={"threads": 1})
    return config.model_copy(update={"embedding": embedding})
