"""The rule judge, which labels claims and scores quotes without a model."""

from __future__ import annotations

from retold.ingest.lexical_judge.judge import LexicalJudge
from retold.ingest.lexical_judge.objects import (
    RuleKind,
    kind_of,
    object_stems,
    same_object,
    shares_object_stem,
)

__all__ = [
    "LexicalJudge",
    "RuleKind",
    "kind_of",
    "object_stems",
    "same_object",
    "shares_object_stem",
]
