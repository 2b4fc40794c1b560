"""The reranker: a cross-encoder on one thread of its own, with a deadline for every answer."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from typing import Final, NamedTuple

import numpy as np

from retold.config import RetoldConfig
from retold.errors import ConfigError, RerankError
from retold.index.cross_encoder import CrossEncoderModel
from retold.index.device import Placement
from retold.index.hub import require_model
from retold.index.model_files import require_labels
from retold.protocols import Reranker

__all__ = ["BgeReranker", "Reranker", "reranker_from_config"]

_WANTED: Final = "a reranker, which has one output"


class _Pass(NamedTuple):
    """One query with its documents, and where the scores are awaited."""

    query: str
    docs: tuple[str, ...]
    scores: Future[tuple[float, ...]]


class BgeReranker:
    """Score with any cross-encoder that has one output, such as BAAI/bge-reranker-v2-m3.

    All passes run on one daemon thread, which starts with the first of them and loads the model.
    ``score`` waits ``timeout_ms`` for it and no longer; an answer that comes later is dropped, and
    until it has come every further call is refused at once, so that a hanging model costs one
    deadline and not one for every search. The files must be on this machine unless
    ``allow_download``.

    Raises RetoldSetupError for missing packages or files, ConfigError for a model that has several
    outputs.
    """

    def __init__(
        self,
        model: str,
        *,
        timeout_ms: int = 2000,
        batch_size: int = 32,
        placement: Placement | None = None,
        allow_download: bool = False,
    ) -> None:
        """Find the files; nothing is loaded and no thread is started yet."""
        files = require_model(model, allow_download=allow_download)
        labels = require_labels(files, "reranker.model", _WANTED)
        if len(labels) != 1:
            raise ConfigError(
                f"reranker.model: {model!r} has {len(labels)} outputs; choose {_WANTED}"
            )
        self.files = files
        self.name = files.label
        self._timeout_seconds = timeout_ms / 1000
        self._batch_size = batch_size
        self._model = CrossEncoderModel(files, placement or Placement(), RerankError)
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[_Pass | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._overdue: Future[tuple[float, ...]] | None = None
        self._closed = False

    @property
    def is_loaded(self) -> bool:
        """Return whether the next call runs without loading anything."""
        return self._model.is_loaded

    def warm(self) -> None:
        """Load the model and run it once, however long it takes.

        Call it when a service starts: the first search would spend its deadline on the load.
        """
        self._enqueue("warm", ("warm",)).result()

    def score(self, query: str, docs: Sequence[str]) -> tuple[float, ...]:
        """Return one score in [0, 1] per document, in order; higher is better.

        Raises TimeoutError when the deadline passes or an earlier pass is overdue, RerankError
        when the model fails or the reranker is closed.
        """
        if not docs:
            return ()
        scores = self._enqueue(query, tuple(docs))
        try:
            return scores.result(self._timeout_seconds)
        except CancelledError:
            raise _closed() from None
        except TimeoutError:
            if not scores.cancel():
                self._overdue = scores
            raise TimeoutError("the reranker did not answer in time") from None

    def close(self) -> None:
        """End the thread: what waits is cancelled, what runs gets one deadline more. Idempotent."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            self._waiting.put(None)
            thread.join(self._timeout_seconds)

    def _enqueue(self, query: str, docs: tuple[str, ...]) -> Future[tuple[float, ...]]:
        overdue = self._overdue
        if overdue is not None and not overdue.done():
            raise TimeoutError("the reranker is still busy with a pass that was given up")
        one = _Pass(query, docs, Future())
        with self._lock:
            if self._closed:
                raise _closed()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="retold-reranker", daemon=True
                )
                self._thread.start()
            self._waiting.put(one)
        return one.scores

    def _work(self) -> None:
        while (one := self._waiting.get()) is not None:
            if self._closed:
                one.scores.cancel()
            if not one.scores.set_running_or_notify_cancel():
                continue
            try:
                one.scores.set_result(self._scores(one.query, one.docs))
            except BaseException as error:  # handed to whoever waits
                one.scores.set_exception(error)

    def _scores(self, query: str, docs: tuple[str, ...]) -> tuple[float, ...]:
        pairs = [(query, doc) for doc in docs]
        logits = self._model.logits(pairs, batch_size=self._batch_size)
        if logits.shape[1] != 1:
            raise RerankError(f"the model {self.name!r} does not answer with one number per text")
        # The model's own settings may name another activation; floors are set on this scale.
        scores = 1.0 / (1.0 + np.exp(-np.clip(logits[:, 0], -500, 500)))
        return tuple(float(score) for score in scores)


def reranker_from_config(config: RetoldConfig) -> BgeReranker:
    """Return the configured reranker, enabled or not; nothing is loaded yet."""
    return BgeReranker(
        config.reranker.model,
        timeout_ms=config.reranker.timeout_ms,
        batch_size=config.reranker.batch_size,
        placement=Placement(config.embedding.device, config.embedding.threads),
        allow_download=config.embedding.allow_download,
    )


def _closed() -> RerankError:
    return RerankError("the reranker is closed")
