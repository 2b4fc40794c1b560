"""The files of a model on this machine, in a folder or in the cache of the hub's own library."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from retold.errors import ConfigError

OTHER_FORMATS: Final = ("onnx", "openvino", "coreml", "runs", "checkpoints")
"""Folders of a repository that sentence-transformers does not load."""
_MARKERS: Final = ("config.json", "modules.json")
_SHARDS: Final = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_SHA256: Final = re.compile("[0-9a-f]{64}")


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

    @property
    def label(self) -> str:
        """Return the name with the first digits of the hash, to be kept beside what it scored."""
        return f"{self.name}@{self.sha256[:12]}"

    def measured_sha256(self) -> str:
        """Return the same hash, read from the bytes of the weights."""
        return _joined(_file_sha256(path) for path in self.weights)

    def settings(self) -> Mapping[str, Any]:
        """Return the model's own ``config.json``; empty when it has none that can be read."""
        return _json_object(self.folder / "config.json")


def find_model(name: str) -> ModelFiles | None:
    """Return the files of a model; None when it is not here or its weights are incomplete."""
    folder = Path(os.path.expanduser(name))  # Path.expanduser raises for strangers
    if folder.is_dir():
        return _complete(name, folder, None)
    snapshot = _cached_snapshot(name)
    return None if snapshot is None else _complete(name, snapshot, snapshot.name)


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
        if directory.name in OTHER_FORMATS:
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
