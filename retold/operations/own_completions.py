"""The client of hosted models that a runtime has when none was given."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from retold.config import RetoldConfig
from retold.models import Completion, CompletionRequest
from retold.policy.day_budget import DayBudget
from retold.protocols import Budget
from retold.store import Store
from retold.util import Clock

if TYPE_CHECKING:
    # Loading it costs what a command that only searches would wait for.
    from retold.hosted import HostedCompletions


class OwnCompletions:
    """A ``CompletionClient`` that is put together when it is first used. Safe across threads.

    Until then nothing is imported, no key is read and no socket is opened. Its calls count
    towards ``hosted.tokens_per_day`` in the store.
    """

    def __init__(self, config: RetoldConfig, store: Store, clock: Clock) -> None:
        """Keep what the client is made of."""
        self._config = config
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._made: HostedCompletions | None = None

    def require_ready(self, model: str) -> None:
        """Check settings, package and key; see the port."""
        self._client().require_ready(model)

    def complete(self, request: CompletionRequest, *, budget: Budget | None = None) -> Completion:
        """Return the model's answer; see the port."""
        return self._client().complete(request, budget=budget)

    def close(self) -> None:
        """Close connections that wait for the next call, if there ever was one. Idempotent."""
        with self._lock:
            made = self._made
        if made is not None:
            made.close()

    def _client(self) -> HostedCompletions:
        from retold.hosted import HostedCompletions

        with self._lock:
            if self._made is None:
                self._made = HostedCompletions(
                    self._config.hosted, budget=self._day_budget(), clock=self._clock
                )
            return self._made

    def _day_budget(self) -> DayBudget | None:
        """Return the day's budget; None where nothing limits it and nothing can be counted."""
        limit = self._config.hosted.tokens_per_day
        if limit is None and self._store.read_only:
            return None
        patience = self._config.store.busy_timeout_seconds
        return DayBudget(self._store, limit, max_wait_ms=round(patience * 1000))
