"""The limit of one day, over a store on a real file."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest

from retold.errors import BudgetExhausted, LocalLimit
from retold.models import TokenUsage
from retold.policy.day_budget import DayBudget
from retold.protocols import Budget
from retold.store import Store
from retold.testing import FakeClock

NIGHT = datetime(2026, 1, 5, 23, 59, tzinfo=UTC)


@pytest.fixture
def clock():
    return FakeClock(NIGHT)


@pytest.fixture
def store(tmp_path, clock):
    with Store.open(tmp_path / "memory.sqlite", clock=clock) as opened:
        yield opened


def budget_of(store, limit=None):
    return DayBudget(store, limit, max_wait_ms=0)


def counted(store, day=NIGHT):
    with store.read() as tx:
        return [tuple(one) for one in tx.budget.list_for(day.date())]


def test_day_budget_is_a_budget(store):
    assert isinstance(budget_of(store), Budget)


def test_what_is_set_aside_counts_until_it_is_replaced_by_what_was_used(store):
    budget = budget_of(store)

    budget.reserve("openai", 500)
    waiting = counted(store)
    budget.settle("openai", 500, TokenUsage(100, 20, 1))

    assert waiting == [("openai", 500, 1)]
    assert counted(store) == [("openai", 120, 1)]


def test_request_that_never_left_counts_nothing(store):
    budget = budget_of(store)
    budget.reserve("openai", 500)

    budget.settle("openai", 500, TokenUsage())

    assert counted(store) == [("openai", 0, 0)]


def test_limit_holds_over_all_providers_and_objects_and_names_the_setting(store):
    budget_of(store, 100).reserve("openai", 60)

    with pytest.raises(BudgetExhausted, match=r"60 of the 100 .* hosted\.tokens_per_day"):
        budget_of(store, 100).reserve("anthropic", 41)
    budget_of(store, 100).reserve("anthropic", 40)

    assert counted(store) == [("anthropic", 40, 1), ("openai", 60, 1)]


def test_next_day_in_utc_begins_with_nothing_used(store, clock):
    budget = budget_of(store, 100)
    budget.reserve("openai", 100)
    clock.advance(minutes=1)

    budget.reserve("openai", 100)

    assert counted(store) == [("openai", 100, 1)]
    assert counted(store, clock()) == [("openai", 100, 1)]


def test_answer_after_midnight_counts_on_the_day_of_its_request(store, clock):
    budget = budget_of(store)
    budget.reserve("openai", 500)
    clock.advance(minutes=1)
    budget.reserve("openai", 400)

    budget.settle("openai", 500, TokenUsage(100, 20, 1))

    assert counted(store) == [("openai", 120, 1)]
    assert counted(store, clock()) == [("openai", 400, 1)]


def test_call_that_cannot_be_counted_is_not_made(store, tmp_path):
    """Another process holds the write lock."""
    with (
        Store.open(tmp_path / "memory.sqlite") as other,
        other.write(),
        pytest.raises(LocalLimit, match="store_busy"),
    ):
        budget_of(store).reserve("openai", 1)

    assert counted(store) == []


def test_read_only_store_counts_nothing_and_allows_nothing(store, tmp_path):
    with (
        Store.open(tmp_path / "memory.sqlite", read_only=True) as reader,
        pytest.raises(LocalLimit, match="store_unavailable"),
    ):
        budget_of(reader, 100).reserve("openai", 1)


def test_answer_is_not_lost_with_a_store_that_was_closed_meanwhile(store, tmp_path, caplog):
    budget = budget_of(store)
    budget.reserve("openai", 500)
    store.close()

    with caplog.at_level(logging.WARNING):
        budget.settle("openai", 500, TokenUsage(100, 20, 1))

    assert [record.error for record in caplog.records] == ["store_unavailable"]
    with Store.open(tmp_path / "memory.sqlite") as again:
        assert counted(again) == [("openai", 500, 1)]
