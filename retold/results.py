"""The named answers of the facade; their reprs show no memory content."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, overload

from retold.models import RecordStatus, SearchResponse, SearchResult


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The answer to a search: a sequence of results, falsy when nothing was good enough.

    ``text`` is what a model would be shown. ``empty_reason`` is set exactly when there are no
    items. ``degraded`` names channels that did not run: an outage is never a plain empty answer.
    ``waiting_sessions`` counts requested sessions of this agent and user that are not extracted
    yet: what was said there may be missing.
    """

    items: tuple[SearchResult, ...]
    empty_reason: str | None
    search_id: str
    text: str = field(repr=False)
    degraded: tuple[str, ...]
    response: SearchResponse = field(repr=False)
    waiting_sessions: int = 0

    @classmethod
    def of(cls, response: SearchResponse) -> SearchPage:
        """Wrap a pipeline response."""
        return cls(
            items=response.results,
            empty_reason=response.empty_reason,
            search_id=response.search_id,
            text=response.text,
            degraded=response.degraded,
            response=response,
            waiting_sessions=response.waiting_sessions,
        )

    def __iter__(self) -> Iterator[SearchResult]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> SearchResult: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[SearchResult, ...]: ...
    def __getitem__(self, place: int | slice) -> SearchResult | tuple[SearchResult, ...]:
        return self.items[place]

    def __bool__(self) -> bool:
        return bool(self.items)


@dataclass(frozen=True, slots=True)
class Profile:
    """What is always worth knowing about the user; empty until activation exists."""

    text: str = field(default="", repr=False)
    record_ids: tuple[str, ...] = ()
    truncated: bool = False

    def __bool__(self) -> bool:
        return bool(self.record_ids)


@dataclass(frozen=True, slots=True)
class Status:
    """What one principal can see of the store: counts per status, and who serves the models."""

    records: Mapping[RecordStatus, int]
    embedder: str
    judge: str
    dense_unavailable: str | None


ExtractionState = Literal["not_requested", "waiting", "extracting", "reviewing", "done", "failed"]
"""Where an extraction stands. ``failed`` ones were set aside for a person to look at."""

FIRST_PAUSE_SECONDS: Final = 0.02
LONGEST_PAUSE_SECONDS: Final = 1.0
"""Pauses between two looks into the store double from the first to the longest."""

SETTLED: Final[frozenset[ExtractionState]] = frozenset({"not_requested", "done", "failed"})


@dataclass(frozen=True, slots=True)
class ExtractionHandle:
    """What ``finish`` returns: how far the extraction of the conversation is.

    ``look`` reads it from the store, None where nothing was asked for. ``ticks`` are seconds that
    never go back, ``sleep`` waits between two looks.
    """

    session_id: str
    requested: bool = False
    look: Callable[[], ExtractionState] | None = field(default=None, repr=False, compare=False)
    ticks: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)

    def status(self) -> ExtractionState:
        """Return where the extraction stands. Raises StoreUnavailable when the store is closed."""
        return "not_requested" if self.look is None else self.look()

    def join(self, timeout: float | None = None) -> ExtractionState:
        """Wait until the extraction is done or was set aside and return where it stands.

        After ``timeout`` seconds it returns whatever the state is then. None waits as long as it
        takes, which is for ever when nobody works on the queue.
        """
        began = self.ticks()
        for pause in pauses():
            state = self.status()
            left = None if timeout is None else timeout - (self.ticks() - began)
            if state in SETTLED or (left is not None and left <= 0):
                return state
            self.sleep(pause if left is None else min(pause, left))
        raise AssertionError  # pauses never end


@dataclass(frozen=True, slots=True)
class AsyncExtractionHandle:
    """The same for asyncio: ``AsyncMemorySession.finish`` returns it."""

    handle: ExtractionHandle

    @property
    def session_id(self) -> str:
        """Return the internal id of the last segment."""
        return self.handle.session_id

    @property
    def requested(self) -> bool:
        """Return whether an extraction was asked for."""
        return self.handle.requested

    async def status(self) -> ExtractionState:
        """Return what ``ExtractionHandle.status`` does."""
        return await asyncio.to_thread(self.handle.status)

    async def join(self, timeout: float | None = None) -> ExtractionState:  # as its namesake
        """Wait as ``ExtractionHandle.join`` does; a cancelled call leaves nothing behind."""
        began = self.handle.ticks()
        for pause in pauses():
            state = await self.status()
            left = None if timeout is None else timeout - (self.handle.ticks() - began)
            if state in SETTLED or (left is not None and left <= 0):
                return state
            await asyncio.sleep(pause if left is None else min(pause, left))
        raise AssertionError  # pauses never end


def pauses() -> Iterator[float]:
    """Yield pauses in seconds, for ever."""
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
