"""What a reviewer answered, and what becomes of each candidate; pure.

An answer that is not as it must be fails as a whole: half a review is none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from pydantic import ValidationError

from retold.errors import InvalidCompletion
from retold.ingest.extraction.candidates import ValidCandidate, revalidated
from retold.ingest.extraction.checks import Ground
from retold.ingest.extraction.replies import read_moment
from retold.ingest.extraction.schemas import DecisionReply, ReviewReply, RevisionReply
from retold.ingest.lexical_judge.lexicon import FUNCTION_WORDS
from retold.models import (
    REVIEW_OUTCOMES,
    CandidateRecord,
    CandidateRevision,
    RejectedCandidate,
    ReviewDecision,
)
from retold.policy.lifecycle import INITIAL_CONFIDENCE
from retold.text import normalize_attribute
from retold.text.inventions import invented_words

DOWNGRADED: Final = "downgraded in review"
REVISED: Final = "revised in review"
_FUNCTION_WORDS: Final = " ".join(sorted(FUNCTION_WORDS))
_NOTHING: Final = CandidateRevision()


def read_review(value: Mapping[str, object], numbers: Collection[int]) -> dict[int, ReviewDecision]:
    """Return the decisions on the candidates that were asked about, by number; some may lack.

    Of several decisions on one candidate the strictest holds, of equally strict ones the first.
    Decisions on others are left out. Raises InvalidCompletion for an answer with any other field
    or outcome than those of the schema.
    """
    try:
        reply = ReviewReply.model_validate(value)
    except (ValidationError, RecursionError):
        raise InvalidCompletion("the reviewer's answer is not as its schema says") from None
    decided: dict[int, ReviewDecision] = {}
    for one in reply.decisions:
        if one.candidate not in numbers:
            continue
        decision = _decision(one)
        before = decided.get(one.candidate)
        if before is None or _strictness(decision) > _strictness(before):
            decided[one.candidate] = decision
    return decided


def apply_decision(
    valid: ValidCandidate, decision: ReviewDecision, ground: Ground
) -> ValidCandidate | RejectedCandidate:
    """Return the candidate as it is to be stored, held against the transcript once more."""
    if decision.outcome == "reject":
        return _rejected(valid, "review_rejected", None, decision)
    if decision.outcome == "downgrade":
        lowered = replace(valid.candidate, source_kind="agent_inference")
        valid = replace(valid, candidate=lowered, notes=(*valid.notes, DOWNGRADED))
    revised = valid
    if decision.outcome == "revise" and decision.revision is not None:
        fault = forbidden_change(valid.candidate, decision.revision)
        if fault is not None:
            return _rejected(valid, "invalid_review_revision", fault, decision)
        candidate = _changed(valid.candidate, decision.revision)
        revised = replace(valid, candidate=candidate, notes=(*valid.notes, REVISED))
    again = revalidated(revised, ground)
    if isinstance(again, ValidCandidate):
        return again
    stands = revised is not valid and isinstance(revalidated(valid, ground), ValidCandidate)
    if stands:  # without its revision
        return _rejected(valid, "invalid_review_revision", again.reason, decision)
    return replace(again, review_reason=decision.reason)


def forbidden_change(candidate: CandidateRecord, revision: CandidateRevision) -> str | None:
    """Return the field by which a revision does more than narrow; None when it only narrows.

    It may not empty the content or bring names, numbers or dates into it that neither the content
    nor the quote has, raise the confidence, widen the validity or put the review off.
    """
    if revision.content is not None:
        sources = (candidate.content, candidate.evidence, _FUNCTION_WORDS)
        invented = invented_words(revision.content, sources, counts_first=True)
        if not revision.content.strip() or invented:
            return "content"
    if revision.attribute is not None and not normalize_attribute(revision.attribute):
        return "attribute"
    usual = INITIAL_CONFIDENCE[candidate.source_kind]
    limit = usual if candidate.confidence is None else min(candidate.confidence, usual)
    if revision.confidence is not None and not 0 <= revision.confidence <= limit:
        return "confidence"
    return _widened(candidate, revision)


def _widened(candidate: CandidateRecord, revision: CandidateRevision) -> str | None:
    for name, is_wider in (
        ("valid_from", datetime.__lt__),
        ("valid_until", datetime.__gt__),
        ("review_at", datetime.__gt__),
    ):
        new, old = getattr(revision, name), getattr(candidate, name)
        if new is None:
            continue
        if new.utcoffset() is None or (old is not None and is_wider(new, old)):
            return name
    return None


def _changed(candidate: CandidateRecord, revision: CandidateRevision) -> CandidateRecord:
    def either(new: datetime | None, old: datetime | None) -> datetime | None:
        return old if new is None else new

    return replace(
        candidate,
        content=revision.content or candidate.content,
        attribute=revision.attribute or candidate.attribute,
        valid_from=either(revision.valid_from, candidate.valid_from),
        valid_until=either(revision.valid_until, candidate.valid_until),
        review_at=either(revision.review_at, candidate.review_at),
        confidence=candidate.confidence if revision.confidence is None else revision.confidence,
        # Another attribute is another fact than the record it was to update.
        updates=candidate.updates if revision.attribute is None else None,
    )


def _decision(reply: DecisionReply) -> ReviewDecision:
    revision = _revision(reply.revision)
    if reply.outcome in ("reject", "downgrade") or revision == _NOTHING:
        outcome = "accept" if reply.outcome == "revise" else reply.outcome
        return ReviewDecision(outcome, reply.reason)
    return ReviewDecision("revise", reply.reason, revision)


def _revision(reply: RevisionReply | None) -> CandidateRevision:
    if reply is None:
        return _NOTHING
    try:
        return CandidateRevision(
            content=reply.content,
            attribute=reply.attribute,
            valid_from=_moment(reply.valid_from),
            valid_until=_moment(reply.valid_until, ends=True),
            review_at=_moment(reply.review_at),
            confidence=reply.confidence,
        )
    except ValueError:
        raise InvalidCompletion("a moment in the reviewer's answer is none") from None


def _moment(text: str | None, *, ends: bool = False) -> datetime | None:
    return None if text is None else read_moment(text, ends=ends)


def _strictness(decision: ReviewDecision) -> int:
    return REVIEW_OUTCOMES.index(decision.outcome)


def _rejected(
    valid: ValidCandidate, reason: str, detail: str | None, decision: ReviewDecision
) -> RejectedCandidate:
    return RejectedCandidate(
        valid.position,
        "review_rejected" if reason == "review_rejected" else "invalid_review_revision",
        detail,
        valid.candidate,
        review_reason=decision.reason,
    )
