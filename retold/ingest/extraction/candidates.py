"""Which proposals may go on, and why the others may not; pure.

Nothing a model proposed is believed: its quote must stand in a turn, that turn decides the source
kind, and every moment and date must have been said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from retold.errors import ScopeNotWritable
from retold.ingest.evidence import ForgottenSpan
from retold.ingest.extraction import checks
from retold.ingest.extraction.checks import CandidateRules, Ground
from retold.ingest.extraction.instructions import void_spans
from retold.ingest.extraction.transcript import eligible_turns
from retold.models import (
    CandidateRecord,
    EvidenceCheck,
    ExtractionContext,
    RejectedCandidate,
    Turn,
)
from retold.policy.grants import belongs_to
from retold.text import fold_quote

EVENT_TIME_DROPPED: Final = "event_at was not said"
UPDATE_DROPPED: Final = "the record to update was not offered"


@dataclass(frozen=True, slots=True)
class ValidCandidate:
    """A proposal that may be reviewed and stored.

    ``candidate`` has the source kind that its quote carries, the turn the quote stands in and the
    attribute of the record it updates. ``notes`` say what was lowered or dropped.
    """

    position: int
    candidate: CandidateRecord
    check: EvidenceCheck = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def turn(self) -> Turn:
        """Return the turn that holds the quote."""
        assert self.check.turn is not None
        return self.check.turn


@dataclass(frozen=True, slots=True)
class Validated:
    """Proposals that go on and those that do not, both by position."""

    kept: tuple[ValidCandidate, ...]
    rejected: tuple[RejectedCandidate, ...]


def validate_candidates(
    proposed: Iterable[tuple[int, CandidateRecord]],
    turns: Sequence[Turn],
    context: ExtractionContext,
    rules: CandidateRules,
    *,
    forgotten: Collection[ForgottenSpan] = (),
) -> Validated:
    """Hold every proposal against the transcript; one that fails costs only itself.

    ``proposed`` holds (position, candidate); only the first ``rules.max_candidates`` positions are
    looked at. ``turns`` are the session's; those that may not be evidence are ignored. Raises
    ScopeNotWritable when the destination is not one of the principal's own.
    """
    ground = ground_of_claims(turns, context, rules, forgotten=forgotten)
    kept: list[ValidCandidate] = []
    rejected: list[RejectedCandidate] = []
    for place, (position, candidate) in enumerate(sorted(proposed, key=lambda each: each[0])):
        if place >= rules.max_candidates:
            rejected.append(RejectedCandidate(position, "over_candidate_limit", None, candidate))
            continue
        try:
            kept.append(_valid(position, candidate, ground))
        except checks.Rejection as no:
            rejected.append(RejectedCandidate(position, no.reason, no.detail, candidate))
    kept, doubles = _without_doubles(kept, rules)
    both = sorted((*rejected, *doubles), key=lambda each: each.position)
    return Validated(tuple(kept), tuple(both))


def ground_of_claims(
    turns: Sequence[Turn],
    context: ExtractionContext,
    rules: CandidateRules,
    *,
    forgotten: Collection[ForgottenSpan] = (),
) -> Ground:
    """Return what claims may rest on; once for all of a session, as every turn is read for it.

    Raises ScopeNotWritable as ``validate_candidates`` does.
    """
    require_destination(context)
    eligible = eligible_turns(turns)
    return Ground(eligible, context, rules, tuple(forgotten), tuple(void_spans(eligible)))


def require_destination(context: ExtractionContext) -> None:
    """Raise ScopeNotWritable unless candidates go to a writable scope that nobody else owns."""
    scope = context.scope
    if scope not in context.updatable_scopes or not belongs_to(context.principal, scope):
        raise ScopeNotWritable(f"extraction may not write to {scope.kind} scopes of that id")


def revalidated(valid: ValidCandidate, ground: Ground) -> ValidCandidate | RejectedCandidate:
    """Hold a reviewed candidate against the transcript again, as it stands now."""
    try:
        again = _valid(valid.position, valid.candidate, ground)
    except checks.Rejection as no:
        return RejectedCandidate(valid.position, no.reason, no.detail, valid.candidate)
    return replace(again, notes=tuple(dict.fromkeys((*valid.notes, *again.notes))))


def _valid(position: int, candidate: CandidateRecord, ground: Ground) -> ValidCandidate:
    context, rules = ground.context, ground.rules
    checks.require_aware(candidate)
    checks.require_content(candidate, context)
    checks.require_subject(candidate, context)
    check = checks.located(candidate, ground)
    assert check.turn is not None
    checks.require_length(check, candidate, rules)
    checks.require_supported_times(candidate, check.turn)
    event_at = checks.event_time(candidate, check.turn, rules)
    updated = checks.updated_record(candidate, context)
    notes = (
        check.note,
        EVENT_TIME_DROPPED if event_at != candidate.event_at else None,
        UPDATE_DROPPED if candidate.updates is not None and updated is None else None,
    )
    candidate = replace(
        candidate,
        source_kind=check.source_kind,
        evidence_turn=check.turn.turn,
        event_at=event_at,
        attribute=candidate.attribute if updated is None else updated.attribute,
        updates=None if updated is None else updated.record_id,
    )
    return ValidCandidate(position, candidate, check, tuple(filter(None, notes)))


def _without_doubles(
    kept: Sequence[ValidCandidate], rules: CandidateRules
) -> tuple[list[ValidCandidate], list[RejectedCandidate]]:
    """Keep one of several equal claims: the one whose source has most authority, then the first."""

    def order(one: ValidCandidate) -> tuple[int, int]:
        return -rules.evidence.rank(one.candidate.source_kind), one.position

    best: dict[tuple[str, str], ValidCandidate] = {}
    doubles: list[RejectedCandidate] = []
    for one in sorted(kept, key=order):
        key = (one.candidate.type, fold_quote(one.candidate.content).casefold())
        if key in best:
            detail = f"of {best[key].position}"
            doubles.append(
                RejectedCandidate(one.position, "duplicate_candidate", detail, one.candidate)
            )
        else:
            best[key] = one
    return sorted(best.values(), key=lambda one: one.position), doubles
