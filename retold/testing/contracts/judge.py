"""What every judge must do."""

from __future__ import annotations

from typing import get_args

import pytest

from retold.config import EvidenceConfig
from retold.models import Label, Verdict
from retold.protocols import EquivalenceJudge
from retold.testing.contracts.concurrency import side_by_side

ENTAIL_FLOOR = EvidenceConfig().entail_floor

PAIRS = (
    ("Lives in Oslo", "Lives in Lyon"),
    ("Likes tea", "Hates tea"),
    ("Likes tea", "The build takes nine minutes."),
    ("我喜欢茶", "我讨厌茶"),
    ("", "!"),
    ("a" * 5000, "b" * 5000),
)


class JudgeContract:
    """Override ``judge``."""

    @pytest.fixture
    def judge(self) -> EquivalenceJudge:
        """Return the implementation under test."""
        pytest.fail("override the fixture `judge`")

    def test_judge_is_one(self, judge: EquivalenceJudge) -> None:
        """It has every member of the port and a name to keep beside its scores."""
        assert isinstance(judge, EquivalenceJudge)
        assert judge.name

    @pytest.mark.parametrize(("older", "newer"), PAIRS)
    def test_judge_answers_every_pair(
        self, judge: EquivalenceJudge, older: str, newer: str
    ) -> None:
        """A verdict has a known label, a rule, and scores between 0 and 1."""
        verdict = judge.judge(older, newer)

        assert verdict.label in get_args(Label)
        assert verdict.rule
        assert all(0.0 <= score <= 1.0 for score in verdict.scores.values())

    @pytest.mark.parametrize(("older", "newer"), PAIRS)
    def test_judge_repeats_itself(self, judge: EquivalenceJudge, older: str, newer: str) -> None:
        """The same pair gets the same verdict."""
        assert judge.judge(older, newer) == judge.judge(older, newer)

    def test_judge_calls_a_claim_the_same_as_itself(self, judge: EquivalenceJudge) -> None:
        """Nothing contradicts or differs from itself."""
        assert judge.judge("Likes green tea", "Likes green tea").label == "same"

    @pytest.mark.parametrize(("quote", "claim"), PAIRS)
    def test_judge_scores_support_or_declines(
        self, judge: EquivalenceJudge, quote: str, claim: str
    ) -> None:
        """Support is None or a verdict that carries ``entails``."""
        verdict = judge.support(quote, claim, names=("Ana",))

        if verdict is not None:
            assert isinstance(verdict, Verdict)
            assert 0.0 <= verdict.scores["entails"] <= 1.0

    def test_judge_lets_a_claim_support_itself(self, judge: EquivalenceJudge) -> None:
        """A quote that is the claim supports it fully or is not scored."""
        verdict = judge.support("Ana likes green tea.", "Ana likes green tea.", names=("Ana",))

        assert verdict is None or verdict.entails >= ENTAIL_FLOOR

    def test_judge_serves_several_threads(self, judge: EquivalenceJudge) -> None:
        """Side by side every pair gets the verdict that it gets alone."""
        inputs = [PAIRS[at % len(PAIRS)] for at in range(8)]
        alone = [judge.judge(*pair) for pair in inputs]

        assert side_by_side(lambda pair: judge.judge(*pair), inputs) == alone
