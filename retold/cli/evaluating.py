"""A laboratory for evaluations: a folder that goes away, vectors kept by text, stores on demand."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from retold.cli.opening import hide_bars, settings
from retold.cli.options import GlobalOptions
from retold.config import RetoldConfig
from retold.index.embedder import embedder_from_config
from retold.operations.evaluation.searching import OpenRuntime, Runtime
from retold.operations.evaluation.vectors import CachedEmbedder
from retold.runtime import Overrides, build_runtime
from retold.util import Clock


@dataclass(frozen=True, slots=True)
class Laboratory:
    """What an evaluation needs: a folder for its stores, an embedder, and what opens a store."""

    folder: Path
    embedder: CachedEmbedder
    open_runtime: OpenRuntime


def evaluated_config(options: GlobalOptions) -> RetoldConfig:
    """Return the settings that are named, and those of the offline profile where none are.

    Raises as ``settings``.
    """
    return settings(options, "offline").config


@contextmanager
def laboratory(config: RetoldConfig, cache: Path | None) -> Iterator[Laboratory]:
    """Make a folder for stores and load the configured embedder when it is first used.

    ``cache`` keeps vectors beyond the run; None keeps them for the run. Raises RetoldSetupError
    for a model that is not here.
    """
    hide_bars(config)
    inner = embedder_from_config(config.embedding)
    with tempfile.TemporaryDirectory(prefix="retold-evaluate-") as name:
        folder = Path(name)
        tokens = config.retrieval.late_interaction.enabled
        with closing(CachedEmbedder(inner, cache or folder, with_tokens=tokens)) as embedder:

            def open_runtime(config: RetoldConfig, path: Path, clock: Clock) -> Runtime:
                given = Overrides(embedder=embedder, clock=clock)
                return build_runtime(config, path, overrides=given)

            yield Laboratory(folder, embedder, open_runtime)
