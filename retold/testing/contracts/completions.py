"""What every client of hosted models must do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pytest

from retold.errors import BudgetExhausted, HostedError
from retold.models import Completion, CompletionRequest, Scope, TokenUsage
from retold.protocols import CompletionClient
from retold.testing.contracts.concurrency import side_by_side
from retold.testing.fakes.completions import FakeBudget

PRIVATE = "Priya keeps bees in Rua do Sol 7."
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


class CompletionClientContract:
    """Override ``completions``, ``failing_completions`` and ``model``."""

    model: ClassVar[str] = "fake/model"
    """A model that the client of both fixtures knows."""

    @pytest.fixture
    def completions(self) -> CompletionClient:
        """Return one whose model answers every question with an object."""
        pytest.fail("override the fixture `completions`")

    @pytest.fixture
    def failing_completions(self) -> CompletionClient:
        """Return one whose model answers with no object, or not at all."""
        pytest.fail("override the fixture `failing_completions`")

    def request(self) -> CompletionRequest:
        """Return a question with something private in it."""
        return CompletionRequest(
            model=self.model,
            system="Answer yes or no.",
            prompt=f"{PRIVATE} Does Priya keep bees?",
            schema=SCHEMA,
            task="contract",
            scopes=(Scope("user", "priya"),),
            timeout_ms=60_000,
            max_output_tokens=50,
        )

    def test_completions_is_one(self, completions: CompletionClient) -> None:
        """It has every member of the port."""
        assert isinstance(completions, CompletionClient)

    def test_completions_is_ready_for_a_model_that_it_asks(
        self, completions: CompletionClient
    ) -> None:
        """A session is ended only after this was asked."""
        completions.require_ready(self.model)

    def test_completions_answers_with_an_object_and_its_cost(
        self, completions: CompletionClient
    ) -> None:
        """The schema itself is checked by whoever asked."""
        completion = completions.complete(self.request())

        assert isinstance(completion, Completion)
        assert isinstance(completion.value, Mapping)
        assert completion.usage.calls >= 1
        assert completion.usage.tokens > 0

    def test_completions_counts_in_the_budget_what_it_says_it_used(
        self, completions: CompletionClient
    ) -> None:
        """Nothing stays set aside after the call."""
        budget = FakeBudget()
        completion = completions.complete(self.request(), budget=budget)

        assert budget.used == completion.usage
        assert budget.reserved == 0

    def test_completions_asks_nobody_when_the_budget_is_too_small(
        self, completions: CompletionClient
    ) -> None:
        """The tokens are set aside before the question leaves."""
        budget = FakeBudget(1)
        with pytest.raises(BudgetExhausted) as refusal:
            completions.complete(self.request(), budget=budget)

        assert refusal.value.details["usage"] == TokenUsage()
        assert (budget.used, budget.reserved) == (TokenUsage(), 0)

    def test_completions_fails_with_an_error_that_counts_and_tells_nothing(
        self, failing_completions: CompletionClient
    ) -> None:
        """What failed is counted, too, and an error ends up in logs."""
        budget = FakeBudget()
        with pytest.raises(HostedError) as failure:
            failing_completions.complete(self.request(), budget=budget)

        told = f"{failure.value!r} {failure.value} {failure.value.details}"
        assert failure.value.details["usage"] == budget.used
        assert budget.used.calls >= 1
        assert "Priya" not in told

    def test_completions_shows_nothing_of_question_or_answer(
        self, completions: CompletionClient
    ) -> None:
        """Reprs end up in logs."""
        completion = completions.complete(self.request())

        shown = f"{completions!r} {completion!r}"
        assert "Priya" not in shown
        assert not [text for text in map(str, completion.value.values()) if text in shown]

    def test_completions_serves_several_threads(self, completions: CompletionClient) -> None:
        """Workers and searches ask side by side."""
        budget = FakeBudget()
        answers = side_by_side(
            lambda _: completions.complete(self.request(), budget=budget), range(8)
        )

        assert sum((one.usage for one in answers), TokenUsage()) == budget.used
