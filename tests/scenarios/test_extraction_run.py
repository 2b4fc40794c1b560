"""From an ended session to what is remembered of it: both steps over a real store."""

import pytest

from tests.extraction_support import ALLERGY, BEES, LISBON, PEANUTS, extraction


@pytest.fixture
def run():
    with extraction() as opened:
        yield opened


def test_what_was_said_becomes_memories_with_their_turns_and_a_summary(run):
    session_id = run.run(PEANUTS, ("assistant", "I will remember that."), LISBON)

    allergy, home = run.facts()
    assert (allergy.content, allergy.status, allergy.evidence) == (
        ALLERGY.content, "confirmed", PEANUTS,
    )  # fmt: skip
    assert allergy.source_ref == f"session:{session_id}#1"
    assert home.source_ref == f"session:{session_id}#3"
    (summary,) = run.facts(summaries=True)
    assert (summary.type, summary.status, summary.confidence) == ("episodic", "confirmed", 0.8)
    assert summary.source_ref == f"session:{session_id}"
    payload = run.event(session_id)
    assert (payload["proposed"], payload["written"], payload["rejected"]) == (2, 2, 0)
    assert payload["review_accepted"] == 2
    assert run.steps.run(session_id).reason == "extracted"


def test_a_forced_run_reports_what_it_knows_already_and_changes_nothing(run):
    session_id = run.run(PEANUTS, LISBON, BEES)
    before = run.lab.row_counts()

    run.again(session_id)

    payload = run.event(session_id)
    assert (payload["mode"], payload["already_reinforced"], payload["written"]) == ("rerun", 3, 0)
    after = run.lab.row_counts()
    del before["events"], before["event_refs"], after["events"], after["event_refs"]
    assert after == before
