"""The models that settings ask for: which of them are here, and fetching those that are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

from retold.config import ProfileName, RetoldConfig, profile_config
from retold.errors import RetoldSetupError
from retold.index.hub import PACKAGES, Progress, download_model, not_installed, pull_target
from retold.index.model_files import ModelFiles, find_model
from retold.operations.status import embedder_state

ModelRole = Literal["embedder", "judge", "reranker"]

DOWNLOADS: Final[Mapping[ProfileName, str]] = {
    "standard": "about 2.8 GB",
    "lite": "about 640 MB",
    "offline": "nothing",
}
"""What each profile fetches from the hub, once."""


@dataclass(frozen=True, slots=True)
class ModelState:
    """One model and whether it can be loaded here.

    ``needed`` is False for a reranker that is switched off. ``location``, ``bytes`` and ``sha256``
    are None for what is not here and for rules; ``revision`` is None for what is not of the hub.
    ``missing`` names the packages that loading lacks.
    """

    role: ModelRole
    name: str
    needed: bool
    present: bool
    location: str | None
    bytes: int | None
    revision: str | None
    sha256: str | None
    missing: tuple[str, ...]

    @property
    def is_ready(self) -> bool:
        """Return whether a store that uses it opens."""
        return self.present and not self.missing


@dataclass(frozen=True, slots=True)
class ProfileModels:
    """The models of one profile. ``ready`` tells whether a store with it opens here."""

    profile: ProfileName
    ready: bool
    download: str
    models: tuple[ModelState, ...]


@dataclass(frozen=True, slots=True)
class PulledModel:
    """One model that is here now; ``downloaded`` is False when it was before."""

    name: str
    downloaded: bool
    location: str
    bytes: int
    revision: str | None
    sha256: str


def profile_models(profile: ProfileName) -> ProfileModels:
    """Return the models of a profile, looking at files and packages only."""
    models = model_states(profile_config(profile))
    ready = all(model.is_ready for model in models if model.needed)
    return ProfileModels(profile, ready, DOWNLOADS[profile], models)


def model_states(config: RetoldConfig) -> tuple[ModelState, ...]:
    """Return the models that a configuration names, looking at files and packages only."""
    embedder = _packaged(config) if config.embedding.is_packaged else None
    judge = config.ingestion.equivalence
    return (
        embedder or _of_hub("embedder", config.embedding.model),
        _rules() if judge.is_lexical else _of_hub("judge", judge.model),
        _of_hub("reranker", config.reranker.model, needed=config.reranker.enabled),
    )


def hub_models(config: RetoldConfig) -> tuple[str, ...]:
    """Return the names of the models that a configuration needs from the hub."""
    judge = config.ingestion.equivalence
    wanted = (
        (config.embedding.model, not config.embedding.is_packaged),
        (judge.model, not judge.is_lexical),
        (config.reranker.model, config.reranker.enabled),
    )
    return tuple(name for name, needed in wanted if needed)


def pull_model(name: str, *, progress: Progress | None = None) -> PulledModel:
    """Fetch a model unless it is here, and compare its bytes with the hub's hash.

    A model that is here is left alone, whatever the hub has now: new weights would be another model
    to the stores that use this one. Raises RetoldSetupError with the reason.
    """
    files = find_model(name)
    downloaded = files is None
    if files is None:
        files = download_model(name, progress=progress)
        if problem := damage(files):
            raise RetoldSetupError(problem)
    return PulledModel(
        name, downloaded, str(files.folder), files.size, files.revision, files.sha256
    )


def damage(files: ModelFiles) -> str | None:
    """Return what is wrong with a model whose bytes are not those of its hash."""
    if files.measured_sha256() == files.sha256:
        return None
    return (
        f"the weights of {files.name!r} are damaged; delete {str(files.folder)!r} and "
        f"run `retold models pull {pull_target(files.name)}`"
    )


def _of_hub(role: ModelRole, name: str, *, needed: bool = True) -> ModelState:
    files = find_model(name)
    missing = not_installed(PACKAGES)
    if files is None:
        return ModelState(role, name, needed, False, None, None, None, None, missing)
    return ModelState(
        role,
        name,
        needed,
        True,
        str(files.folder),
        files.size,
        files.revision,
        files.sha256,
        missing,
    )


def _packaged(config: RetoldConfig) -> ModelState:
    from retold.index.onnx import MODEL_PACKAGE

    state = embedder_state(config.embedding)
    spec = find_spec(MODEL_PACKAGE)
    file = None if spec is None or spec.origin is None else Path(spec.origin).parent / "model.onnx"
    present = file is not None and file.is_file()
    return ModelState(
        "embedder",
        state.name,
        True,
        present,
        str(file) if present else None,
        file.stat().st_size if file is not None and present else None,
        None,
        state.sha256 if present else None,
        state.missing,
    )


def _rules() -> ModelState:
    return ModelState("judge", "lexical", True, True, None, None, None, None, ())
