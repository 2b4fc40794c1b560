from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.ingest.extraction.drafts import (
    candidate_text,
    read_candidate,
    read_summary,
    summary_draft,
)
from retold.models import CandidateRecord, EntityMention, SessionSummary
from retold.testing import make_proposal

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
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


@given(st.builds(SessionSummary, texts, st.lists(texts).map(tuple)))
def test_a_staged_summary_comes_back_as_it_was(summary):
    assert read_summary(summary_draft(summary)) == summary


def test_a_candidate_that_cannot_be_stored_can_still_be_noted():
    assert candidate_text(make_proposal("lone \ud800", "\x00")).isascii()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"type": "secret words"}', "not json"])
def test_another_text_is_refused_without_its_words(text):
    for read in (read_candidate, read_summary):
        with pytest.raises(ValueError, match="extract the session again") as refused:
            read(text)

        assert "secret" not in str(refused.value)
