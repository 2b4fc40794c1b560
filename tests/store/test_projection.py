import numpy as np
import pytest

from retold.errors import EmbeddingError, EmbeddingProfileMismatch, StoreCorrupt
from retold.store.embeddings import unit_vector
from retold.store.projection import QUERIES, ProjectionRow
from tests.index_support import (
    DIMS,
    IDENTITY,
    OTHER_IDENTITY,
    Row,
    axis,
    change,
    insert,
    open_store,
    remove,
)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "memory.db") as opened:
        yield opened


def write(store, *rows):
    with store.write() as tx:
        return [insert(tx, row) for row in rows]


def version_of(store):
    with store.read() as tx:
        return tx.meta.records_version()


def loaded(store, identity=IDENTITY):
    with store.read() as tx:
        return list(tx.projection.load(identity))


def test_load_yields_integers_and_the_vector_in_key_order(store):
    seqs = write(
        store,
        Row(vector=axis(1), event_us=7, expires_us=99),
        Row(type="episodic", status="superseded", source_kind="tool_result"),
    )

    first, second = loaded(store)

    assert isinstance(first, ProjectionRow)
    assert [first.seq, second.seq] == seqs
    assert (first.event_us, first.expires_us, second.expires_us) == (7, 99, None)
    assert first.vector == axis(1).astype("<f4").tobytes()
    assert second.vector is None
    assert second[2:5] == ("episodic", "superseded", "tool_result")
    assert first.version == version_of(store)


def test_load_leaves_out_deleted_rows_and_other_families(store):
    kept, _, _ = write(
        store,
        Row(),
        Row(status="deleted"),
        Row(type="passage", source_kind="document"),
    )

    assert [row.seq for row in loaded(store)] == [kept]


def test_load_scans_the_table_in_key_order(store):
    bindings = {**IDENTITY._asdict(), "types": "[]"}
    with store.read() as tx:
        plan = [row[3] for row in tx.run("explain query plan " + QUERIES["load"], bindings)]

    assert "SCAN r" in plan
    assert not any("TEMP B-TREE" in step for step in plan)


@pytest.mark.parametrize("name", ["records", "embeddings", "removed_rows"])
def test_changes_since_use_the_version_index(store, name):
    bindings = {"version": 0, "most": 1}
    with store.read() as tx:
        plan = [
            row[3] for row in tx.run("explain query plan " + QUERIES["changes_since"], bindings)
        ]

    assert any(f"{name}_index_version" in step for step in plan)


def test_vector_of_another_model_is_withheld_but_mentioned(store):
    write(store, Row(vector=axis(0)))

    (row,) = loaded(store, OTHER_IDENTITY)

    assert row.vector is None
    assert row.has_foreign_vector


def test_rows_returns_deleted_rows_and_skips_unknown_keys(store):
    kept, gone = write(store, Row(vector=axis(0)), Row(status="deleted"))
    with store.read() as tx:
        rows = tx.projection.rows([gone, kept, 999], IDENTITY)

    assert [(row.seq, row.is_projected) for row in rows] == [(kept, True), (gone, False)]


def test_changes_since_names_changed_inserted_embedded_and_removed_rows(store):
    old, changed, embedded, removed = write(store, Row(), Row(), Row(), Row())
    before = version_of(store)
    with store.write() as tx:
        change(tx, changed, status="expired")
        tx.embeddings.put(embedded, axis(2))
        remove(tx, removed)
        inserted = insert(tx, Row(vector=axis(3)))
    now = version_of(store)

    with store.read() as tx:
        changes = tx.projection.changes_since(before, 10)

    assert changes == dict.fromkeys((changed, embedded, removed, inserted), now)
    assert old not in changes


@pytest.mark.parametrize(("limit", "expected"), [(2, None), (3, 3), (4, 3)])
def test_changes_since_counts_keys_not_rows(store, limit, expected):
    write(store, *[Row(vector=axis(0)) for _ in range(3)])
    with store.read() as tx:
        changes = tx.projection.changes_since(0, limit)

    assert (None if changes is None else len(changes)) == expected


def test_changes_since_the_present_version_are_none_at_all(store):
    write(store, Row(vector=axis(0)))
    with store.read() as tx:
        assert tx.projection.changes_since(tx.meta.records_version(), 5) == {}


def test_changes_are_read_once_and_held_to_each_limit(store):
    seqs = write(store, Row(), Row(), Row())

    with store.read() as tx:
        assert tx.projection.changes_since(0, 2) is None
        assert list(tx.projection.changes_since(0, 3)) == seqs
        assert tx.projection.changes_since(0, 2) is None


def test_a_write_sees_the_changes_it_made_since_it_last_asked(store):
    with store.write() as tx:
        assert tx.projection.changes_since(0, 10) == {}
        seq = insert(tx, Row())
        assert list(tx.projection.changes_since(0, 10)) == [seq]


def test_deleting_a_vector_shows_as_a_change_of_its_record(store):
    """Line that makes it fail when removed: ``touch_record`` in ``EmbeddingRepository.delete``."""
    (seq,) = write(store, Row(vector=axis(0)))
    before = version_of(store)
    with store.write() as tx:
        assert tx.embeddings.delete(seq)
        assert not tx.embeddings.delete(seq)

    with store.read() as tx:
        assert list(tx.projection.changes_since(before, 5)) == [seq]
        assert tx.embeddings.get(seq) is None


def test_put_stores_a_unit_vector_and_replaces_the_one_before(store):
    (seq,) = write(store, Row(vector=axis(0)))
    with store.write() as tx:
        tx.embeddings.put(seq, np.arange(DIMS))

    with store.read() as tx:
        found = tx.embeddings.get(seq)
        assert tx.embeddings.count() == 1
    assert found.dtype == np.float32
    assert np.isclose(np.linalg.norm(found), 1.0)
    assert np.allclose(found, np.arange(DIMS) / np.linalg.norm(np.arange(DIMS)))


@pytest.mark.parametrize(
    "vector",
    [
        np.zeros(DIMS),
        np.full(DIMS, np.nan),
        np.full(DIMS, np.inf),
        np.ones(DIMS - 1),
        np.ones((1, DIMS)),
        [],
        ["a"] * DIMS,
        None,
    ],
    ids=["zero", "nan", "infinite", "short", "matrix", "empty", "text", "none"],
)
def test_put_refuses_what_is_no_direction(store, vector):
    (seq,) = write(store, Row())
    with pytest.raises(EmbeddingError), store.write() as tx:
        tx.embeddings.put(seq, vector)

    with store.read() as tx:
        assert tx.embeddings.count() == 0


def test_put_refuses_while_the_store_does_not_know_its_model(tmp_path):
    with open_store(tmp_path / "other.db", identity=None) as store:
        (seq,) = write(store, Row())
        with pytest.raises(EmbeddingProfileMismatch), store.write() as tx:
            tx.embeddings.put(seq, axis(0))


def test_get_reports_a_vector_that_was_cut(store):
    (seq,) = write(store, Row(vector=axis(0)))
    with store.write() as tx:
        tx.run("update embeddings set vector = x'00'")

    with pytest.raises(StoreCorrupt), store.read() as tx:
        tx.embeddings.get(seq)


def test_unit_vector_keeps_the_bits_of_a_unit_vector():
    vector = axis(1, 2, 5)

    assert np.array_equal(unit_vector(vector, DIMS), vector)
    assert unit_vector(vector, DIMS) is not vector


def test_unit_vector_survives_values_whose_square_overflows_or_vanishes():
    for scale in (1e30, 1e-30):
        assert np.allclose(unit_vector(np.full(DIMS, scale), DIMS), 1 / np.sqrt(DIMS))
