"""The named answers of the facade; their reprs show no memory content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import overload

from retold.errors import NotYetAvailable
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


@dataclass(frozen=True, slots=True)
class ExtractionHandle:
    """What ``finish`` returns. Without extraction there is nothing to wait for."""

    session_id: str
    requested: bool = False

    def join(self, timeout: float | None = None) -> None:
        """Return at once: no extraction was asked for."""
        if self.requested:
            raise NotYetAvailable.named("waiting for an extraction")

    def status(self) -> str:
        """Return ``not_requested``."""
        return "requested" if self.requested else "not_requested"
