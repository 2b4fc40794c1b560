"""How far the age of an event lowers an episodic score."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from retold.config.retrieval import FreshnessConfig
from retold.models import Candidate
from retold.retrieve.evolve import evolve


def freshness_multiplier(event_at: datetime, now: datetime, cfg: FreshnessConfig) -> float:
    """Return the decay in [floor, 1] for an event this old, in whole days; 1 for the future."""
    age_days = max(0, (now - event_at).days)
    return max(cfg.floor, float(0.5 ** (age_days / cfg.episodic_half_life_days)))


def apply_freshness(
    candidates: Iterable[Candidate], now: datetime, cfg: FreshnessConfig, *, windowed: bool
) -> tuple[Candidate, ...]:
    """Return the candidates best first; equal scores keep the fused order.

    Their ``score`` is the fused one with its boosts; only what decays is changed.
    Only episodic records decay: a stale fact is superseded instead. A caller who gave a time
    window (``windowed``) has said which age is wanted, so nothing decays.
    """
    scored = [
        _decayed(candidate, freshness_multiplier(candidate.event_at, now, cfg))
        if candidate.type == "episodic" and not windowed
        else candidate
        for candidate in candidates
    ]
    return ranked(scored)


def ranked(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates by their score, best first; equal scores keep the fused order."""
    return tuple(sorted(candidates, key=lambda one: (-one.score, one.fused_rank)))


def _decayed(candidate: Candidate, multiplier: float) -> Candidate:
    return evolve(candidate, freshness_multiplier=multiplier, score=candidate.score * multiplier)
