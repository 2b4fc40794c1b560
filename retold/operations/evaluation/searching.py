"""One case in a store of its own, filled as far as its questions have got, and searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from retold.config import RetoldConfig
from retold.config.retrieval import GateConfig
from retold.errors import EmbeddingError, StoreError
from retold.ingest.ingestor import Ingestor
from retold.models import HostSource, MemoryType, Principal, SearchRequest, Trigger, WriteRequest
from retold.operations.evaluation.cases import Case, Item
from retold.retrieve.replay import logged_candidates, replay_gate
from retold.retrieve.retriever import Retriever
from retold.store import Store
from retold.util import Clock

PRINCIPAL = Principal("evaluation", "case")
_BATCH = 64


@dataclass(frozen=True, slots=True)
class Found:
    """What one search found, as item ids, best first.

    ``ranking`` is everything that was found, before the gate; ``returned`` what the caller gets.
    ``passed`` tells for each gate that was asked about whether it lets anything through.
    """

    ranking: tuple[str, ...]
    returned: tuple[str, ...]
    passed: tuple[bool, ...] = ()


class Searched(Protocol):
    """A case that can be filled and searched."""

    def fill(self, visible: int) -> None:
        """Make the first ``visible`` items searchable; what is there already stays."""
        ...

    def search(self, text: str, at: datetime, trigger: Trigger) -> Found:
        """Return what a search at this moment finds."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class Runtime(Protocol):
    """What this needs of an opened store; ``retold.runtime`` puts one together."""

    @property
    def store(self) -> Store:
        """Return the store."""
        ...

    @property
    def ingestor(self) -> Ingestor:
        """Return what writes."""
        ...

    @property
    def retriever(self) -> Retriever:
        """Return what searches."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...


OpenRuntime = Callable[[RetoldConfig, Path, Clock], Runtime]
"""Make a store at a path that is not there yet."""


class MovedClock:
    """A clock that stands where the data says."""

    def __init__(self, now: datetime) -> None:
        """Begin at a moment."""
        self.now = now

    def __call__(self) -> datetime:
        """Return the moment the data has reached."""
        return self.now


class StoredCase:
    """One case in a store. Raises what opening, writing and searching raise."""

    def __init__(
        self,
        case: Case,
        config: RetoldConfig,
        open_runtime: OpenRuntime,
        path: Path,
        gates: Sequence[GateConfig] = (),
    ) -> None:
        """Make the store at ``path``; ``gates`` are others to decide each logged search by."""
        self._case = case
        self._gates = gates
        self._k = config.retrieval.default_k
        self._clock = MovedClock(min(item.at for item in case.items))
        self._item_of: dict[str, str] = {}
        self._written = 0
        self._runtime = open_runtime(config, path, self._clock)

    def close(self) -> None:
        """Close the store."""
        self._runtime.close()

    def fill(self, visible: int) -> None:
        """Write the items up to ``visible`` in order, the clock at the last of them.

        A store refuses blank text; blank turns still count towards what is visible.
        """
        places = range(self._written, visible)
        chosen = [at for at in places if self._case.items[at].text.strip()]
        self._written = max(visible, self._written)
        for start in range(0, len(chosen), _BATCH):
            batch = chosen[start : start + _BATCH]
            self._clock.now = max(item.at for item in self._case.items[: batch[-1] + 1])
            requests = [self._request(at) for at in batch]
            results = self._runtime.ingestor.write_corpus(PRINCIPAL, requests)
            for at, result in zip(batch, results, strict=True):
                self._item_of[result.record_id] = self._case.items[at].id

    def search(self, text: str, at: datetime, trigger: Trigger) -> Found:
        """Search at this moment. Raises EmbeddingError when a channel does not run."""
        self._clock.now = at
        retriever = self._runtime.retriever
        request = SearchRequest((text,), self._k, trigger=trigger)
        response = retriever.search(PRINCIPAL, request)
        if response.degraded:
            raise EmbeddingError(f"a channel did not run: {'; '.join(response.degraded)}")
        retriever.flush_log()
        with self._runtime.store.read() as tx:
            row = tx.search_log.get(response.search_id)
        if row is None:
            raise StoreError("a search was not logged")
        return Found(
            tuple(self._item_of[one.record_id] for one in logged_candidates(row)),
            tuple(self._item_of[one.record.id] for one in response.results),
            tuple(bool(replay_gate(row, gate).kept) for gate in self._gates),
        )

    def _request(self, at: int) -> WriteRequest:
        item: Item = self._case.items[at]
        kind: MemoryType = "episodic" if self._case.is_turns else "semantic"
        # What stands before the last `#` of a source is the conversation it belongs to.
        source = f"{item.session}#{at}" if item.session else str(at)
        return WriteRequest(
            type=kind,
            content=item.text,
            scope=PRINCIPAL.private_scope,
            source_kind="system",
            event_at=item.at,
            host_source=HostSource("host", source),
            actor="evaluation",
        )
