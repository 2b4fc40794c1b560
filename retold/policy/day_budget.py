"""The limit on what hosted models may be used for in one day, kept in the store."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict, deque
from datetime import UTC, date, datetime

from retold.errors import BudgetExhausted, LocalLimit, StoreError
from retold.models import TokenUsage
from retold.store import Store

logger = logging.getLogger(__name__)


class DayBudget:
    """A ``Budget`` that every process on one store shares; days are those of UTC.

    The limit is over all providers together; ``limit`` None counts without one. Tokens count on
    the day on which they were set aside, however late the answer comes. Safe across threads.
    Both methods open a transaction of their own, so neither is called inside one; they wait for
    the write lock as long as ``max_wait_ms``.
    """

    def __init__(self, store: Store, limit: int | None, *, max_wait_ms: int) -> None:
        """Take the open store; nothing is read yet."""
        self._store = store
        self._limit = limit
        self._max_wait_ms = max_wait_ms
        self._lock = threading.Lock()
        self._open: defaultdict[tuple[str, int], deque[date]] = defaultdict(deque)

    def reserve(self, provider: str, tokens: int) -> None:
        """Set tokens and one request aside.

        Raises BudgetExhausted when they do not fit, LocalLimit when the store cannot count them.
        """
        try:
            day = self._set_aside(provider, tokens)
        except StoreError as error:
            raise LocalLimit(
                "the tokens of a hosted call could not be counted in the store, so it was not made "
                f"({error.code})"
            ) from None
        with self._lock:
            self._open[provider, tokens].append(day)

    def settle(self, provider: str, reserved: int, used: TokenUsage) -> None:
        """Replace what was set aside by what was used.

        A store that cannot be written keeps what was set aside; the answer is not lost with it.
        """
        day = self._day_of(provider, reserved)
        more = used.tokens - reserved
        try:
            with self._store.write_log(self._max_wait_ms) as tx:
                tx.budget.add(provider, day or _day(tx.now), tokens=more, calls=used.calls - 1)
        except StoreError as error:
            logger.warning(
                "what a hosted call used could not be counted",
                extra={"provider": provider, "error": error.code, "tokens": more},
            )

    def _set_aside(self, provider: str, tokens: int) -> date:
        with self._store.write_log(self._max_wait_ms) as tx:
            day = _day(tx.now)
            if self._limit is not None:
                used = tx.budget.used(day)
                if used + tokens > self._limit:
                    raise BudgetExhausted(
                        f"the next request may use {tokens} tokens, and {used} of the "
                        f"{self._limit} of {day.isoformat()} (UTC) are used; wait for the next "
                        "day, or raise hosted.tokens_per_day",
                        provider=provider,
                        limit=self._limit,
                    )
            tx.budget.add(provider, day, tokens=tokens, calls=1)
        return day

    def _day_of(self, provider: str, reserved: int) -> date | None:
        """Return the day of the oldest such reservation, which is settled with this."""
        with self._lock:
            days = self._open.get((provider, reserved))
            if not days:
                return None
            day = days.popleft()
            if not days:
                del self._open[provider, reserved]
            return day


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
