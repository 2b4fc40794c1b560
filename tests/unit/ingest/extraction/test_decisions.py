from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from retold.config import profile_config
from retold.errors import InvalidCompletion
from retold.ingest.evidence import EvidenceRules
from retold.ingest.extraction.candidates import (
    ValidCandidate,
    ground_of_claims,
    validate_candidates,
)
from retold.ingest.extraction.checks import CandidateRules
from retold.ingest.extraction.decisions import (
    DOWNGRADED,
    REVISED,
    apply_decision,
    read_review,
)
from retold.models import CandidateRevision, ReviewDecision
from retold.testing import make_extraction_context, make_proposal, make_turns

CFG = profile_config("offline")
RULES = CandidateRules(EvidenceRules(CFG.ingestion.evidence, CFG.policy), 20, timedelta(minutes=5))
CONTEXT = make_extraction_context()
TURNS = make_turns(
    "My lease in Lisbon runs from 1 March to 30 June 2026, review it on 1 June 2026.",
    ("assistant", "I guess that you like Lisbon a lot."),
)
MARCH, JUNE = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 6, 30, tzinfo=UTC)
REVIEW = datetime(2026, 6, 1, tzinfo=UTC)


def valid(**fields):
    candidate = make_proposal(
        "The user has a lease in Lisbon", TURNS[0].content, attribute="lease",
        **{"valid_from": MARCH, "valid_until": JUNE, "review_at": REVIEW, "confidence": 0.8}
        | fields,
    )  # fmt: skip
    (kept,) = validate_candidates([(3, candidate)], TURNS, CONTEXT, RULES).kept
    return kept


def decided(decision, *, turns=TURNS, candidate=None):
    return apply_decision(candidate or valid(), decision, ground_of_claims(turns, CONTEXT, RULES))


def revise(**fields):
    return ReviewDecision("revise", "narrower", CandidateRevision(**fields))


# --- reading --------------------------------------------------------------------------


def decision(candidate=1, outcome="accept", reason="fine", **more):
    return {"candidate": candidate, "outcome": outcome, "reason": reason, **more}


def read(*decisions, numbers=(1, 2)):
    return read_review({"decisions": list(decisions)}, numbers)


@pytest.mark.parametrize(
    ("answers", "holds"),
    [
        (["accept", "reject"], "reject"),
        (["reject", "accept"], "reject"),
        (["downgrade", "accept"], "downgrade"),
        (["accept", "accept"], "accept"),
    ],
)
def test_of_two_decisions_on_one_candidate_the_stricter_holds(answers, holds):
    assert read(*(decision(1, each) for each in answers))[1].outcome == holds


def test_decisions_on_candidates_that_were_not_asked_about_are_left_out():
    assert set(read(decision(1), decision(7), decision(-1))) == {1}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"decisions": {}},
        {"decisions": [decision()], "note": "extra"},
        {"decisions": [decision(note="extra")]},
        {"decisions": [decision(outcome="approve")]},
        {"decisions": [decision(candidate="one")]},
        {"decisions": [{"candidate": 1, "outcome": "accept"}]},
        {"decisions": [decision(outcome="revise", revision={"type": "episodic"})]},
        {"decisions": [decision(outcome="revise", revision={"quote": "another"})]},
        {"decisions": [decision(outcome="revise", revision={"source_kind": "user_statement"})]},
        {"decisions": [decision(outcome="revise", revision={"event_at": "2026-01-01"})]},
        {"decisions": [decision(outcome="revise", revision={"valid_from": "soon"})]},
        {"decisions": [decision(), decision(2, "perhaps")]},
    ],
)
def test_an_answer_that_is_not_as_it_must_be_fails_as_a_whole(value):
    with pytest.raises(InvalidCompletion):
        read_review(value, (1, 2))


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (decision(outcome="revise"), "accept"),
        (decision(outcome="revise", revision={"content": None}), "accept"),
        (decision(outcome="accept", revision={"content": "Less"}), "revise"),
        (decision(outcome="reject", revision={"content": "Less"}), "reject"),
        (decision(outcome="downgrade", revision={"content": "Less"}), "downgrade"),
    ],
)
def test_a_revision_and_its_outcome_agree(answer, outcome):
    result = read(answer)[1]

    assert result.outcome == outcome
    assert (result.revision is not None) == (outcome == "revise")


# --- applying -------------------------------------------------------------------------


def test_an_accepted_candidate_is_as_it_was():
    assert decided(ReviewDecision("accept", "fine")) == valid()


def test_a_rejected_candidate_keeps_the_reviewers_reason_out_of_its_repr():
    rejected = decided(ReviewDecision("reject", "not stated"))

    assert (rejected.position, rejected.reason) == (3, "review_rejected")
    assert rejected.review_reason == "not stated"
    assert "not stated" not in repr(rejected)


def test_a_downgraded_candidate_is_an_inference_with_a_note():
    lowered = decided(ReviewDecision("downgrade", "only suggested"))

    assert lowered.candidate.source_kind == "agent_inference"
    assert lowered.notes == (DOWNGRADED,)


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "The user has a lease"},
        {"content": "Has a lease in Lisbon"},
        {"attribute": "lease_period"},
        {"valid_from": MARCH + timedelta(hours=5)},
        {"valid_until": JUNE - timedelta(hours=5)},
        {"review_at": REVIEW - timedelta(hours=5)},
        {"confidence": 0.5},
    ],
)
def test_a_revision_that_narrows_is_applied(fields):
    revised = decided(revise(**fields))

    assert isinstance(revised, ValidCandidate)
    assert {name: getattr(revised.candidate, name) for name in fields} == fields
    assert revised.notes == (REVISED,)


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"content": " "}, "content"),
        ({"content": "The user has a lease in Porto"}, "content"),
        ({"content": "The user has 2 leases"}, "content"),
        ({"content": "Porto is where the user has a lease"}, "content"),
        ({"attribute": "?"}, "attribute"),
        ({"confidence": 0.81}, "confidence"),
        ({"confidence": -0.1}, "confidence"),
        ({"valid_from": MARCH - timedelta(seconds=1)}, "valid_from"),
        ({"valid_until": JUNE + timedelta(seconds=1)}, "valid_until"),
        ({"review_at": REVIEW + timedelta(seconds=1)}, "review_at"),
        ({"valid_from": datetime(2026, 3, 2)}, "valid_from"),
        ({"valid_from": MARCH + timedelta(days=60)}, "unsupported_temporal_metadata"),
        ({"valid_until": MARCH}, "invalid_temporal_range"),
    ],
)
def test_a_revision_that_does_more_than_narrow_is_refused(fields, detail):
    rejected = decided(revise(**fields))

    assert (rejected.reason, rejected.detail) == ("invalid_review_revision", detail)


def test_a_confidence_that_nobody_gave_is_not_raised_above_the_usual():
    candidate = valid(confidence=None)

    assert decided(revise(confidence=0.96), candidate=candidate).detail == "confidence"
    assert decided(revise(confidence=0.95), candidate=candidate).candidate.confidence == 0.95


def test_another_attribute_is_no_update_of_the_record_that_was_named():
    candidate = replace(valid(), candidate=replace(valid().candidate, updates="r1"))

    assert decided(revise(attribute="rent"), candidate=candidate).candidate.updates is None


@pytest.mark.parametrize(
    "answer", [ReviewDecision("accept", "fine"), revise(content="The user has a lease")]
)
def test_a_turn_that_was_blanked_during_the_review_backs_nothing(answer):
    rejected = decided(answer, turns=TURNS[1:])

    assert rejected.reason == "evidence_not_found"


def test_no_decision_gives_an_assistants_words_the_users_authority():
    guess = make_proposal("The user likes Lisbon", "you like Lisbon a lot")
    (kept,) = validate_candidates([(0, guess)], TURNS, CONTEXT, RULES).kept
    stronger = replace(kept, candidate=replace(kept.candidate, source_kind="user_statement"))

    accepted = decided(ReviewDecision("accept", "fine"), candidate=stronger)

    assert accepted.candidate.source_kind == "agent_inference"
