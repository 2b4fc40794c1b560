"""The full-text index is rebuilt when its preparation has changed."""

import pytest

from retold.models import Scope
from retold.store import Store, migrations, reindex
from retold.text import FTS_PREPARE_VERSION
from tests.index_support import Row, insert

PAGE_ROWS = [1, 2, 500]


def write_records(store):
    with store.write() as tx:
        ana = tx.entities.insert("person", "Ana Lima", Scope("user", "ana"), ["ana"])
        plain, about, derived, deleted = (insert(tx, Row()) for _ in range(4))
        tx.run("update records set status = 'deleted' where seq = ?", (deleted,))
        tx.run("update records set content = '花生' where seq = ?", (plain,))
        for seq, attribute, is_derived in ((about, "home_city", 0), (derived, "h_0a1b", 1)):
            tx.run(
                "update records set attribute = ?, attribute_derived = ?, subject_entity_seq = 1"
                " where seq = ?",
                (attribute, is_derived, seq),
            )
            tx.entities.link(seq, ana.id, "about")
    return plain, about, derived


@pytest.mark.parametrize("page_rows", PAGE_ROWS)
def test_reindex_covers_every_record_but_deleted_ones(store, monkeypatch, page_rows):
    monkeypatch.setattr(reindex, "PAGE_ROWS", page_rows)
    plain, about, derived = write_records(store)
    with store.write() as tx:
        tx.lexical.insert(99, "left over", "", "")

        assert reindex.rebuild(tx) == 3
        assert tx.lexical.fields(tx.lexical.row_keys()) == {
            plain: (" 花 花生 生 ", "", ""),
            about: ("filler", "home city Ana Lima", "ana"),
            derived: ("filler", "Ana Lima", "ana"),
        }
        assert tx.records.by_seqs([about])[about].token_count == 6


@pytest.mark.parametrize("stored", [FTS_PREPARE_VERSION - 1, FTS_PREPARE_VERSION + 1])
def test_open_rebuilds_an_index_of_another_preparation(tmp_path, stored):
    """Without ``_refresh_index`` queries would be cut into other words than the records."""
    with Store.open(tmp_path / "memory.db") as store:
        write_records(store)
        with store.write() as tx:
            tx.meta.set_int("fts_prepare_version", stored)

    with Store.open(tmp_path / "memory.db") as store, store.read() as tx:
        assert len(list(tx.lexical.row_keys())) == 3
        assert tx.meta.get_int("fts_prepare_version") == FTS_PREPARE_VERSION
        assert not reindex.is_stale(tx.connection)


def test_open_leaves_a_fresh_index_alone(tmp_path):
    with Store.open(tmp_path / "memory.db") as store:
        write_records(store)

    with Store.open(tmp_path / "memory.db") as store, store.read() as tx:
        assert list(tx.lexical.row_keys()) == []
        migrations.require_current(tx.connection)
