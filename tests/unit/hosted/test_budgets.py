import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.config import parse_config
from retold.errors import BudgetExhausted, LocalLimit
from retold.hosted import RunBudget, estimated_input, run_budget
from retold.hosted.budgets import reserve_all
from retold.hosted.deadline import within
from retold.models import CompletionRequest, Scope, TokenUsage
from retold.testing import FakeBudget


def request(**changes):
    values = {
        "model": "m",
        "system": "",
        "prompt": "",
        "schema": {},
        "task": "t",
        "scopes": (Scope("user", "ana"),),
        "timeout_ms": 1,
        "max_output_tokens": 1,
    }
    return CompletionRequest(**(values | changes))


def test_estimate_grows_with_every_part_and_counts_other_scripts_more():
    plain = estimated_input(request())
    latin = estimated_input(request(prompt="a" * 300))
    chinese = estimated_input(request(prompt="花" * 300))

    assert latin == plain + 100
    assert chinese == plain + 300
    assert estimated_input(request(schema={"type": "object"})) > plain


def test_estimate_takes_a_lone_surrogate():
    assert estimated_input(request(prompt="\ud800")) >= 1


def test_run_budget_refuses_what_does_not_fit_and_names_the_setting():
    budget = run_budget(parse_config({"hosted": {"tokens_per_run": 100}}).hosted)
    budget.reserve("openai", 60)

    with pytest.raises(BudgetExhausted, match=r"hosted\.tokens_per_run"):
        budget.reserve("openai", 41)
    budget.settle("openai", 60, TokenUsage(10, 5, 1))
    budget.reserve("openai", 85)
    assert budget.used == TokenUsage(10, 5, 1)


def test_budget_without_a_limit_counts_only():
    budget = run_budget(parse_config({}).hosted)
    budget.reserve("openai", 10**9)
    budget.settle("openai", 10**9, TokenUsage(1, 2, 3))

    assert budget.used == TokenUsage(1, 2, 3)


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), max_size=30))
def test_what_is_used_never_exceeds_the_limit(steps):
    """A request uses no more than was set aside for it."""
    budget = RunBudget(100)
    for reserved, used in steps:
        try:
            budget.reserve("openai", reserved)
        except BudgetExhausted:
            continue
        budget.settle("openai", reserved, TokenUsage(min(reserved, used), 0, 1))

    assert budget.used.tokens <= 100


def test_refusal_by_one_budget_leaves_nothing_set_aside_in_another():
    first, second = FakeBudget(100), FakeBudget(10)

    with pytest.raises(BudgetExhausted):
        reserve_all((first, second), "openai", 50)
    assert (first.reserved, second.reserved) == (0, 0)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"scopes": ()}, "scopes"),
        ({"timeout_ms": 0}, "timeout_ms"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"task": "two words"}, "task"),
    ],
)
def test_request_that_could_not_be_sent_is_refused_when_it_is_made(changes, word):
    with pytest.raises(ValueError, match=word):
        request(**changes)


# --- the deadline ---------------------------------------------------------------------


def test_within_returns_what_the_call_returns():
    assert within(60, lambda: 7) == 7


def test_within_raises_what_the_call_raises_a_timeout_too():
    def fail():
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        within(60, fail)


def test_within_gives_up_and_leaves_the_call_alone():
    never, done = threading.Event(), threading.Event()

    def wait():
        never.wait()
        done.set()

    assert within(0.01, wait) is None
    never.set()
    assert done.wait(60)


def test_thread_that_cannot_start_is_a_limit_of_this_machine(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(LocalLimit, match="thread"):
        within(1, lambda: 1)
