"""Late interaction: the score, what is remembered of it, and which words count."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.errors import ConfigError, EmbeddingError
from retold.index.content_tokens import UNKNOWN, content_places
from retold.index.token_vectors import (
    TokenVectorCache,
    late_similarity,
    packed_texts,
    require_token_embedder,
)
from retold.protocols import EmbeddedTexts
from retold.store.token_vectors import pack_tokens
from retold.testing import FakeEmbedder
from tests.index_support import DIMS, IDENTITY, Row, axis, change, insert, open_store

WIDTH = 24


def directions(seed: int, count: int, dims: int = WIDTH) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, dims)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def packed(seed: int, count: int, dims: int = WIDTH):
    return pack_tokens(directions(seed, count, dims), dims)


# --- the score ------------------------------------------------------------------------------


def test_late_similarity_is_the_mean_of_the_best_cosines():
    query, records = directions(1, 5, 384), [directions(seed, 3 + seed, 384) for seed in (2, 3, 4)]

    scores = late_similarity(pack_tokens(query, 384), [pack_tokens(one, 384) for one in records])

    expected = [
        np.mean([max(token @ other for other in one) for token in query]) for one in records
    ]
    assert scores == pytest.approx(expected, abs=0.004)
    assert late_similarity(pack_tokens(query, 384), []).shape == (0,)


def test_late_similarity_of_a_text_with_itself_is_one():
    text = packed(7, 6, 384)

    assert late_similarity(text, [text])[0] == pytest.approx(1.0, abs=0.005)


@given(st.permutations(range(9)), st.integers(1, 9))
def test_score_of_a_record_does_not_depend_on_its_company(order, kept):
    """Bit for bit: whole numbers are added, so neither order nor neighbours round differently."""
    query, records = packed(1, 7), [packed(10 + at, 1 + at) for at in range(9)]
    alone = [late_similarity(query, [one])[0] for one in records]

    together = late_similarity(query, [records[at] for at in order[:kept]])

    assert together.tolist() == [alone[at] for at in order[:kept]]


def test_packed_texts_refuses_an_embedder_that_lost_a_text():
    embedded = EmbeddedTexts(directions(1, 2), [directions(1, 3)])

    with pytest.raises(EmbeddingError, match="1 texts, not of 2"):
        packed_texts(embedded, 2, WIDTH)


def test_embedder_without_token_vectors_is_named_with_the_ways_out():
    class Plain:
        name, version, dims, is_loaded = "plain/model", "1", 3, True

    with pytest.raises(ConfigError) as refused:
        require_token_embedder(Plain())

    for part in ("'plain/model'", "retrieval.late_interaction.enabled: false", "profile offline"):
        assert part in str(refused.value)
    assert require_token_embedder(FakeEmbedder()).offers_token_vectors


# --- what is remembered -----------------------------------------------------------------------


@dataclass
class CountingReads:
    """A transaction that counts how many rows of token vectors are read."""

    tx: object
    rows: int = 0
    asked: int = 0

    @property
    def meta(self):
        return self.tx.meta

    @property
    def projection(self):
        return self.tx.projection

    @property
    def token_vectors(self):
        return self

    def versions(self, seqs, identity):
        self.asked += len(seqs)
        return self.tx.token_vectors.versions(seqs, identity)

    def read(self, seqs, identity):
        self.rows += len(seqs)
        return self.tx.token_vectors.read(seqs, identity)


def test_cache_follows_the_store_and_reads_each_vector_once(tmp_path):
    """Replaced, removed and filled in later: a search sees what its snapshot holds."""
    cache = TokenVectorCache(IDENTITY)

    def look(*seqs):
        with store.read() as tx:
            counting = CountingReads(tx)
            found = cache.read(counting, seqs)
        return {seq: one.codes[0].tolist() for seq, one in found.items()}, counting

    def put(seq, seed):
        with store.write() as tx:
            tx.embeddings.put(seq, axis(0))
            tx.token_vectors.put(seq, packed(seed, 2, DIMS))

    with open_store(tmp_path / "memory.db") as store:
        with store.write() as tx:
            one, two = (insert(tx, Row(vector=axis(at))) for at in (0, 1))
            tx.token_vectors.put(one, packed(1, 2, DIMS))
        first, counted = look(one, two)
        assert list(first) == [one]
        assert (counted.asked, counted.rows) == (2, 1)
        again, counted = look(one, two)
        assert again == first
        assert (counted.asked, counted.rows) == (1, 0)  # the one that has none is asked for
        with store.write() as tx:
            tx.token_vectors.put(two, packed(2, 2, DIMS))
        assert list(look(one, two)[0]) == [one, two]
        put(one, 3)
        changed, counted = look(one, two)
        assert changed[one] != first[one]
        assert (counted.asked, counted.rows) == (2, 1)
        with store.write() as tx:
            tx.embeddings.delete(two)
        assert list(look(two, one)[0]) == [one]


def test_cache_gives_up_what_was_used_longest_ago(tmp_path):
    size = packed(1, 2, DIMS).nbytes
    cache = TokenVectorCache(IDENTITY, most_bytes=2 * size)
    with open_store(tmp_path / "memory.db") as store:
        with store.write() as tx:
            seqs = [insert(tx, Row(vector=axis(at))) for at in range(3)]
            for seq in seqs:
                tx.token_vectors.put(seq, packed(seq, 2, DIMS))
        with store.read() as tx:
            assert len(cache.read(tx, seqs)) == 3
            assert repr(cache) == f"TokenVectorCache(records=2, bytes={2 * size})"
            counting = CountingReads(tx)
            assert list(cache.read(counting, seqs[::-1])) == seqs[::-1]
            assert counting.rows == 1
            one, two, three = seqs
            for asked, rows_read in ((two, 1), (one, 1), (two, 1), (three, 2), (two, 2)):
                cache.read(counting, [asked])
                assert counting.rows == rows_read


def test_what_was_dropped_is_forgotten_by_every_process(tmp_path):
    """Fails when dropping leaves the counters of the store where they are."""
    cache = TokenVectorCache(IDENTITY)
    with open_store(tmp_path / "memory.db") as store:
        with store.write() as tx:
            seq = insert(tx, Row(vector=axis(0)))
            tx.token_vectors.put(seq, packed(1, 2, DIMS))
        with store.read() as tx:
            cache.read(tx, [seq])
        with store.write() as tx:
            assert tx.token_vectors.delete_some(9) == 1
        with store.read() as tx:
            assert cache.read(tx, [seq]) == {}
            moved = tx.meta.clocks()
        with store.write() as tx:
            assert tx.token_vectors.delete_some(9) == 0
        with store.read() as tx:
            assert tx.meta.clocks() == moved
    assert repr(cache) == "TokenVectorCache(records=0, bytes=0)"


def test_token_vectors_of_a_forgotten_record_leave_the_memory_with_the_next_search(tmp_path):
    """Fails when only records that a search still finds are compared with the store."""
    cache = TokenVectorCache(IDENTITY)
    with open_store(tmp_path / "memory.db") as store:
        with store.write() as tx:
            seqs = [insert(tx, Row(vector=axis(at))) for at in range(3)]
            for seq in seqs:
                tx.token_vectors.put(seq, packed(seq, 2, DIMS))
        with store.read() as old, ThreadPoolExecutor(1) as pool:
            cache.read(old, seqs)

            def forget_and_look() -> None:
                with store.write() as tx:
                    change(tx, seqs[0], status="deleted")
                with store.read() as tx:
                    assert list(cache.read(tx, [seqs[1]])) == [seqs[1]]

            pool.submit(forget_and_look).result()
            assert list(cache.read(old, seqs)) == seqs  # as that snapshot has it, for nobody else

    assert repr(cache) == f"TokenVectorCache(records=2, bytes={2 * packed(1, 2, DIMS).nbytes})"


def test_cache_trusts_no_version_of_a_file_that_was_replaced(tmp_path):
    """Versions of two histories are counted alike and mean other vectors."""
    cache = TokenVectorCache(IDENTITY)
    with open_store(tmp_path / "memory.db") as store:
        with store.write() as tx:
            seq = insert(tx, Row(vector=axis(0)))
            tx.token_vectors.put(seq, packed(1, 2, DIMS))
        with store.read() as tx:
            cache.read(tx, [seq])
        with store.write() as tx:
            tx.meta.set_text("store_epoch", "another")
            tx.token_vectors.put(seq, packed(2, 2, DIMS))
        with store.read() as tx:
            found = cache.read(tx, [seq])[seq]

    assert found.codes.tolist() == packed(2, 2, DIMS).codes.tolist()


# --- which words count ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "words", "kept"),
    [
        ("[CLS] what does ana drink ? [SEP]", (None, 0, 1, 2, 3, 4, None), "ana drink"),
        ("[CLS] i don ' t like thai ##land [SEP]", (None, 0, 1, 2, 3, 4, 5, 5, None),
         "don like thai ##land"),
        ("[CLS] ana ' s tea ; plan t [SEP]", (None, 0, 1, 2, 3, 4, 5, 6, None), "ana tea plan t"),
        ("[CLS] [UNK] tea [UNK] [SEP]", (None, 0, 1, 2, None), "tea"),
        ("[CLS] who are you [SEP]", (None, 0, 1, 2, None), "who are you"),
        ("[CLS] [UNK] [SEP]", (None, 0, None), UNKNOWN),
        ("[CLS] [SEP]", (None, None), "[CLS] [SEP]"),
    ],
    ids=["question", "negation", "possessive", "unknown", "no content", "only unknown", "empty"],
)  # fmt: skip
def test_content_places_leave_out_what_stands_in_any_text(pieces, words, kept):
    listed = pieces.split()

    assert [listed[at] for at in content_places(listed, words)] == kept.split()
