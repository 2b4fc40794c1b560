"""What every reviewer of candidates must do."""

from __future__ import annotations

import pytest

from retold.models import REVIEW_OUTCOMES, ReviewContext, ReviewItem, Scope
from retold.protocols import CandidateReviewer
from retold.testing.builders import make_proposal, make_turns

SESSION = make_turns(
    "I'm allergic to peanuts, so no satay please.",
    ("assistant", "Noted, I will leave the peanuts out."),
    "Thank you. We moved to Lisbon in June.",
)
ITEMS = (
    ReviewItem(
        make_proposal("The user is allergic to peanuts", "I'm allergic to peanuts"), SESSION[0]
    ),
    ReviewItem(
        make_proposal("The assistant leaves peanuts out", "I will leave the peanuts out"),
        SESSION[1],
    ),
    ReviewItem(
        make_proposal("The user moved to Lisbon", "We moved to Lisbon in June."), SESSION[2]
    ),
)
CONTEXT = ReviewContext(SESSION, Scope("user", "ana"), names=("ana",))


class CandidateReviewerContract:
    """Override ``reviewer`` with one whose model, if it has any, answers."""

    @pytest.fixture
    def reviewer(self) -> CandidateReviewer:
        """Return the implementation under test."""
        pytest.fail("override the fixture `reviewer`")

    def test_reviewer_is_one(self, reviewer: CandidateReviewer) -> None:
        """It has every member of the port."""
        assert isinstance(reviewer, CandidateReviewer)

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_reviewer_decides_on_every_candidate(
        self, reviewer: CandidateReviewer, count: int
    ) -> None:
        """One decision each; a missing one would store or lose a candidate unseen."""
        output = reviewer.review(ITEMS[:count], CONTEXT)

        assert len(output.decisions) == count
        assert all(each.outcome in REVIEW_OUTCOMES for each in output.decisions)

    def test_reviewer_gives_a_revision_with_revise_and_never_else(
        self, reviewer: CandidateReviewer
    ) -> None:
        """What an accepted candidate would be changed to, nobody would apply."""
        for decision in reviewer.review(ITEMS, CONTEXT).decisions:
            assert (decision.revision is not None) == (decision.outcome == "revise")
