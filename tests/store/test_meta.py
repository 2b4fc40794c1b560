"""Single values of a store."""

from contextlib import suppress

import pytest

from retold.errors import StoreCorrupt
from retold.store import Store
from retold.store.meta import Clocks, EmbeddingIdentity
from tests.store_support import new_record


def test_meta_returns_what_was_set_and_none_otherwise(store):
    with store.write() as tx:
        tx.meta.set_text("note", "first")
        tx.meta.set_text("note", "second")
        tx.meta.set_int("number", 7)

    with store.read() as tx:
        assert tx.meta.get_text("note") == "second"
        assert tx.meta.get_int("number") == 7
        assert tx.meta.get_text("absent") is None
        assert tx.meta.get_int("absent") is None


def test_meta_calls_a_text_where_a_number_belongs_damage(store):
    with store.write() as tx:
        tx.meta.set_text("number", "seven")
        with pytest.raises(StoreCorrupt):
            tx.meta.get_int("number")


def test_clocks_start_at_nothing_and_follow_writes(store):
    with store.read() as tx:
        clocks = tx.meta.clocks()
    with store.write() as tx:
        tx.records.insert(new_record())

    assert clocks.records_version == 0
    assert clocks.embedding_generation == 0
    with store.read() as tx:
        assert tx.meta.clocks() == Clocks(1, clocks.store_epoch, 0)


def test_clocks_that_are_missing_are_damage(store):
    with store.write() as tx:
        tx.run("delete from store_meta where key = 'records_version'")
        with pytest.raises(StoreCorrupt):
            tx.meta.clocks()
        with pytest.raises(StoreCorrupt):
            tx.version()


def test_what_an_undone_savepoint_set_is_not_remembered(store):
    """Removing ``self.meta.forget()`` from Transaction.savepoint makes it fail."""
    with store.write() as tx:
        tx.meta.set_text("note", "kept")
        before = tx.meta.clocks()
        with suppress(ZeroDivisionError), tx.savepoint():
            tx.meta.set_text("note", "undone")
            assert tx.meta.get_text("note") == "undone"
            tx.version()
            assert tx.meta.records_version() == before.records_version + 1
            raise ZeroDivisionError

        assert tx.meta.get_text("note") == "kept"
        assert tx.meta.clocks() == before


def test_two_stores_have_two_epochs(store, tmp_path):
    with Store.open(tmp_path / "other.db") as other, other.read() as tx:
        theirs = tx.meta.store_epoch()
    with store.read() as tx:
        assert tx.meta.store_epoch() != theirs


def test_embedding_identity_is_unknown_until_it_is_set(store):
    identity = EmbeddingIdentity("a/model", "1", 8)
    with store.read() as tx:
        assert tx.meta.embedding_identity() is None
    with store.write() as tx:
        tx.meta.set_embedding_identity(identity)

    with store.read() as tx:
        assert tx.meta.embedding_identity() == identity
    assert str(identity) == "a/model (version 1, 8 dims)"


def test_row_counts_name_every_table(store):
    """A table that a migration adds and ``row_counts`` forgets makes it fail."""
    with store.write() as tx:
        record = tx.records.insert(new_record())
        tx.lexical.insert(record.seq, "Likes green tea", "likes", "")

    with store.read() as tx:
        counts = tx.meta.row_counts()
        tables = {
            name
            for (name,) in tx.run(
                "select name from sqlite_schema where type = 'table'"
                " and name not like 'sqlite\\_%' escape '\\'"
                " and name not like 'records\\_fts\\_%' escape '\\'"
            )
        }
    assert set(counts) == tables
    assert counts["records"] == counts["records_fts"] == 1
