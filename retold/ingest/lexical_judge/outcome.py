"""The shape of a rule and the overlaps at which rules turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from retold.ingest.lexical_judge.pair import Pair
from retold.models.verdict import Label

CLOSE: Final = 0.75
"""Overlap from which two claims speak of one thing (need_and_judge.md B.2)."""
HALF: Final = 0.5
LOW: Final = 0.2
PART: Final = 0.34
IN_ORDER: Final = 0.9
"""Share of words in the same order from which two texts are equal."""
MAX_WORDS: Final = 18
"""Longer claims mix several facts, so that "contradicts" is off (B.6.8)."""


class Outcome(NamedTuple):
    """What a rule concluded and under which name."""

    label: Label
    rule: str


Rule = Callable[[Pair], Outcome | None]
