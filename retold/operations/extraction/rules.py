"""The settings of a run as the parts take them."""

from __future__ import annotations

from datetime import timedelta

from retold.config import RetoldConfig
from retold.ingest.evidence import EvidenceRules
from retold.ingest.extraction.checks import CandidateRules
from retold.operations.extraction.ground import MayLeave


def candidate_rules(config: RetoldConfig) -> CandidateRules:
    """Return the rules that candidates are held against."""
    ingestion = config.ingestion
    return CandidateRules(
        EvidenceRules(ingestion.evidence, config.policy),
        ingestion.extraction_max_candidates,
        timedelta(minutes=ingestion.max_event_ahead_minutes),
    )


def may_leave(config: RetoldConfig) -> MayLeave:
    """Return what says of a scope whether its text may go to a hosted model."""
    return lambda scope: config.hosted.allows(str(scope))
