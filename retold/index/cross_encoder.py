"""A cross-encoder, which reads two texts at once; the judge's and the reranker's model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from retold.errors import ModelError
from retold.index.device import Placement
from retold.index.loading import LoadedOnce
from retold.index.model_files import ModelFiles
from retold.index.sentence_transformers import unusable

Logits = npt.NDArray[np.float64]

MOST_TOKENS: Final = 512
"""Longest pair read at once: these models were trained on no more, and time grows with it."""


class Reading(NamedTuple):
    """What the tokenizer makes of a pair of texts."""

    fits: bool
    """Whether the model reads all of it."""
    readable: bool
    """Whether the tokenizer knows at least half of the characters of either text."""


class CrossEncoderModel:
    """A cross-encoder from files on this machine, loaded on the first use, once for all threads.

    Calls run one at a time: a tokenizer that two threads share may say it is borrowed. A model that
    fails raises ``error`` without any of the texts.
    """

    def __init__(self, files: ModelFiles, placement: Placement, error: type[ModelError]) -> None:
        """Keep the settings; nothing is loaded yet."""
        self.files = files
        self._placement = placement
        self._error = error
        self._model = LoadedOnce(self._load)
        self._one_at_a_time = threading.Lock()

    @property
    def is_loaded(self) -> bool:
        """Return whether the next call runs without loading anything."""
        return self._model.is_loaded

    def logits(self, pairs: Sequence[tuple[str, str]], *, batch_size: int = 32) -> Logits:
        """Return the raw outputs, (len(pairs), labels), finite. What does not fit is cut."""
        model = self._model.get()
        with self._one_at_a_time:
            try:
                answer = model.predict(
                    list(pairs),
                    batch_size=batch_size,
                    activation_fn=_unchanged,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
            except Exception as failure:
                # The cause is cut off: an error of a tokenizer carries the whole text.
                raise self._failed(type(failure).__name__) from None
        logits = np.asarray(answer, dtype=np.float64).reshape(len(pairs), -1)
        if not np.isfinite(logits).all():
            raise self._failed("numbers that are not finite")
        return logits

    def reading(self, first: str, second: str) -> Reading:
        """Say whether the model can read both texts whole."""
        tokenizer = self._model.get().tokenizer
        with self._one_at_a_time:
            try:
                pair = tokenizer(first, second, truncation=False, verbose=False)["input_ids"]
                readable = all(_is_readable(tokenizer, text) for text in (first, second))
            except Exception as failure:
                raise self._failed(type(failure).__name__) from None
        return Reading(len(pair) <= tokenizer.model_max_length, readable)

    def _failed(self, reason: str) -> ModelError:
        return self._error(f"the model {self.files.name!r} failed ({reason})")

    def _load(self) -> Any:  # noqa: ANN401  # sentence-transformers is loaded lazily
        from sentence_transformers import CrossEncoder

        device = self._placement.apply()
        try:
            model = CrossEncoder(str(self.files.folder), device=device, local_files_only=True)
        except Exception as error:  # every library below has errors of its own
            raise unusable(self.files, error) from error
        limits = (model.tokenizer.model_max_length, MOST_TOKENS)
        model.tokenizer.model_max_length = min(limit for limit in limits if limit)
        return model


def _is_readable(tokenizer: Any, text: str) -> bool:  # noqa: ANN401  # of transformers
    """Return whether the tokenizer knows at least half of the characters.

    Characters count, not tokens: a whole line in a foreign script becomes one unknown token. A
    tokenizer in plain Python does not say where its tokens stand, and is believed.
    """
    if not tokenizer.is_fast:
        return True
    tokens = tokenizer(
        text,
        truncation=False,
        add_special_tokens=False,
        return_offsets_mapping=True,
        verbose=False,
    )
    spans = zip(tokens["input_ids"], tokens["offset_mapping"], strict=True)
    unknown: int = sum(
        end - start for token, (start, end) in spans if token == tokenizer.unk_token_id
    )
    return 2 * unknown <= len(text)


def _unchanged(logits: Any) -> Any:  # noqa: ANN401  # a tensor of torch, which is loaded lazily
    """Stand in for the activation that a model's own settings may name."""
    return logits
