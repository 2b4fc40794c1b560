"""Token budgets: estimating a request, and limits that stand side by side."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack

from retold.config import HostedConfig
from retold.errors import BudgetExhausted
from retold.models import CompletionRequest, TokenUsage
from retold.protocols import Budget

BYTES_PER_TOKEN = 3
"""A little less than a token of English has, and about what one of Chinese has."""


def estimated_input(request: CompletionRequest) -> int:
    """Return about how many tokens a request holds, rather too many than too few."""
    texts = (request.system, request.prompt, str(dict(request.schema)))
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return -(-size // BYTES_PER_TOKEN)


class RunBudget:
    """The limit of one run, in memory; ``used`` is what its calls used together.

    ``limit`` None counts without a limit. Safe across threads.
    """

    def __init__(self, limit: int | None) -> None:
        """Start with nothing used."""
        self._limit = limit
        self._reserved = 0
        self._lock = threading.Lock()
        self.used = TokenUsage()

    def reserve(self, provider: str, tokens: int) -> None:
        """Set tokens aside. Raises BudgetExhausted when they do not fit any more."""
        with self._lock:
            wanted = self.used.tokens + self._reserved + tokens
            if self._limit is not None and wanted > self._limit:
                raise BudgetExhausted(
                    f"the next request may use {tokens} tokens, and {self.used.tokens} of the "
                    f"run's {self._limit} are used; raise hosted.tokens_per_run",
                    provider=provider,
                    limit=self._limit,
                )
            self._reserved += tokens

    def settle(self, provider: str, reserved: int, used: TokenUsage) -> None:
        """Count what was used instead of what was set aside."""
        with self._lock:
            self._reserved -= reserved
            self.used += used


def run_budget(hosted: HostedConfig) -> RunBudget:
    """Return the configured limit of one run."""
    return RunBudget(hosted.tokens_per_run)


def reserve_all(budgets: Sequence[Budget], provider: str, tokens: int) -> None:
    """Set the tokens aside in every budget, or in none. Raises BudgetExhausted."""
    with ExitStack() as undo:
        for budget in budgets:
            budget.reserve(provider, tokens)
            undo.callback(budget.settle, provider, tokens, TokenUsage())
        undo.pop_all()


def settle_all(budgets: Sequence[Budget], provider: str, tokens: int, used: TokenUsage) -> None:
    """Count what a request used in every budget."""
    for budget in budgets:
        budget.settle(provider, tokens, used)
