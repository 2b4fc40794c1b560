"""One unit of work: its moment, its version, its savepoints."""

from datetime import timedelta

import pytest

from retold.errors import StoreError
from retold.models import Scope
from tests.store_support import contents, new_record


def test_transaction_keeps_one_moment(store, clock):
    with store.write() as tx:
        begun = tx.now
        clock.advance(hours=1)
        record = tx.records.insert(new_record())
        assert tx.now == begun

    assert record.created_at == begun
    with store.read() as tx:
        assert tx.now == begun + timedelta(hours=1)


def test_version_is_allocated_once_and_only_when_asked(store):
    """Dropping the cached number from Transaction.version makes it fail."""
    with store.write() as tx:
        tx.meta.set_text("note", "x")
        assert tx.committed_version == 0
    with store.write() as tx:
        assert tx.version() == tx.version() == tx.committed_version == 1

    with store.read() as tx:
        assert tx.meta.records_version() == 1


def test_version_goes_back_with_the_transaction(store):
    def fail():
        with store.write() as tx:
            tx.version()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.write() as tx:
        assert tx.version() == 1


def test_version_of_a_record_is_that_of_its_transaction(store):
    with store.write() as tx:
        first, second = tx.records.insert(new_record()), tx.records.insert(new_record())
        assert first.index_version == second.index_version == tx.version()


def test_savepoint_undoes_only_what_happened_inside(store):
    def fail(tx):
        with tx.savepoint():
            tx.records.insert(new_record("undone"))
            raise ZeroDivisionError

    with store.write() as tx:
        tx.records.insert(new_record("before"))
        with pytest.raises(ZeroDivisionError):
            fail(tx)
        with tx.savepoint():
            tx.records.insert(new_record("inside"))
        tx.records.insert(new_record("after"))

    assert contents(store) == ["before", "inside", "after"]


def test_savepoints_nest(store):
    def fail(tx):
        with tx.savepoint():
            tx.records.insert(new_record("inner"))
            raise ZeroDivisionError

    with store.write() as tx, tx.savepoint():
        tx.records.insert(new_record("outer"))
        with pytest.raises(ZeroDivisionError):
            fail(tx)

    assert contents(store) == ["outer"]


def test_savepoint_that_allocated_the_version_gives_it_back(store):
    """Removing ``self._version = version`` makes it fail: two writes share one number."""

    def fail(tx):
        with tx.savepoint():
            tx.records.insert(new_record("undone"))
            raise ZeroDivisionError

    with store.write() as tx:
        with pytest.raises(ZeroDivisionError):
            fail(tx)
        record = tx.records.insert(new_record("kept"))

    with store.read() as tx:
        assert tx.meta.records_version() == record.index_version == 1
    with store.write() as tx:
        assert tx.records.insert(new_record("later")).index_version == 2


def test_scope_codes_of_an_undone_savepoint_are_not_remembered(store):
    """Removing ``self.scopes.forget()`` makes it fail: Bob's record would say that it is Ana's."""
    ana, bob = Scope("user", "ana"), Scope("user", "bob")

    def fail(tx):
        with tx.savepoint():
            tx.records.insert(new_record("undone", scope=ana))
            raise ZeroDivisionError

    with store.write() as tx:
        with pytest.raises(ZeroDivisionError):
            fail(tx)
        assert tx.records.insert(new_record("kept", scope=bob)).scope == bob


def test_nothing_survives_when_a_commit_is_impossible(store):
    """A deferred foreign key fails at COMMIT itself, and leaves the transaction open.

    Returning the connection from _reusable whatever its state makes it fail.
    """

    def fail():
        with store.write() as tx:
            tx.connection.pragma("defer_foreign_keys", 1)
            tx.run(
                "insert into record_entities(record_seq, entity_seq, role) values (99, 99, 'about')"
            )

    with pytest.raises(StoreError):
        fail()
    with store.write() as tx:
        tx.records.insert(new_record("next"))
    assert contents(store) == ["next"]


def test_one_returns_none_without_a_row_and_changes_counts(store):
    with store.write() as tx:
        tx.records.insert(new_record("a"))
        tx.records.insert(new_record("b"))
        tx.run("update records set category = 'x'")
        assert tx.changes() == 2
        assert tx.one("select seq from records where content = 'c'") is None
