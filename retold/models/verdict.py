"""What a judge answers about two claims, or about a quote and a claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Label = Literal["same", "contradicts", "distinct", "unknown"]
"""``unknown`` means the judge declines to say; every caller treats it as ``distinct``."""

_NO_SCORES: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgement and how it came about.

    ``rule`` names the rule that fired: ``model`` for a model's answer (fakes included), ``equal``
    for whitespace-identical text, otherwise the rule's own name such as ``slot:home``.
    ``scores`` holds what the judge measured, each in [0, 1]; a support verdict carries ``entails``.
    """

    label: Label
    rule: str
    scores: Mapping[str, float] = field(default_factory=lambda: _NO_SCORES, hash=False)

    @property
    def entails(self) -> float:
        """Return the entailment score in [0, 1]; 0.0 when the judge measured none."""
        return self.scores.get("entails", 0.0)
