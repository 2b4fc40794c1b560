"""The judge that asks a natural language inference model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from retold.errors import ConfigError, JudgeError
from retold.index.cross_encoder import CrossEncoderModel
from retold.index.device import Placement
from retold.index.hub import require_model
from retold.index.model_files import ModelFiles, require_labels
from retold.ingest.first_person import speaks_in_first_person, with_the_user
from retold.models import Verdict
from retold.protocols import EquivalenceJudge
from retold.text import normalize_ws

__all__ = ["EquivalenceJudge", "NLICrossEncoderJudge", "NLILabels", "labelled", "nli_labels"]

MODEL_RULE: Final = "model"
_SETTING: Final = "ingestion.equivalence.model"
_WANTED: Final = "a model with the labels entailment, neutral and contradiction"

Probabilities = npt.NDArray[np.float64]


class NLILabels(NamedTuple):
    """The columns of a model's three answers."""

    entailment: int
    neutral: int
    contradiction: int


class NLICrossEncoderJudge:
    """Compare texts with any cross-encoder for natural language inference.

    Two claims are ``same`` when each entails the other, ``contradicts`` when one contradicts the
    other in either direction, else ``distinct``; the floors decide. Texts that the model cannot
    read are ``unknown`` and not scored: its tokenizer knows less than half of their characters, as
    with an English model and Chinese text. A pair that is longer than the model's window is
    ``unknown`` too, and a quote and a claim that do not fit support nothing, since what was not
    read cannot support or equal anything. The files must be on this machine unless
    ``allow_download``.

    Raises RetoldSetupError for missing packages or files, ConfigError for a model that has other
    labels.
    """

    def __init__(
        self,
        model: str,
        *,
        entail_floor: float = 0.7,
        contradict_floor: float = 0.7,
        placement: Placement | None = None,
        allow_download: bool = False,
    ) -> None:
        """Find the files and the labels; nothing is loaded yet."""
        self.files = require_model(model, allow_download=allow_download)
        self._labels = nli_labels(self.files)
        self.name = self.files.label
        self._entail_floor = entail_floor
        self._contradict_floor = contradict_floor
        self._model = CrossEncoderModel(self.files, placement or Placement(), JudgeError)

    @property
    def is_loaded(self) -> bool:
        """Return whether the next call runs without loading anything."""
        return self._model.is_loaded

    def warm(self) -> None:
        """Load the model and run it once, so that the first real call is as fast as the next."""
        self._probabilities([("warm", "warm")])

    def judge(self, a: str, b: str) -> Verdict:
        """Label two claims; the answer does not depend on their order.

        Scores are ``forward`` and ``backward``, the entailment of ``b`` by ``a`` and of ``a`` by
        ``b``, and ``contradicts``, the higher contradiction of the two directions.
        """
        if normalize_ws(a) == normalize_ws(b):
            return Verdict("same", "equal")
        reading = self._model.reading(a, b)
        if not reading.readable:
            return Verdict("unknown", "unreadable")
        if not reading.fits:
            return Verdict("unknown", "too-long")
        forward, backward = self._probabilities([(a, b), (b, a)])
        return self._verdict(forward, backward)

    def support(self, quote: str, claim: str, *, names: Sequence[str] = ()) -> Verdict | None:
        """Score how far the quote entails the claim, in ``Verdict.entails``.

        The claim of a quote in the first person is also scored with ``names``, the principal's,
        replaced by "the user", and the higher score counts. None when the model cannot read one of
        the texts.
        """
        if normalize_ws(quote) == normalize_ws(claim):
            return Verdict("same", "equal", {"entails": 1.0})
        claims = [claim]
        if speaks_in_first_person(quote):
            claims.append(with_the_user(claim, names))
        claims = list(dict.fromkeys(claims))
        readings = [self._model.reading(quote, one) for one in claims]
        if not all(reading.readable for reading in readings):
            return None
        if not all(reading.fits for reading in readings):
            return Verdict("unknown", "too-long", {"entails": 0.0})
        best = max(
            self._probabilities([(quote, one) for one in claims]),
            key=lambda answer: float(answer[self._labels.entailment]),
        )
        scores = {
            "entails": float(best[self._labels.entailment]),
            "contradicts": float(best[self._labels.contradiction]),
        }
        return Verdict("unknown", MODEL_RULE, scores)

    def _verdict(self, forward: Probabilities, backward: Probabilities) -> Verdict:
        entailment, _, contradiction = self._labels
        scores = {
            "forward": float(forward[entailment]),
            "backward": float(backward[entailment]),
            "contradicts": float(max(forward[contradiction], backward[contradiction])),
        }
        if min(scores["forward"], scores["backward"]) >= self._entail_floor:
            return Verdict("same", MODEL_RULE, scores)
        if scores["contradicts"] >= self._contradict_floor:
            return Verdict("contradicts", MODEL_RULE, scores)
        return Verdict("distinct", MODEL_RULE, scores)

    def _probabilities(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        logits = self._model.logits(pairs)
        if logits.shape[1] != len(self._labels):
            raise JudgeError(f"the model {self.files.name!r} does not answer with three numbers")
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: Probabilities = powers / powers.sum(axis=1, keepdims=True)
        return probabilities


def nli_labels(files: ModelFiles) -> NLILabels:
    """Return the columns of a model's answers, from the labels that its own files state.

    Order and case do not matter. Raises ConfigError for labels of another kind.
    """
    return labelled(require_labels(files, _SETTING, _WANTED), files.name)


def labelled(labels: Mapping[int, str], name: str) -> NLILabels:
    """Return the columns of three labels by how they begin; raises as ``nli_labels``."""
    columns = {
        start: [number for number, label in labels.items() if label.lower().startswith(start)]
        for start in ("entail", "neutral", "contra")
    }
    found = [numbers[0] for numbers in columns.values() if len(numbers) == 1]
    if len(found) != len(columns) or sorted(labels) != [0, 1, 2]:
        stated = ", ".join(labels[number] for number in sorted(labels))
        raise ConfigError(f"{_SETTING}: {name!r} has the labels {stated}; choose {_WANTED}")
    return NLILabels(*found)
