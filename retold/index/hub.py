"""Fetching models, and what helps when one is not on this machine.

A model is named as on the model hub, or by a folder. Loading never asks the hub anything: a library
that does retries for more than a minute on a machine without a network.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import Any, Final, Self

from retold.config import PROFILES, profile_config
from retold.errors import RetoldSetupError
from retold.index.model_files import OTHER_FORMATS, ModelFiles, find_model

PACKAGES: Final = ("sentence_transformers", "torch")
"""What loads these models; the extra ``local-models`` installs it."""

INSTALL: Final = 'pip install "retold[local-models]"'
_OFFLINE: Final = "profile='offline' (pip install \"retold[offline]\")"
_SUFFIXES: Final = (".json", ".txt", ".model", ".jinja", ".safetensors")
_WEIGHTS: Final = (".safetensors", ".bin")
_NOT_SHOWN: Final = (401, 404)
"""What the hub answers about a name it does not have, and about one that is somebody's own."""
_TIMEOUT_SECONDS: Final = 10
"""Longest wait for the hub's first answer; a refused connection is known at once."""

Progress = Callable[[str, int, int], None]
"""Told the file in hand, the bytes that have come and all that will, sizes as the hub states."""


def require_model(name: str, *, allow_download: bool = False) -> ModelFiles:
    """Return the files of a model, downloading them only where that was allowed.

    Raises RetoldSetupError when the packages that load it are missing, when the model is not here
    and may not be downloaded, and when the download fails.
    """
    require_packages(name)
    files = find_model(name)
    if files is not None:
        return files
    if allow_download:
        return download_model(name)
    raise RetoldSetupError(
        f"the model {name!r} is not on this machine; run `retold models pull {pull_target(name)}` "
        f"while online, or open the store with {_OFFLINE}, which needs no model hub"
    )


def require_packages(name: str) -> None:
    """Raise RetoldSetupError when the packages that load a model are not installed."""
    missing = not_installed(PACKAGES)
    if missing:
        raise RetoldSetupError(
            f"the model {name!r} needs {' and '.join(missing)}; run: {INSTALL}, "
            f"or open the store with {_OFFLINE}, which needs neither"
        )


def not_installed(packages: Iterable[str]) -> tuple[str, ...]:
    """Return those of the packages that this environment lacks, in order; none is imported."""
    return tuple(package for package in packages if find_spec(package) is None)


def pull_target(name: str) -> str:
    """Return what `retold models pull` is given for a model: its profile, or else its name."""
    naming = [
        profile
        for profile in PROFILES
        if name
        in (
            (config := profile_config(profile)).embedding.model,
            config.ingestion.equivalence.model,
        )
    ]
    return naming[0] if len(naming) == 1 else name


def download_model(name: str, *, progress: Progress | None = None) -> ModelFiles:
    """Fetch from the hub what loading needs and is not here, into the cache of the hub's library.

    The weights come last, so that a model without them was not fetched whole. ``progress`` None
    leaves the hub's own bars on standard error. Raises RetoldSetupError with the reason, at once
    when the hub cannot be reached.
    """
    if not_installed(["huggingface_hub"]):
        raise RetoldSetupError(f"downloading a model needs huggingface_hub; run: {INSTALL}")
    try:
        _download(name, progress)
    except Exception as error:  # whichever HTTP client this version of the hub's library uses
        raise RetoldSetupError(
            f"the model {name!r} was not downloaded: {_reason(error)}"
        ) from error
    files = find_model(name)
    if files is None:
        raise RetoldSetupError(f"the hub has no weights for {name!r} that can be loaded")
    return files


def _download(name: str, progress: Progress | None) -> None:
    from huggingface_hub import HfApi, hf_hub_download

    # Asked first and once: the calls of the download itself would be retried for a minute.
    info = HfApi().model_info(name, timeout=_TIMEOUT_SECONDS, files_metadata=True)
    sizes = {one.rfilename: one.size or 0 for one in info.siblings or ()}
    names = needed_files(sizes)
    total = sum(sizes[file] for file in names)
    done = 0
    for file in names:
        options: dict[str, Any] = {}
        if progress is not None and "tqdm_class" in inspect.signature(hf_hub_download).parameters:
            options["tqdm_class"] = _bar(_counting(progress, file, done, total))
        hf_hub_download(name, file, **options)
        done += sizes[file]
        if progress is not None:
            progress(file, done, total)


def _counting(progress: Progress, file: str, before: int, total: int) -> Callable[[int], None]:
    return lambda more: progress(file, before + more, total)


def needed_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the files of a repository that loading needs, sorted, the weights at the end.

    Weights of other formats, pictures and training leftovers stay behind; so do pickled weights
    where the same folder has safetensors.
    """
    paths = [PurePosixPath(name) for name in names]
    paths = [path for path in paths if path.parts[0] not in OTHER_FORMATS]
    safe = {path.parent for path in paths if path.suffix == ".safetensors"}
    needed = (
        path
        for path in paths
        if path.suffix in _SUFFIXES
        or (path.match("pytorch_model*.bin") and path.parent not in safe)
    )
    ordered = sorted(needed, key=lambda path: (path.suffix in _WEIGHTS, str(path)))
    return tuple(str(path) for path in ordered)


def _bar(report: Callable[[int], None]) -> type:
    """Return what stands in the place of the hub's bar for one file: it reports the bytes so far.

    It has the methods that the hub's library itself gives the bars it puts together.
    """

    class Bar:
        def __init__(self, *_: object, initial: int = 0, **__: object) -> None:
            self.done = initial

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, more: float | None = 1) -> None:
            self.done += int(more or 0)
            report(self.done)

        def ignore(self, *_: object, **__: object) -> None:
            pass

        close = update_transfer = set_postfix_str = set_transfer_postfix_str = ignore

    return Bar


def _reason(error: Exception) -> str:
    """Return why the hub gave nothing, and what helps."""
    from huggingface_hub import constants, errors

    if isinstance(error, errors.OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set; unset it to download"
    if isinstance(error, errors.GatedRepoError):
        return "the hub asks for a permission; run `hf auth login` with an account that has it"
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, errors.RepositoryNotFoundError) or status in _NOT_SHOWN:
        return f"{constants.ENDPOINT} has no model of that name, or does not show it to you"
    if isinstance(error, ValueError):
        return "that is neither a folder here nor a name that a hub could have"
    if status is not None:
        return f"{constants.ENDPOINT} answered {status}; try again later"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{constants.ENDPOINT} cannot be reached ({type(error).__name__}); check the network"
