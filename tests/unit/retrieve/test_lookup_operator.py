"""What an operator looks up, a walk over any number of records, and counts by status."""

from __future__ import annotations

import ast
from datetime import timedelta

import pytest

from retold.errors import InvalidInput
from retold.models import Scope
from retold.retrieve import lookup
from retold.retrieve.lookup import Operator
from retold.testing import MOMENT
from tests.architecture_rules import modules
from tests.unit.retrieve.test_lookup import statements
from tests.unit.retrieve.world import ANA, BOB, World

EVERYTHING = Operator()
OF_BOB, OF_NOBODY = BOB.private_scope, Scope("user", "nobody")


@pytest.fixture
def two(world: World) -> tuple[str, str]:
    """Return the ids of a record of Ana and one of Bob."""
    mine = world.add("Likes tea")
    theirs = world.add("Likes coffee", owner=BOB)
    return mine.id, theirs.id


def test_operator_gets_lists_and_reads_history_of_every_scope(world, two):
    with world.store.read() as tx:
        assert [one.id for one in lookup.get(tx, EVERYTHING, two)] == [*two]
        assert [one.id for one in lookup.list_page(tx, EVERYTHING)] == [*reversed(two)]
        assert [one.id for one in lookup.history(tx, EVERYTHING, two[1])] == [two[1]]


def test_principal_walks_over_its_own_records_alone(world, two):
    with world.store.read() as tx:
        assert [one.id for one in lookup.walk(tx, ANA)] == [two[0]]
        assert [one.id for one in lookup.walk(tx, EVERYTHING)] == [*two]
        assert lookup.status_counts(tx, ANA) == {"confirmed": 1}
        assert lookup.status_counts(tx, EVERYTHING) == {"confirmed": 2}


def test_walk_passes_every_record_once_whatever_the_batch(world, monkeypatch):
    ids = [world.add(f"Note {number}").id for number in range(7)]
    for batch in (1, 2, 3, 7, 100):
        monkeypatch.setattr(lookup, "WALK_BATCH", batch)
        with world.store.read() as tx:
            assert [one.id for one in lookup.walk(tx, ANA)] == ids


def test_unreadable_scope_runs_the_statements_of_an_unknown_one(world, two):
    """Fails when `within` returns before it asks the store for the scope."""
    for call in (
        lambda tx, scope: lookup.list_page(tx, ANA, scope=scope).records,
        lambda tx, scope: tuple(lookup.walk(tx, ANA, scope=scope)),
        lambda tx, scope: lookup.status_counts(tx, ANA, scope=scope),
    ):
        foreign = statements(world, lambda tx, call=call: call(tx, OF_BOB))
        missing = statements(world, lambda tx, call=call: call(tx, OF_NOBODY))

        with world.store.read() as tx:
            assert not call(tx, OF_BOB)
            assert not call(tx, OF_NOBODY)
        assert foreign == missing


def test_record_that_has_expired_is_walked_over_and_counted_as_expired(world):
    record = world.add("Here for a day", expires_at=MOMENT + timedelta(days=1))
    world.later(days=2)

    with world.store.read() as tx:
        assert list(lookup.walk(tx, ANA)) == []
        (found,) = lookup.walk(tx, ANA, statuses=["expired"])
        assert lookup.status_counts(tx, ANA) == {"expired": 1}
    assert (found.id, found.status) == (record.id, "expired")


@pytest.mark.parametrize("wrong", [{"types": ["dream"]}, {"types": 5}, {"statuses": []}])
def test_walk_names_the_choices(wrong, world):
    with world.store.read() as tx, pytest.raises(InvalidInput, match="must name some of"):
        list(lookup.walk(tx, ANA, **wrong))


def test_only_the_command_line_makes_an_operator():
    """Whoever holds one reads every scope: nothing that an agent can reach may make it."""
    makers = {
        module.path
        for module in modules("retold")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and module.origin(node.func) == "retold.retrieve.lookup.Operator"
    }

    assert makers == {"retold/cli/reading.py"}
