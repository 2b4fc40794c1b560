"""The judge that a configuration asks for."""

from __future__ import annotations

from retold.config import RetoldConfig
from retold.protocols import EquivalenceJudge


def judge_from_config(config: RetoldConfig) -> EquivalenceJudge:
    """Return the configured judge, not loaded yet.

    Raises RetoldSetupError when a model, or what loads it, is not on this machine, ConfigError for
    a model of another kind.
    """
    if config.ingestion.equivalence.is_lexical:
        from retold.ingest.lexical_judge import LexicalJudge

        return LexicalJudge()
    from retold.index.device import Placement
    from retold.ingest.equivalence import NLICrossEncoderJudge

    return NLICrossEncoderJudge(
        config.ingestion.equivalence.model,
        entail_floor=config.ingestion.equivalence.entail_floor,
        contradict_floor=config.ingestion.equivalence.contradict_floor,
        placement=Placement(config.embedding.device, config.embedding.threads),
        allow_download=config.embedding.allow_download,
    )
