"""A claim without a quote is backed by itself only where the user said it word for word."""

import pytest

from retold import UnsupportedEvidenceError
from retold.testing import MemoryLab

CLAIM = "I am allergic to peanuts."


@pytest.fixture
def lab():
    with MemoryLab.open() as opened:
        yield opened


def test_claim_that_the_user_said_word_for_word_is_its_own_evidence(lab):
    session = lab.session()
    said = session.turn("user", f"No satay for me: {CLAIM}")

    kept = session.remember(CLAIM)

    record = session.get(kept.record_id)[0]
    assert (record.source_kind, record.evidence) == ("user_statement", CLAIM)
    assert record.source_ref == f"session:{said.session_id}#{said.turn}"


@pytest.mark.parametrize(
    ("role", "origin"),
    [
        ("assistant", "dialogue"),
        ("tool", "tool"),
        ("user", "recall"),
        ("user", "summary"),
        ("tool", "memory_tool"),
    ],
)
def test_claim_that_somebody_else_or_memory_itself_said_is_backed_by_nothing(lab, role, origin):
    """Drop ``turn.is_evidence`` and a recalled block makes its own words a turn of the user's."""
    session = lab.session()
    lab.runtime.hooks.on_turn(session.principal, role, CLAIM, origin=origin)
    before = lab.row_counts()

    with pytest.raises(UnsupportedEvidenceError) as refusal:
        session.remember(CLAIM)

    assert refusal.value.details["note"] == "evidence not provided"
    assert lab.row_counts() == before


def test_claim_that_another_conversation_holds_is_backed_by_nothing(lab):
    lab.session(session_id="one").turn("user", CLAIM)

    with pytest.raises(UnsupportedEvidenceError):
        lab.session(session_id="two").remember(CLAIM)


@pytest.mark.parametrize("source_kind", ["user_statement", "tool_result"])
def test_recalled_block_that_is_handed_over_as_the_quote_is_no_evidence(lab, source_kind):
    """B02: drop ``holds_memory_output`` from ``backing_of`` and memory confirms itself here."""
    earlier = lab.session()
    earlier.remember("The user likes green tea", source_kind="agent_inference", attribute="drink")
    session = lab.session()
    recalled = session.search("The user likes green tea").text
    assert "The user likes green tea" in recalled
    before = lab.row_counts()

    with pytest.raises(UnsupportedEvidenceError) as refusal:
        session.remember(
            "The user likes green tea",
            evidence=recalled,
            attribute="drink",
            source_kind=source_kind,
        )

    assert refusal.value.details["note"] == "evidence not found in session"
    assert lab.row_counts() == before
