"""What hosted models were used for."""

from datetime import date

from retold.store.budget import ProviderUse

MONDAY, TUESDAY = date(2026, 1, 5), date(2026, 1, 6)


def test_budget_counts_each_provider_and_day_apart(store):
    with store.write() as tx:
        tx.budget.add("openai", MONDAY, tokens=10, calls=1)
        tx.budget.add("openai", MONDAY, tokens=5, calls=1)
        tx.budget.add("anthropic", MONDAY, tokens=7, calls=2)
        tx.budget.add("openai", TUESDAY, tokens=100, calls=1)

    with store.read() as tx:
        assert tx.budget.list_for(MONDAY) == [
            ProviderUse("anthropic", 7, 2),
            ProviderUse("openai", 15, 2),
        ]
        assert (tx.budget.used(MONDAY), tx.budget.used(TUESDAY)) == (22, 100)


def test_budget_takes_away_what_was_not_used(store):
    with store.write() as tx:
        tx.budget.add("openai", MONDAY, tokens=10, calls=1)
        tx.budget.add("openai", MONDAY, tokens=-10, calls=-1)

        assert tx.budget.list_for(MONDAY) == [ProviderUse("openai", 0, 0)]


def test_budget_of_a_day_without_calls_is_empty(store):
    with store.read() as tx:
        assert (tx.budget.used(MONDAY), tx.budget.list_for(MONDAY)) == (0, [])
