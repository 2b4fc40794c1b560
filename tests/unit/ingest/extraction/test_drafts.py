from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.ingest.extraction.drafts import (
    StagedRun,
    candidate_text,
    read_candidate,
    read_run,
    rejection_text,
    run_text,
    transcript_digest,
)
from retold.models import (
    CandidateRecord,
    EntityMention,
    RejectedCandidate,
    SessionSummary,
    TokenUsage,
)
from retold.testing import make_proposal, make_turns

whole = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
texts = whole | whole.map(lambda text: text + "\ud83d")
"""Some end in half an emoji, as what a model writes that is cut short."""
moments = st.none() | st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))]))
mentions = st.builds(
    EntityMention,
    st.sampled_from(["person", "other"]),
    texts,
    st.sampled_from(["about", "mentions"]),
)
candidates = st.builds(
    CandidateRecord,
    st.sampled_from(["semantic", "episodic", "procedural"]),
    texts,
    st.none() | texts,
    st.sampled_from(["user_statement", "agent_inference"]),
    texts,
    st.none() | st.integers(1, 10**6),
    st.lists(mentions, max_size=3).map(tuple),
    moments,
    moments,
    moments,
    moments,
    st.none() | st.floats(0, 1),
    st.none() | texts,
)


@given(candidates)
def test_a_staged_candidate_comes_back_as_it_was(candidate):
    text = candidate_text(candidate)

    assert text.isascii()
    assert read_candidate(text) == candidate


counts = st.integers(0, 10**9)
runs = st.builds(
    StagedRun,
    counts,
    texts,
    st.none() | st.builds(SessionSummary, texts, st.lists(texts).map(tuple)),
    st.builds(TokenUsage, counts, counts, counts),
    texts,
)


@given(runs)
def test_a_staged_run_comes_back_as_it_was(run):
    text = run_text(run)

    assert text.isascii()
    assert read_run(text) == run


def test_a_candidate_that_cannot_be_stored_can_still_be_noted():
    strange = make_proposal("lone \ud800", "\x00")

    assert candidate_text(strange).isascii()
    assert rejection_text(RejectedCandidate(0, "invalid_content", None, strange)).isascii()


def test_another_word_makes_another_transcript():
    turns = make_turns("I like tea.", ("assistant", "So do I."))

    assert transcript_digest(turns) == transcript_digest(
        make_turns("I like tea.", ("assistant", "So do I."))
    )
    assert len({transcript_digest(each) for each in (turns, turns[:1], turns[::-1], ())}) == 4


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"type": "secret words"}', "not json"])
def test_another_text_is_refused_without_its_words(text):
    for read in (read_candidate, read_run):
        with pytest.raises(ValueError, match="extract the session again") as refused:
            read(text)

        assert "secret" not in str(refused.value)
