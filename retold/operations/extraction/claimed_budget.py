"""The limit of a run that keeps the claim on its session alive."""

from __future__ import annotations

from collections.abc import Callable

from retold.models import TokenUsage
from retold.protocols import Budget


class ClaimedBudget:
    """A ``Budget`` that renews the claim before each request.

    A step may make many of them, and together they may take longer than a claim lasts. What lost
    its claim asks no more.
    """

    def __init__(self, budget: Budget, renew: Callable[[], None]) -> None:
        """Take the limit, and what raises ClaimLost when the work went elsewhere."""
        self._budget = budget
        self._renew = renew

    def reserve(self, provider: str, tokens: int) -> None:
        """Renew the claim and set tokens aside. Raises ClaimLost and BudgetExhausted."""
        self._renew()
        self._budget.reserve(provider, tokens)

    def settle(self, provider: str, reserved: int, used: TokenUsage) -> None:
        """Replace what was set aside by what was used."""
        self._budget.settle(provider, reserved, used)
