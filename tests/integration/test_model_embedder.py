"""The embedder of the profiles standard and lite: the true MiniLM weights, and tiny models."""

from __future__ import annotations

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from retold.config import EmbeddingConfig
from retold.errors import ConfigError, EmbeddingError, RetoldSetupError
from retold.index.device import Placement
from retold.index.embedder import BgeM3Embedder, embedder_from_config
from retold.index.sentence_transformers import SentenceTransformersEmbedder
from retold.protocols import Embedder
from retold.testing.contracts import EmbedderContract
from tests.tiny_models import embedder_model

pytestmark = pytest.mark.models

TEXTS = ("the cat sleeps", "query : the dog barks")
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
ONE_THREAD = Placement("cpu", 1)


@pytest.fixture(scope="module")
def real(minilm) -> SentenceTransformersEmbedder:
    """Load MiniLM once for all its behaviours."""
    return SentenceTransformersEmbedder(str(minilm), dims=384, placement=Placement("cpu"))


class TestSentenceTransformersEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, real) -> Embedder:
        return real


@pytest.fixture
def tiny(tmp_path):
    """Return a maker of embedders on a tiny model."""

    def make(*, placement=ONE_THREAD, **model) -> SentenceTransformersEmbedder:
        folder = embedder_model(tmp_path / "model", TEXTS, **model)
        return SentenceTransformersEmbedder(str(folder), dims=64, placement=placement)

    return make


def test_identity_is_the_name_and_the_hash_of_the_weights(real, minilm):
    assert real.name == str(minilm)
    assert real.files.measured_sha256() == WEIGHTS
    assert real.version == f"1+{WEIGHTS[:12]}"


def test_design_name_of_the_embedder_is_kept():
    assert BgeM3Embedder is SentenceTransformersEmbedder


def test_real_weights_tell_a_paraphrase_from_another_subject(real):
    query = real.embed_queries(["What is the user allergic to?"])
    near, far = real.embed_documents(
        ["The user must not eat peanuts.", "The release moved to March."]
    )

    assert float(query[0] @ near) > 0.32 > float(query[0] @ far)


def test_real_weights_agree_with_the_packaged_int8_ones(real):
    """Both profiles on MiniLM share their floors, which holds only while the models agree."""
    from retold.index.onnx import OnnxEmbedder

    texts = ["The user is allergic to peanuts.", "Release on 19 March", "我对花生过敏"]
    cosines = np.sum(real.embed_documents(texts) * OnnxEmbedder().embed_documents(texts), axis=1)

    assert cosines.min() > 0.99


def test_queries_and_documents_take_the_prompts_of_the_model(tiny):
    """Without encode_query and encode_document the prompts of e5 and its like are lost."""
    embedder = tiny(prompts={"query": "query: ", "document": ""})

    query = embedder.embed_queries(["the dog barks"])
    document = embedder.embed_documents(["the dog barks"])
    spelt_out = embedder.embed_documents(["query: the dog barks"])

    assert np.allclose(query, spelt_out, atol=1e-5)
    assert not np.allclose(query, document, atol=1e-2)


def test_more_texts_than_a_batch_come_back_in_order(tiny):
    embedder = tiny()
    texts = ["the cat sleeps", "the dog barks"] * 40

    vectors = embedder.embed_documents(texts)

    one, other = embedder.embed_documents(texts[:2])
    assert vectors.shape == (80, 64)
    assert np.allclose(vectors[::2], one, atol=1e-5)
    assert np.allclose(vectors[1::2], other, atol=1e-5)


def test_text_beyond_max_chars_is_cut(minilm, real):
    short = SentenceTransformersEmbedder(
        str(minilm), dims=384, max_chars=3, placement=Placement("cpu")
    )

    assert np.allclose(short.embed_queries(["cat food"]), real.embed_queries(["cat"]), atol=1e-5)


def spread_nan(model):
    model.embeddings.LayerNorm.weight.fill_(float("nan"))


def silence(model):
    last = model.encoder.layer[-1].output.LayerNorm
    last.weight.zero_()
    last.bias.zero_()


@pytest.mark.parametrize(
    ("spoil", "says"), [(spread_nan, "not finite"), (silence, "zero vector")], ids=["nan", "zero"]
)
def test_model_with_useless_vectors_is_refused(tiny, spoil, says):
    """Without the check, nothing would ever be found again and nobody would know why."""
    with pytest.raises(EmbeddingError, match=says):
        tiny(spoil=spoil).embed_documents(["the cat sleeps"])


def test_model_of_another_width_than_its_files_state_is_refused(tiny, monkeypatch):
    embedder = tiny()
    monkeypatch.setattr(embedder, "dims", 65)

    with pytest.raises(EmbeddingError, match=r"shape \(1, 64\), not \(1, 65\)"):
        embedder.embed_documents(["the cat sleeps"])


def test_wrong_dims_are_a_configuration_error_before_anything_is_loaded(minilm):
    with pytest.raises(ConfigError, match=r"embedding\.dims: 384"):
        SentenceTransformersEmbedder(str(minilm), dims=1024)


def test_text_that_is_no_text_fails_without_being_shown(tiny):
    with pytest.raises(EmbeddingError) as caught:
        tiny().embed_documents(["secret \ud800"])

    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_one_text_in_the_place_of_a_list_is_refused(tiny):
    with pytest.raises(EmbeddingError, match="a list of texts"):
        tiny().embed_documents("the cat sleeps")


def test_model_runs_in_one_thread_at_a_time(tiny, monkeypatch):
    """Its tokenizer must not be shared, which shows only now and then; so the lock is looked at."""
    embedder = tiny()
    embedder.warm()
    held = []
    model = embedder._model.get()
    encode = model.encode_query

    def watched(*args, **kwargs):
        held.append(embedder._one_at_a_time.locked())
        return encode(*args, **kwargs)

    monkeypatch.setattr(model, "encode_query", watched)
    embedder.embed_queries(["the cat sleeps"])

    assert held == [True]


def test_many_threads_load_the_model_once_and_get_the_same_vectors(tiny, monkeypatch):
    import sentence_transformers

    loads = []
    real_class = sentence_transformers.SentenceTransformer

    def counted(*args, **kwargs):
        loads.append(args)
        return real_class(*args, **kwargs)

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", counted)
    embedder = tiny()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: embedder.embed_queries(TEXTS[: 1 + n % 2]), range(32)))

    assert len(loads) == 1
    assert all(np.allclose(vectors[0], found[0][0], atol=1e-5) for vectors in found)


def test_threads_of_torch_stay_as_they_are_unless_set(tiny, torch_threads):
    tiny(placement=Placement("cpu")).warm()

    import torch

    assert torch.get_num_threads() == torch_threads


def test_threads_of_torch_follow_the_setting(tiny, torch_threads):
    tiny(placement=Placement("cpu", torch_threads + 1)).warm()

    import torch

    assert torch.get_num_threads() == torch_threads + 1


def test_pickled_weights_give_the_vectors_of_the_same_safetensors(tiny):
    """BAAI/bge-m3 has no others."""
    import torch
    from safetensors.torch import load_file

    first = tiny()
    wanted = first.embed_queries(TEXTS)
    (weights,) = first.files.weights
    torch.save(load_file(weights), weights.with_name("pytorch_model.bin"))
    weights.unlink()

    pickled = SentenceTransformersEmbedder(first.name, dims=64, placement=ONE_THREAD)

    assert np.allclose(pickled.embed_queries(TEXTS), wanted, atol=1e-6)
    assert pickled.version != first.version


def test_weights_that_would_run_code_are_not_loaded(tiny, tmp_path):
    """A pickle may call anything; without torch's restricted loader this one makes a file."""
    first = tiny()
    (weights,) = first.files.weights
    weights.unlink()
    made = tmp_path / "made"
    pickle = PicklesTo(made)
    import torch

    torch.save(
        {"embeddings.word_embeddings.weight": pickle}, weights.with_name("pytorch_model.bin")
    )

    with pytest.raises(RetoldSetupError, match="cannot be loaded"):
        SentenceTransformersEmbedder(first.name, dims=64, placement=ONE_THREAD).warm()
    assert not made.exists()


class PicklesTo:
    """Touch a file when unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return type(self.path).touch, (self.path,)


def test_settings_reach_the_model(minilm, torch_threads):
    settings = {"threads": torch_threads + 2, "device": "cpu", "version": "7", "max_chars": 3}
    embedder = embedder_from_config(EmbeddingConfig(model=str(minilm), dims=384, **settings))

    cut, whole = embedder.embed_documents(["cat food", "cat"])

    import torch

    assert torch.get_num_threads() == torch_threads + 2
    assert embedder.version == f"7+{WEIGHTS[:12]}"
    assert float(cut @ whole) == pytest.approx(1.0, abs=1e-4)


def test_damaged_weights_are_a_setup_error_that_names_the_folder(tmp_path, minilm):
    folder = shutil.copytree(minilm, tmp_path / "model", ignore=lambda *_: {"model.safetensors"})
    (folder / "model.safetensors").write_bytes(b"cut off")
    embedder = SentenceTransformersEmbedder(str(folder), dims=384, placement=Placement("cpu"))

    with pytest.raises(RetoldSetupError, match=r"cannot be loaded .*; repair the folder"):
        embedder.warm()
    assert not embedder.is_loaded


def test_making_an_embedder_loads_neither_torch_nor_the_model(minilm):
    probe = (
        "import sys; from retold.index.sentence_transformers import SentenceTransformersEmbedder\n"
        f"e = SentenceTransformersEmbedder({str(minilm)!r}, dims=384)\n"
        "print(e.is_loaded, 'torch' in sys.modules, 'sentence_transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True, text=True)

    assert done.stdout.split() == ["False", "False", "False"]
