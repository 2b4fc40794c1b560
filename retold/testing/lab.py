"""A whole memory on a temporary file, with fakes instead of models, in one call."""
# ruff: noqa: ANN401  # overrides and options have the types of the fields they are named after

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from retold.config import RetoldConfig, parse_config
from retold.memory import MemorySession, Retold
from retold.runtime import MemoryRuntime, Overrides
from retold.store import Store
from retold.testing.fakes import CountingIds, FakeClock, FakeEmbedder, FakeJudge, FakeQueue


class MemoryLab:
    """An opened ``Retold`` with its fakes at hand.

    They are ``clock``, ``ids``, ``embedder``, ``judge`` and ``queue``. It is a context manager::

        with MemoryLab.open() as lab:
            lab.session("ana").remember("Likes green tea", evidence="I like green tea.")
            lab.clock.advance(days=3)

    It runs on the offline profile. Everything but the models is real: the file, the transactions,
    the rules.
    """

    __test__ = False

    def __init__(self, path: Path, config: RetoldConfig, overrides: Overrides) -> None:
        """Open a store on ``path``; ``MemoryLab.open`` fills in what is not given."""
        self.path = path
        self.config = config
        self.overrides = overrides
        self.clock: Any = overrides.clock
        self.ids: Any = overrides.id_source
        self.embedder: Any = overrides.embedder
        self.judge: Any = overrides.judge
        self.queue: Any = overrides.queue
        self._cleanup = ExitStack()
        self.retold = self._cleanup.enter_context(
            Retold.open(path, config=config, overrides=overrides)
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        **overrides: Any,
    ) -> Self:
        """Open a lab on ``path``, or on a file that goes away with it when that is None.

        ``settings`` holds differences from the offline profile, nested as in the YAML file;
        ``overrides`` are fields of ``retold.runtime.Overrides``, each in place of its fake.
        Raises what ``Retold.open`` raises, ConfigError, and TypeError for an unknown override.
        """
        fakes: dict[str, Any] = {
            "clock": FakeClock(),
            "id_source": CountingIds(),
            "embedder": FakeEmbedder(),
            "judge": FakeJudge(),
            "queue": FakeQueue(),
        }
        config = parse_config(settings or {}, profile="offline")
        given = Overrides(**(fakes | overrides))
        with ExitStack() as cleanup:
            if path is None:
                folder = cleanup.enter_context(TemporaryDirectory(prefix="retold-lab-"))
                path = Path(folder, "memory.db")
            lab = cls(Path(path), config, given)
            cleanup.push(lab._cleanup.pop_all().__exit__)
            lab._cleanup = cleanup.pop_all()
        return lab

    @property
    def runtime(self) -> MemoryRuntime:
        """Return what the application face stands on."""
        return self.retold.runtime

    @property
    def store(self) -> Store:
        """Return the open store."""
        return self.retold.store

    def session(self, user: str = "ana", agent: str = "helper", **options: Any) -> MemorySession:
        """Open a conversation; ``options`` are those of ``Retold.session``."""
        return self.retold.session(user, agent_id=agent, **options)

    def reopen(self, **overrides: Any) -> MemoryLab:
        """Open the same file once more, with the same fakes: what a second process would see.

        It closes with this lab, or earlier.
        """
        given = {name: getattr(self.overrides, name) for name in Overrides.__slots__}
        second = type(self)(self.path, self.config, Overrides(**(given | overrides)))
        return self._cleanup.enter_context(second)

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of every table, by name."""
        with self.store.read() as tx:
            return tx.meta.row_counts()

    def close(self) -> None:
        """Close everything that was opened and remove the temporary file. Idempotent."""
        self._cleanup.close()

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
        return f"MemoryLab({os.fspath(self.path)!r})"
