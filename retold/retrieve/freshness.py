"""How far the age of an event lowers an episodic score."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from retold.config.retrieval import FreshnessConfig
from retold.store.candidates import CandidateRow
from retold.store.codec import from_us


def freshness_multiplier(event_at: datetime, now: datetime, cfg: FreshnessConfig) -> float:
    """Return the decay in [floor, 1] for an event this old, in whole days; 1 for the future."""
    age_days = max(0, (now - event_at).days)
    return max(cfg.floor, float(0.5 ** (age_days / cfg.episodic_half_life_days)))


def decay_of(
    rows: Iterable[CandidateRow], now: datetime, cfg: FreshnessConfig, *, windowed: bool
) -> dict[int, float]:
    """Return what the scores of some rows are multiplied by; the others keep theirs.

    Only episodic records decay: a stale fact is superseded instead. A caller who gave a time
    window (``windowed``) has said which age is wanted, so nothing decays.
    """
    if windowed:
        return {}
    return {
        row.seq: freshness_multiplier(from_us(row.event_us), now, cfg)
        for row in rows
        if row.type == "episodic"
    }
