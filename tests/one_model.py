"""The packaged model, loaded once for all that use it in this process.

Loading it, and embedding what every search of the preset is compared with, takes most of the time
of a command on a small store. Whether it loads, verifies its files and fails as it should is proven
in ``tests/unit/index/test_onnx.py``, and by the commands that run in processes of their own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from retold.index.onnx import OnnxEmbedder

MODELS, ANSWERS = {}, {}


@contextmanager
def one_model() -> Iterator[None]:
    """Let embedders with the same settings share a model and its answers to the same calls."""
    load, embed = OnnxEmbedder._load, OnnxEmbedder._embed

    def settings(embedder):
        return (
            embedder._threads,
            embedder._max_chars,
            embedder._model_path,
            embedder._tokenizer_path,
        )

    def loaded_once(embedder):
        key = settings(embedder)
        if key not in MODELS:
            MODELS[key] = load(embedder)
        return MODELS[key]

    def answered_once(embedder, texts):
        key = (settings(embedder), tuple(texts))
        if key not in ANSWERS:
            ANSWERS[key] = embed(embedder, texts)
        embedder._loaded()
        return ANSWERS[key].copy()

    with patch.multiple(OnnxEmbedder, _load=loaded_once, _embed=answered_once):
        yield
