import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.errors import EmbeddingError
from retold.index.checks import check_vectors
from retold.testing import FakeEmbedder


def cosine(embedder, a, b):
    one, two = embedder.embed_documents([a, b])
    return float(one @ two)


def test_embedder_brings_texts_with_shared_words_closer():
    embedder = FakeEmbedder()

    near = cosine(embedder, "Ana likes green tea", "likes tea")
    far = cosine(embedder, "Ana likes green tea", "the build takes nine minutes")

    assert near > 0.5
    assert abs(far) < 0.2


def test_embedder_brings_unspaced_texts_with_shared_characters_closer():
    embedder = FakeEmbedder()

    near = cosine(embedder, "我对花生过敏", "花生过敏")
    far = cosine(embedder, "我对花生过敏", "今天下雨了")

    assert near > far + 0.3


def test_embedder_ignores_case_order_and_repetition():
    assert cosine(FakeEmbedder(), "green tea tea", "Tea, GREEN!") == pytest.approx(1.0, abs=1e-6)


def test_embedder_gives_the_same_vectors_in_another_process():
    code = (
        "from retold.testing import FakeEmbedder;"
        "print(FakeEmbedder(dims=8).embed_queries(['green tea']).tobytes().hex())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert FakeEmbedder(dims=8).embed_queries(["green tea"]).tobytes().hex() == (
        other.stdout.decode().strip()
    )


def test_embedder_gives_a_declared_cosine():
    embedder = FakeEmbedder()
    embedder.similar("coffee is what she drinks", to="likes tea", cosine=0.9)

    assert cosine(embedder, "coffee is what she drinks", "likes tea") == pytest.approx(
        0.9, abs=1e-6
    )


@given(st.lists(st.floats(-0.4, 0.4), min_size=1, max_size=4))
def test_embedder_gives_every_declared_cosine_at_once(wanted):
    embedder = FakeEmbedder()
    cosines = {f"word{place}": value for place, value in enumerate(wanted)}
    embedder.similar_to_all("x", cosines)

    found = [cosine(embedder, "x", text) for text in cosines]
    assert found == pytest.approx(wanted, abs=1e-5)


def test_embedder_builds_on_a_declared_text():
    embedder = FakeEmbedder()
    embedder.similar("b", to="a", cosine=0.8)
    embedder.similar("c", to="b", cosine=0.5)

    assert cosine(embedder, "b", "a") == pytest.approx(0.8, abs=1e-6)
    assert cosine(embedder, "c", "b") == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "cosines"),
    [
        pytest.param("x", {"a": 1.1}, id="above one"),
        pytest.param("x", {"a": 1.0, "b": 1.0}, id="equal to two different texts"),
        pytest.param("a", {"a": 0.5}, id="unlike itself"),
    ],
)
def test_embedder_refuses_cosines_that_no_vector_has(text, cosines):
    with pytest.raises(ValueError, match=r"cosines|declare"):
        FakeEmbedder().similar_to_all(text, cosines)


def test_embedder_refuses_to_move_a_text_that_another_was_compared_with():
    embedder = FakeEmbedder()
    embedder.similar("b", to="a", cosine=0.8)

    with pytest.raises(ValueError, match="declare it first"):
        embedder.similar("a", to="c", cosine=0.2)


def test_embedder_fails_as_told_until_healed():
    embedder = FakeEmbedder(dims=8)
    embedder.fail(on="documents")

    assert embedder.embed_queries(["x"]).shape == (1, 8)
    with pytest.raises(EmbeddingError):
        embedder.embed_documents(["x"])
    embedder.heal()
    assert embedder.embed_documents(["x"]).shape == (1, 8)


def test_embedder_raises_the_error_it_was_given():
    embedder = FakeEmbedder()
    embedder.fail(MemoryError("out of memory"))

    with pytest.raises(MemoryError):
        embedder.embed_queries(["x"])


@pytest.mark.parametrize("fault", ["nan", "zero", "size", "rows"])
def test_embedder_returns_unusable_vectors_as_told(fault):
    embedder = FakeEmbedder(dims=8)
    embedder.spoil(fault)

    with pytest.raises(EmbeddingError):
        check_vectors(embedder.embed_documents(["x", "y"]), 2, 8)


def test_embedder_remembers_what_it_embedded():
    embedder = FakeEmbedder(dims=8)
    embedder.embed_queries(["q"])
    embedder.embed_documents(["d1", "d2"])

    assert embedder.queries == [("q",)]
    assert embedder.documents == [("d1", "d2")]
    assert embedder.calls == 2


def test_embedder_loads_with_the_first_call():
    embedder = FakeEmbedder(dims=8, is_loaded=False)

    assert not embedder.is_loaded
    embedder.embed_queries(["x"])
    assert embedder.is_loaded


def test_embedder_accepts_a_lone_surrogate():
    assert np.isfinite(FakeEmbedder(dims=8).embed_queries(["\ud800"])).all()
