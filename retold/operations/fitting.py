"""Whether settings fit the vectors of a store, and what to do where they do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from retold.config import (
    PROFILES,
    AppliedSettings,
    EmbeddingConfig,
    ProfileName,
    profile_config,
)
from retold.errors import (
    ConfigError,
    EmbeddingProfileMismatch,
    MigrationRequired,
    RetoldSetupError,
    StoreError,
)
from retold.index.embedder import embedder_from_config
from retold.protocols import Embedder
from retold.store import Store
from retold.store.meta import EmbeddingIdentity

Speaker = Literal["program", "command"]
"""Whom the advice is for: a program that opens a store, or a command of ``retold``."""

Misfit: TypeAlias = Callable[[EmbeddingIdentity, EmbeddingIdentity, str], EmbeddingProfileMismatch]
"""Makes the error for vectors of one embedding and settings of another, and the store's file."""


class StoredEmbedding(NamedTuple):
    """The profile that a store was made with, and whose vectors it holds; None for none."""

    profile: str | None
    identity: EmbeddingIdentity | None


_NOTHING: Final = StoredEmbedding(None, None)


def named_identity(config: EmbeddingConfig) -> EmbeddingIdentity:
    """Return whose vectors the settings name; the version lacks what the weights add to it."""
    return EmbeddingIdentity(config.model, config.version, config.dims)


def identity_of(embedder: Embedder) -> EmbeddingIdentity:
    """Return whose vectors an embedder makes; nothing is loaded."""
    return EmbeddingIdentity(embedder.name, embedder.version, embedder.dims)


def stored_embedding(path: Path) -> StoredEmbedding:
    """Return what a store remembers of how it was made; nothing for a new or unusable file.

    What is wrong with the file is reported, or migrated, when it is opened for good.
    """
    try:
        return _read_embedding(path)
    except (StoreError, OSError):
        return _NOTHING


def _read_embedding(path: Path) -> StoredEmbedding:
    """Return ``stored_embedding``; raise what ``Store.open`` does for a file that is unusable."""
    if path.is_file() and path.stat().st_size == 0:
        return _NOTHING
    with (
        Store.open(path, read_only=True, allow_migration_issues=True) as store,
        store.read() as tx,
    ):
        return StoredEmbedding(tx.meta.profile(), tx.meta.embedding_identity())


def require_fitting(store: Store, applied: AppliedSettings, speaker: Speaker = "command") -> None:
    """Raise EmbeddingProfileMismatch, with what to do, for settings of another embedding.

    No model is loaded, and none has to be here to be told apart by its name; a store without
    vectors fits every one. Raises RetoldSetupError for a model or package that is missing.
    """
    with store.read() as tx:
        stored = tx.meta.embedding_identity()
    if stored is None:
        return
    wanted = named_identity(applied.config.embedding)
    if stored.model == wanted.model:
        wanted = identity_of(embedder_from_config(applied.config.embedding))
    if stored != wanted:
        raise mismatch(stored, wanted, str(store.path), applied, speaker)


def fitting_embedder(
    config: EmbeddingConfig, path: Path, misfit: Misfit, *, creates: bool
) -> Embedder:
    """Return the configured embedder; one that is missing, and would not fit, does not fit.

    Raises as ``embedder_from_config``, and what ``misfit`` makes. What is wrong with the file is
    told before what is missing, that there is none included unless the caller ``creates`` it: no
    model would help.
    """
    try:
        return embedder_from_config(config)
    except (RetoldSetupError, ConfigError) as missing:
        wanted = named_identity(config)
        if creates and _may_be_made(path):
            place = f"there is no store at {path} yet; for a new one, "
            raise type(missing)(place + missing.message, **missing.details) from missing
        stored = _identity_in(path)
        if stored is None or stored.model == wanted.model:
            raise
    raise misfit(stored, wanted, str(path))


def _may_be_made(path: Path) -> bool:
    """Return whether there is no file, and a folder to make one in."""
    try:
        return not path.exists() and path.absolute().parent.is_dir()
    except OSError:
        return False


def _identity_in(path: Path) -> EmbeddingIdentity | None:
    """Return whose vectors a file holds; None for one that is still to be migrated."""
    try:
        return _read_embedding(path).identity
    except (MigrationRequired, OSError):
        return None


def mismatch(
    stored: EmbeddingIdentity,
    wanted: EmbeddingIdentity,
    place: str,
    applied: AppliedSettings | None = None,
    speaker: Speaker = "program",
) -> EmbeddingProfileMismatch:
    """Return the error for vectors of another embedding; ``place`` is the store's file.

    ``applied`` None stands for a configuration that a program made itself.
    """
    advice = _advice(stored, wanted, applied, speaker)
    if speaker == "program":
        advice += ', or pass on_embedding_mismatch="lexical" to search without vectors'
    return EmbeddingProfileMismatch(
        f"{place} holds vectors of {stored}, these settings ask for {wanted}; {advice}; this "
        "release cannot re-embed a store"
    )


def mismatch_of_given(
    stored: EmbeddingIdentity, wanted: EmbeddingIdentity, place: str
) -> EmbeddingProfileMismatch:
    """Return the error for an embedder that a program passed, whatever the settings name."""
    return EmbeddingProfileMismatch(
        f"{place} holds vectors of {stored}, the given embedder makes those of {wanted}; pass the "
        'embedder that the store was made with, or on_embedding_mismatch="lexical" to search '
        "without vectors; this release cannot re-embed a store"
    )


def _advice(
    stored: EmbeddingIdentity,
    wanted: EmbeddingIdentity,
    applied: AppliedSettings | None,
    speaker: Speaker,
) -> str:
    """Say what makes the settings fit, by where they came from."""
    if (stored.model, stored.dims) == (wanted.model, wanted.dims):
        return (
            "the model is the same in another version: use the embedding.version and the weights "
            "that the store was made with"
        )
    profile = _profile_with(stored)
    file = None if applied is None else applied.file
    if profile is None:
        where = file or "a configuration"
        return f"name the store's model, version and dims under `embedding` in {where}"
    if applied is not None and file is not None:
        rest = " and take the `embedding` block out of it" if applied.sets_embedding else ""
        return f"write `profile: {profile}` into {file}{rest}"
    if applied is None or applied.origin == "program":
        return f"make the configuration on the profile {profile}"
    if speaker == "program":
        return f'open it with profile="{profile}"'
    return f"pass --profile {profile}"


def _profile_with(stored: EmbeddingIdentity) -> ProfileName | None:
    """Return the profile whose embedder made the vectors; None for a model of no profile."""
    for profile in PROFILES:
        embedding = profile_config(profile).embedding
        if (embedding.model, embedding.dims) == (stored.model, stored.dims):
            return profile
    return None
