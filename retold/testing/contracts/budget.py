"""What every budget of a hosted call must do."""

from __future__ import annotations

import pytest

from retold.errors import BudgetExhausted
from retold.models import TokenUsage
from retold.protocols import Budget
from retold.testing.contracts.concurrency import side_by_side

LIMIT = 1_000
PROVIDER = "anthropic"
WHOLE = 100
"""What one request of these rules may use; ten of them are the limit."""


def fits(budget: Budget, tokens: int) -> bool:
    """Try to set tokens aside."""
    try:
        budget.reserve(PROVIDER, tokens)
    except BudgetExhausted:
        return False
    return True


class BudgetContract:
    """Override ``budget`` with one of 1,000 tokens of which none is used."""

    @pytest.fixture
    def budget(self) -> Budget:
        """Return the implementation under test."""
        pytest.fail("override the fixture `budget`")

    def test_budget_is_one(self, budget: Budget) -> None:
        """It has every member of the port."""
        assert isinstance(budget, Budget)

    def test_budget_lets_its_limit_through_and_no_token_more(self, budget: Budget) -> None:
        """What is set aside counts before anything is used."""
        assert fits(budget, LIMIT)
        assert not fits(budget, 1)

    def test_budget_sets_nothing_aside_when_it_refuses(self, budget: Budget) -> None:
        """A request that is too large takes nothing from those that are not."""
        assert not fits(budget, LIMIT + 1)
        assert fits(budget, LIMIT)

    def test_budget_gives_back_what_a_request_did_not_use(self, budget: Budget) -> None:
        """An estimate is larger than what is used; only the use stays counted."""
        budget.reserve(PROVIDER, LIMIT)
        budget.settle(PROVIDER, LIMIT, TokenUsage(70, 30, 1))

        assert fits(budget, LIMIT - 100)
        assert not fits(budget, 1)

    def test_budget_gives_back_everything_of_a_request_that_never_left(
        self, budget: Budget
    ) -> None:
        """Another budget refused it, or its time was over."""
        budget.reserve(PROVIDER, LIMIT)
        budget.settle(PROVIDER, LIMIT, TokenUsage())

        assert fits(budget, LIMIT)

    def test_budget_counts_more_than_was_set_aside(self, budget: Budget) -> None:
        """An answer longer than asked for was paid for all the same."""
        budget.reserve(PROVIDER, WHOLE)
        budget.settle(PROVIDER, WHOLE, TokenUsage(LIMIT, 0, 1))

        assert not fits(budget, 1)

    def test_budget_holds_for_calls_side_by_side(self, budget: Budget) -> None:
        """Threads that ask at one moment stay below the limit together."""
        answers = side_by_side(lambda tokens: fits(budget, tokens), [WHOLE] * 24)

        assert answers.count(True) == LIMIT // WHOLE
