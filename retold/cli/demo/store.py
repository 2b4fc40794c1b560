"""The store of a demonstration, opened alike by every process that takes part."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from retold.cli.opening import with_threads
from retold.config import profile_config
from retold.index.embedder import embedder_from_config
from retold.memory import Retold
from retold.runtime import Overrides

PROFILE: Final = "offline"


def open_demo(path: Path, *, create: bool = True) -> Retold:
    """Open the store with the offline profile, embedding on one thread as every command does."""
    embedder = embedder_from_config(with_threads(profile_config(PROFILE)).embedding)
    return Retold.open(path, profile=PROFILE, overrides=Overrides(embedder=embedder), create=create)
