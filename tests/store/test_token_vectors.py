"""Token vectors: what is stored, whose it is, and when it goes."""

import numpy as np
import pytest

from retold.errors import EmbeddingError, MigrationRequired, StoreCorrupt
from retold.store import Store
from retold.store.token_vectors import MissingTokens, pack_tokens, unpack_tokens
from tests.index_support import DIMS, IDENTITY, OTHER_IDENTITY, Row, axis, insert, open_store


def directions(count, dims=DIMS):
    rows = np.random.default_rng(count).standard_normal((count, dims)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "memory.db") as opened:
        yield opened


def write(store, *vectors):
    """Store one record per vector; those with one get three token vectors."""
    with store.write() as tx:
        seqs = [insert(tx, Row(vector=vector)) for vector in vectors]
        for seq, vector in zip(seqs, vectors, strict=True):
            if vector is not None:
                tx.token_vectors.put(seq, pack_tokens(directions(3), DIMS))
    return seqs


def read(store, seqs, identity=IDENTITY):
    with store.read() as tx:
        found = tx.token_vectors.read(seqs, identity)
        assert {seq: version for seq, (version, _) in found.items()} == tx.token_vectors.versions(
            seqs, identity
        )
    return found


def rows(store):
    with store.read() as tx:
        return [seq for (seq,) in tx.run("select seq from token_vectors order by seq")]


def test_packed_tokens_keep_their_cosines():
    vectors, query = directions(40, 384), directions(1, 384)[0]

    packed = pack_tokens(vectors, 384)
    again = unpack_tokens(packed.to_bytes(), 384)

    assert len(packed.to_bytes()) == packed.nbytes == 40 * (384 + 4)
    assert np.array_equal(again.codes, packed.codes)
    assert np.array_equal(again.scales, packed.scales)
    restored = again.codes * again.scales[:, None]
    assert np.abs(restored @ query - vectors @ query).max() < 0.004


@pytest.mark.parametrize(
    "vectors",
    [
        np.empty((0, DIMS)),
        axis(1),
        np.ones((2, DIMS - 1)),
        np.full((1, DIMS), np.nan),
        np.zeros((1, DIMS)),
    ],
    ids=["none", "one row", "narrow", "nan", "zero"],
)
def test_pack_refuses_what_is_no_matrix_of_directions(vectors):
    with pytest.raises(EmbeddingError):
        pack_tokens(vectors, DIMS)


def test_read_returns_what_was_put_for_the_records_asked_for(store):
    first, second, without = write(store, axis(0), axis(1), None)

    found = read(store, [second, without, 999])

    assert list(found) == [second]
    assert np.array_equal(found[second][1].codes, pack_tokens(directions(3), DIMS).codes)
    assert set(read(store, [first, second])) == {first, second}


def test_token_vectors_of_another_model_are_never_read(store):
    """Neither those of another model, nor those that came with a vector since replaced."""
    (seq,) = write(store, axis(0))

    assert read(store, [seq], OTHER_IDENTITY) == {}
    with store.write() as tx:
        tx.run("update embeddings set index_version = :at", {"at": tx.version()})
    assert read(store, [seq]) == {}
    with store.read() as tx:
        assert [one.seq for one in tx.token_vectors.missing(IDENTITY, 0, 9)] == [seq]
        assert tx.token_vectors.missing(OTHER_IDENTITY, 0, 9) == []


def test_token_vectors_go_with_their_vector(store):
    removed, replaced, kept = write(store, axis(0), axis(1), axis(2))

    with store.write() as tx:
        tx.embeddings.delete(removed)
        tx.embeddings.put(replaced, axis(3))

    assert rows(store) == [kept]


def test_missing_names_live_records_with_a_vector_alone(store):
    seqs = write(store, axis(0), axis(1), axis(2), None)
    with store.write() as tx:
        assert tx.token_vectors.delete_some(2) == 2
        assert tx.token_vectors.delete_some(9) == 1
        tx.run("update records set status = 'deleted' where seq = :seq", {"seq": seqs[1]})

    with store.read() as tx:
        missing = tx.token_vectors.missing(IDENTITY, 0, 9)
        assert tx.token_vectors.count_missing(IDENTITY) == len(missing) == 2
        assert tx.token_vectors.missing(IDENTITY, seqs[0], 9) == missing[1:]
        assert tx.token_vectors.missing(IDENTITY, 0, 1) == missing[:1]
        assert tx.token_vectors.sizes() == (0, 0)
    assert all(isinstance(one, MissingTokens) for one in missing)
    assert [one.seq for one in missing] == [seqs[0], seqs[2]]


def test_fill_leaves_alone_what_changed_since_it_was_found(store):
    """A forgotten record gets no new token vectors, nor a replaced vector those of the old one."""
    forgotten, replaced, missing = write(store, axis(0), axis(1), axis(2))
    with store.write() as tx:
        tx.token_vectors.delete_some(9)
    with store.read() as tx:
        found = tx.token_vectors.missing(IDENTITY, 0, 9)
    with store.write() as tx:
        tx.run("update records set status = 'deleted' where seq = :seq", {"seq": forgotten})
        tx.embeddings.put(replaced, axis(3))

    with store.write() as tx:
        filled = [tx.token_vectors.fill(one, pack_tokens(directions(2), DIMS)) for one in found]

    assert filled == [False, False, True]
    assert rows(store) == [missing]


def test_put_without_a_vector_stores_nothing(store):
    (seq,) = write(store, None)

    with store.write() as tx:
        tx.token_vectors.put(seq, pack_tokens(directions(1), DIMS))

    assert rows(store) == []


@pytest.mark.parametrize(
    "codes", [b"\0", b"\0\0\xc0\x7f" + bytes(DIMS)], ids=["cut", "a scale that is no number"]
)
def test_read_reports_a_row_that_was_damaged(store, codes):
    (seq,) = write(store, axis(0))
    with store.write() as tx:
        tx.run("update token_vectors set codes = :codes", {"codes": codes})

    with pytest.raises(StoreCorrupt), store.read() as tx:
        tx.token_vectors.read([seq], IDENTITY)


def test_a_store_of_schema_100_is_migrated_and_keeps_its_records(tmp_path):
    path = tmp_path / "older.db"
    with open_store(path) as store:
        (seq,) = write(store, axis(0))
        with store.write() as tx:
            tx.run("drop table token_vectors")
            tx.connection.pragma("user_version", 100)

    with pytest.raises(MigrationRequired, match="run `retold migrate`"):
        Store.open(path)
    with Store.open(path, migrate=True) as store:
        assert rows(store) == []
        with store.read() as tx:
            assert tx.embeddings.get(seq) is not None
            assert [one.seq for one in tx.token_vectors.missing(IDENTITY, 0, 9)] == [seq]
