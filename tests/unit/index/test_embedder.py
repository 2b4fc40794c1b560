"""The query cache, the vector check and the choice of an embedder."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from huggingface_hub import constants
from hypothesis import given
from hypothesis import strategies as st

from retold import protocols
from retold.config import EmbeddingConfig, parse_config, profile_config
from retold.errors import ConfigError, EmbeddingError, RetoldSetupError
from retold.index import embedder as module
from retold.index import hub
from retold.index.embedder import Embedder, QueryCache, check_vectors, embedder_from_config

DIMS = 4


class CountingEmbedder:
    """Embed a text by its length, and remember every call."""

    name = "counting"
    version = "1"
    dims = DIMS
    is_loaded = True

    def __init__(self):
        self.queries: list[list[str]] = []
        self.documents: list[list[str]] = []

    def embed_queries(self, texts):
        self.queries.append(list(texts))
        return self._vectors(texts)

    def embed_documents(self, texts):
        self.documents.append(list(texts))
        return self._vectors(texts)

    def _vectors(self, texts):
        rows = [(len(text) + 1, 1, sum(map(ord, text)), 2) for text in texts]
        array = np.array(rows, dtype=np.float32).reshape(len(texts), DIMS)
        return array / np.linalg.norm(array, axis=1, keepdims=True)


def unit(n=2, dims=DIMS):
    array = np.zeros((n, dims), dtype=np.float32)
    array[:, 0] = 1
    return array


# --- check_vectors ----------------------------------------------------------------------


def test_check_vectors_returns_what_is_right_and_contiguous():
    rows = np.asfortranarray(unit(3))
    checked = check_vectors(rows, 3, DIMS)

    assert checked.flags.c_contiguous
    assert (checked == rows).all()


def test_check_vectors_takes_no_rows():
    assert check_vectors(unit(0), 0, DIMS).shape == (0, DIMS)


def changed(value):
    array = unit()
    array[1, 0] = value
    return array


WRONG = {
    "too_few": (unit(1), r"shape \(1, 4\), not \(2, 4\)"),
    "too_wide": (unit(2, 5), "embedding.dims must equal"),
    "flat": (unit(2).ravel(), "shape"),
    "float64": (unit().astype(np.float64), "float64 array, not a float32"),
    "float16": (unit().astype(np.float16), "float16 array"),
    "whole_numbers": (unit().astype(np.int64), "int64 array"),
    "list": ([[1.0, 0, 0, 0]] * 2, "a list, not a float32 array"),
    "nothing": (None, "NoneType"),
    "nan": (changed(np.nan), "not finite"),
    "infinite": (changed(np.inf), "not finite"),
    "zero": (changed(0.0), "zero vector"),
    "not_unit": (changed(0.5), "unit length"),
    "enormous": (changed(3e38), "unit length"),
}


@pytest.mark.parametrize(("array", "expected"), WRONG.values(), ids=WRONG)
def test_check_vectors_refuses_what_cannot_be_compared(array, expected):
    """B51. Each condition of ``check_vectors`` has its row here; without it the row passes."""
    with pytest.raises(EmbeddingError, match=expected):
        check_vectors(array, 2, DIMS)


# --- QueryCache -------------------------------------------------------------------------


def test_query_cache_is_an_embedder_with_the_inner_identity():
    cache = QueryCache(CountingEmbedder(), 8)

    assert isinstance(cache, Embedder)
    assert (cache.name, cache.version, cache.dims, cache.is_loaded) == ("counting", "1", DIMS, True)


def test_query_cache_embeds_a_query_once():
    inner = CountingEmbedder()
    cache = QueryCache(inner, 8)
    first = cache.embed_queries(["tea"])
    second = cache.embed_queries(["tea", "coffee"])

    assert inner.queries == [["tea"], ["coffee"]]
    assert (first[0] == second[0]).all()


def test_query_cache_embeds_a_repeated_text_of_one_call_once():
    inner = CountingEmbedder()
    vectors = QueryCache(inner, 8).embed_queries(["a", "bb", "a"])

    assert inner.queries == [["a", "bb"]]
    assert (vectors == inner._vectors(["a", "bb", "a"])).all()


def test_query_cache_drops_the_least_recently_used():
    inner = CountingEmbedder()
    cache = QueryCache(inner, 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cache.embed_queries([text])

    assert inner.queries == [["a"], ["b"], ["c"], ["b"]]


def test_query_cache_answers_more_texts_than_it_keeps():
    inner = CountingEmbedder()
    texts = [str(number) * number for number in range(1, 9)]

    assert (QueryCache(inner, 2).embed_queries(texts) == inner._vectors(texts)).all()


def test_query_cache_of_size_zero_keeps_nothing():
    inner = CountingEmbedder()
    cache = QueryCache(inner, 0)
    cache.embed_queries(["a"])
    cache.embed_queries(["a"])

    assert inner.queries == [["a"], ["a"]]


def test_query_cache_never_keeps_documents():
    inner = CountingEmbedder()
    cache = QueryCache(inner, 8)
    cache.embed_documents(["a"])
    cache.embed_documents(["a"])
    cache.embed_queries(["a"])

    assert inner.documents == [["a"], ["a"]]
    assert inner.queries == [["a"]]


def test_query_cache_hands_out_copies():
    cache = QueryCache(CountingEmbedder(), 8)
    cache.embed_queries(["a"])[:] = 7

    assert (cache.embed_queries(["a"]) != 7).all()


def test_query_cache_asks_the_model_nothing_for_no_texts():
    inner = CountingEmbedder()

    assert QueryCache(inner, 8).embed_queries([]).shape == (0, DIMS)
    assert inner.queries == []


def test_query_cache_warms_without_keeping_the_word():
    inner = CountingEmbedder()
    cache = QueryCache(inner, 8)
    cache.warm()
    cache.embed_queries(["warm"])

    assert len(inner.queries) == 2


@pytest.mark.parametrize("method", ["embed_queries", "embed_documents"])
def test_query_cache_refuses_a_broken_model_and_keeps_nothing_of_it(method):
    inner = CountingEmbedder()
    cache = QueryCache(inner, 8)
    inner._vectors = lambda texts: np.zeros((len(texts), DIMS), dtype=np.float32)
    with pytest.raises(EmbeddingError, match="zero vector"):
        getattr(cache, method)(["a"])
    del inner._vectors

    assert (getattr(cache, method)(["a"]) != 0).any()


@given(
    calls=st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=12),
    entries=st.integers(0, 4),
)
def test_query_cache_answers_as_the_model_would(calls, entries):
    inner = CountingEmbedder()
    cache = QueryCache(inner, entries)

    for texts in calls:
        assert (cache.embed_queries(texts) == inner._vectors(texts)).all()
    assert len(cache._cached) <= entries


def test_query_cache_serves_many_threads():
    cache = QueryCache(CountingEmbedder(), 3)
    wrong = []

    def ask(offset):
        for step in range(200):
            texts = [chr(97 + (offset + step + place) % 7) for place in range(3)]
            if not (cache.embed_queries(texts) == CountingEmbedder()._vectors(texts)).all():
                wrong.append(texts)

    threads = [threading.Thread(target=ask, args=(offset,)) for offset in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


# --- embedder_from_config ---------------------------------------------------------------


def test_the_prescribed_import_names_the_port():
    assert module.Embedder is protocols.Embedder


def test_offline_profile_gets_the_packaged_embedder_unloaded():
    embedder = embedder_from_config(profile_config("offline").embedding)

    assert isinstance(embedder, Embedder)
    assert embedder.name == "all-MiniLM-L6-v2/onnx-int8"
    assert embedder.dims == 384
    assert not embedder.is_loaded


def test_embedder_version_follows_the_configured_tag():
    offline = profile_config("offline")
    changed_tag = parse_config({"embedding": {"version": "2"}}, profile="offline")

    versions = [embedder_from_config(config.embedding).version for config in (offline, changed_tag)]

    assert versions == ["1+8199be6f699a", "2+8199be6f699a"]


@pytest.mark.parametrize("name", ["standard", "lite"])
def test_hub_model_that_is_not_here_is_a_setup_error_that_names_both_ways_out(
    name, tmp_path, monkeypatch
):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub, "PACKAGES", ())

    with pytest.raises(RetoldSetupError) as caught:
        embedder_from_config(profile_config(name).embedding)

    assert "profile='offline'" in caught.value.message
    assert f"`retold models pull {name}`" in caught.value.message


def test_wrong_width_is_a_configuration_error_that_names_the_right_one():
    config = EmbeddingConfig(model="all-MiniLM-L6-v2/onnx-int8")

    with pytest.raises(ConfigError, match=r"set embedding\.dims: 384"):
        embedder_from_config(config)
