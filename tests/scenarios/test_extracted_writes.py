"""The evidence rules of 17.2 through the whole run of an extraction, beside `test_evidence`."""

from __future__ import annotations

import pytest

from retold.models import ExtractionContext, ReviewDecision, SessionSummary
from retold.testing import TableExtractor, make_proposal
from tests.extraction_support import BEES as QUOTE
from tests.extraction_support import HOBBY as BEES
from tests.extraction_support import extraction

ASKED = "What do you do?"


@pytest.fixture
def run():
    with extraction({}) as opened:
        yield opened


def record_of(run, proposal, *said, **more):
    """Propose a claim for a session and return the record that came of it."""
    run.extractor.always = (proposal,)
    run.run(*said, **more)
    (view,) = run.facts()
    with run.lab.store.read() as tx:
        return tx.records.require(view.id)


def reasons_for(run, proposal, *said, **more):
    """Propose a claim for a session of which nothing is stored; return why."""
    run.extractor.always = (proposal,)
    session_id = run.run(*said, **more)
    assert run.facts() == []
    return run.rejections(session_id)


def test_a_quote_of_the_user_makes_a_confirmed_statement_that_names_its_turn(run):
    record = record_of(run, BEES, ("assistant", ASKED), QUOTE)

    assert (record.source_kind, record.status) == ("user_statement", "confirmed")
    assert record.source_ref.endswith("#2")
    assert record.evidence == QUOTE
    assert str(record.scope) == "agent:helper/ana"


def test_a_quote_that_is_in_no_turn_is_refused_and_stores_nothing(run):
    assert reasons_for(run, BEES, ASKED, "I like my garden.") == ["evidence_not_found"]


def test_a_quote_of_another_segment_of_the_conversation_is_not_found(run):
    """A run answers for the words of its own segment."""
    run.ended(QUOTE, "Yes.", name="one chat", request=False)

    assert reasons_for(run, BEES, ASKED, "As I said.", name="one chat") == ["evidence_not_found"]


def test_a_proposal_without_a_quote_is_refused(run):
    unquoted = make_proposal(BEES.content, "", attribute="hobby")

    assert reasons_for(run, unquoted, ASKED, QUOTE) == ["invalid_content"]


def test_a_quote_of_the_assistant_makes_an_inference_that_expires(run):
    """B03: what the assistant proposed is not the user's own fact."""
    camera = make_proposal("The user wants the Canon R50", "buy the Canon R50", attribute="camera")
    record = record_of(
        run, camera, "What suits a beginner?", ("assistant", "You should buy the Canon R50.")
    )

    assert (record.source_kind, record.status) == ("agent_inference", "provisional")
    assert record.expires_at is not None


def test_a_tools_answer_carries_a_tool_result_and_no_user_statement(run):
    record = record_of(run, BEES, ASKED, ("tool", QUOTE))

    assert record.source_kind == "tool_result"


def test_a_proposal_may_claim_less_than_its_turn_would_carry(run):
    modest = make_proposal(BEES.content, QUOTE, attribute="hobby", source_kind="agent_inference")
    record = record_of(run, modest, ASKED, QUOTE)

    assert (record.source_kind, record.status) == ("agent_inference", "provisional")


def test_a_quote_that_does_not_support_the_claim_makes_an_inference_with_its_score(run):
    """The support is scored when the claim is stored, whatever the reviewer thought of it."""
    wasps = make_proposal("The user keeps wasps in Oslo", QUOTE, attribute="hobby")
    record = record_of(run, wasps, ASKED, QUOTE)

    assert (record.source_kind, record.status) == ("agent_inference", "provisional")
    with run.lab.store.read() as tx:
        (created,) = [
            one for one in tx.events.list_for_record(record.id) if one.kind == "record.created"
        ]
    assert created.payload["entailment"] == 0.0


def test_a_rejected_candidate_never_reaches_the_ingestor(run):
    run.reviewer.default = ReviewDecision("reject", "not worth keeping")

    assert reasons_for(run, BEES, ASKED, QUOTE) == ["review_rejected"]


def test_a_downgraded_candidate_is_stored_as_an_inference(run):
    run.reviewer.default = ReviewDecision("downgrade", "only suggested")
    record = record_of(run, BEES, ASKED, QUOTE)

    assert (record.source_kind, record.status) == ("agent_inference", "provisional")


def test_the_double_of_an_extractor_hands_back_what_was_prepared(run):
    session_id = run.ended(QUOTE)
    summary = SessionSummary("They spoke of bees.")
    double = TableExtractor({"beekeeper": [BEES]}, summary=summary)
    with run.lab.store.read() as tx:
        turns = tuple(tx.sessions.turns_of(session_id))
    principal = run.lab.session().principal
    scope = principal.private_scope

    output = double.extract(turns, ExtractionContext(principal, scope, frozenset({scope})))

    assert (output.candidates, output.summary) == ((BEES,), summary)
    assert [call[0] for call in double.calls] == [turns]
