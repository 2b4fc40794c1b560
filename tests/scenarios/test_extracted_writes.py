"""From a transcript in a store to records, by the rules alone: no worker, no hosted model."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retold.ingest.evidence import EvidenceRules
from retold.ingest.extraction.candidates import revalidated, validate_candidates
from retold.ingest.extraction.checks import CandidateRules, request_of
from retold.ingest.extraction.decisions import apply_decision
from retold.models import (
    ExtractionContext,
    RejectedCandidate,
    ReviewContext,
    ReviewDecision,
    ReviewItem,
    SessionSummary,
)
from retold.testing import FakeCandidateReviewer, TableExtractor, make_proposal

QUOTE = "I have been a beekeeper for twenty years now."
BEES = make_proposal("Ana keeps bees", QUOTE, attribute="hobby")


def extracted(world, session, candidates, *, reviewer=None):
    """Extract, review and write one session; return results and rejections by content."""
    cfg = world.config
    principal = session.principal
    scope = principal.private_scope
    context = ExtractionContext(principal, scope, frozenset({scope}), names=("ana", "Ana"))
    rules = CandidateRules(
        EvidenceRules(cfg.ingestion.evidence, cfg.policy),
        cfg.ingestion.extraction_max_candidates,
        timedelta(minutes=cfg.ingestion.max_event_ahead_minutes),
    )
    with world.retold.store.read() as tx:
        found = tx.sessions.latest(principal.agent_id, principal.user_id, principal.session_id)
        turns = tuple(tx.sessions.turns(found.conversation_id))
    output = TableExtractor(always=candidates).extract(turns, context)
    proposed = zip(output.positions, output.candidates, strict=True)
    valid = validate_candidates(proposed, turns, context, rules)
    items = [ReviewItem(one.candidate, one.turn) for one in valid.kept]
    review = (reviewer or FakeCandidateReviewer()).review(items, ReviewContext(turns, scope))
    answers = {each.candidate.content: each for each in valid.rejected}
    for one, decision in zip(valid.kept, review.decisions, strict=True):
        decided = apply_decision(one, decision, turns, context, rules)
        if not isinstance(decided, RejectedCandidate):
            decided = revalidated(decided, turns, context, rules)
            decided = world.retold.runtime.ingestor.write(
                principal, request_of(decided.candidate, context)
            )
        answers[one.candidate.content] = decided
    return answers


@pytest.fixture
def session(world):
    return world.session()


def test_a_quote_of_the_user_makes_a_confirmed_statement_that_names_its_turn(world, session):
    session.turn("assistant", "What do you do?")
    session.turn("user", QUOTE)

    result = extracted(world, session, [BEES])[BEES.content]

    record = world.record(result)
    assert (record.source_kind, record.status) == ("user_statement", "confirmed")
    assert record.source_ref.endswith("#2")
    assert record.evidence == QUOTE
    assert record.scope == session.principal.private_scope


def test_a_quote_that_is_in_no_turn_is_refused_and_stores_nothing(world, session):
    session.turn("user", "I like my garden.")
    before = world.lab.row_counts()

    rejected = extracted(world, session, [BEES])[BEES.content]

    assert rejected.reason == "evidence_not_found"
    assert world.lab.row_counts() == before


def test_a_proposal_without_a_quote_is_refused(world, session):
    session.turn("user", QUOTE)
    unquoted = make_proposal("Ana keeps bees", "", attribute="hobby")

    assert extracted(world, session, [unquoted])[BEES.content].reason == "invalid_content"


def test_a_quote_of_the_assistant_makes_an_inference_that_expires(world, session):
    """B03: what the assistant proposed is not the user's own fact."""
    session.turn("user", "What suits a beginner?")
    session.turn("assistant", "You should buy the Canon R50.")
    camera = make_proposal("The user wants the Canon R50", "buy the Canon R50", attribute="camera")

    record = world.record(extracted(world, session, [camera])[camera.content])

    assert (record.source_kind, record.status) == ("agent_inference", "provisional")
    assert record.expires_at is not None


def test_a_tools_answer_carries_a_tool_result_and_no_user_statement(world, session):
    session.turn("tool", QUOTE, tool_name="lookup")

    record = world.record(extracted(world, session, [BEES])[BEES.content])

    assert record.source_kind == "tool_result"


def test_a_proposal_may_claim_less_than_its_turn_would_carry(world, session):
    session.turn("user", QUOTE)
    modest = make_proposal(BEES.content, QUOTE, attribute="hobby", source_kind="agent_inference")

    record = world.record(extracted(world, session, [modest])[BEES.content])

    assert (record.source_kind, record.status) == ("agent_inference", "provisional")


def test_the_same_session_extracted_again_adds_nothing(world, session):
    """B20: the second run finds what the first one stored."""
    session.turn("user", QUOTE)
    first = extracted(world, session, [BEES])[BEES.content]

    second = extracted(world, session, [BEES])[BEES.content]

    assert (second.kind, second.record_id) == ("already_reinforced", first.record_id)


def test_a_recalled_block_that_comes_back_confirms_nothing(world, session):
    """B02: an answer of the memory is no evidence, however often it is extracted from."""
    session.turn("user", QUOTE)
    first = extracted(world, session, [BEES])[BEES.content]
    later = world.session()
    for _ in range(5):
        block = later.search("What does Ana keep?").text
        assert BEES.content in block
        later.turn("assistant", block)
        later.turn("tool", QUOTE, tool_name="memory_search")
    recalled = make_proposal(BEES.content, BEES.content, attribute="hobby")

    answers = extracted(world, later, [recalled])

    assert answers[BEES.content].reason == "evidence_not_found"
    assert world.record(first).reinforcements == 0


def test_a_rejected_candidate_never_reaches_the_ingestor(world, session):
    session.turn("user", QUOTE)
    before = world.lab.row_counts()
    strict = FakeCandidateReviewer(default=ReviewDecision("reject", "not worth keeping"))

    rejected = extracted(world, session, [BEES], reviewer=strict)[BEES.content]

    assert rejected.reason == "review_rejected"
    assert world.lab.row_counts() == before


def test_a_downgraded_candidate_is_stored_as_an_inference(world, session):
    session.turn("user", QUOTE)
    unsure = FakeCandidateReviewer(default=ReviewDecision("downgrade", "only suggested"))

    record = world.record(extracted(world, session, [BEES], reviewer=unsure)[BEES.content])

    assert (record.source_kind, record.status) == ("agent_inference", "provisional")


def test_the_double_of_an_extractor_hands_back_what_was_prepared(world, session):
    session.turn("user", QUOTE)
    summary = SessionSummary("They spoke of bees.")
    double = TableExtractor({"beekeeper": [BEES]}, summary=summary)
    with world.retold.store.read() as tx:
        turns = tuple(tx.sessions.turns(tx.sessions.latest("helper", "ana", "s1").conversation_id))
    principal = session.principal
    scope = principal.private_scope

    output = double.extract(turns, ExtractionContext(principal, scope, frozenset({scope})))

    assert (output.candidates, output.summary) == ((BEES,), summary)
    assert [call[0] for call in double.calls] == [turns]
