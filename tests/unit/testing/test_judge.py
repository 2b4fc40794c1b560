import pytest

from retold.errors import JudgeError
from retold.testing import FakeJudge


def test_judge_answers_from_its_table_in_both_orders():
    judge = FakeJudge({("Likes tea", "Hates tea"): "contradicts"})

    assert judge.judge("Likes tea", "Hates tea").label == "contradicts"
    assert judge.judge("Hates  tea ", "Likes tea").label == "contradicts"
    assert judge.judge("Likes tea", "Likes jazz").label == "distinct"


def test_judge_keeps_the_orders_apart_when_told():
    judge = FakeJudge(default="unknown")
    judge.declare("a", "b", "same", both_orders=False)

    assert judge.judge("a", "b").label == "same"
    assert judge.judge("b", "a").label == "unknown"


def test_judge_speaks_as_a_model():
    assert FakeJudge().judge("a", "b").rule == "model"


def test_judge_scores_support_from_its_table():
    judge = FakeJudge(support={("q", "c"): 0.2, ("q", "other"): None}, default_support=0.7)

    assert judge.support("q", "c").entails == 0.2
    assert judge.support("q", "other") is None
    assert judge.support("q", "third").entails == 0.7


def test_judge_refuses_a_support_score_outside_0_and_1():
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        FakeJudge(support={("q", "c"): 1.5})


def test_judge_remembers_what_it_was_asked():
    judge = FakeJudge()
    judge.judge("a", "b")
    judge.support("q", "c", names=["Ana"])

    assert judge.judged == [("a", "b")]
    assert judge.supported == [("q", "c", ("Ana",))]


def test_judge_fails_until_healed():
    judge = FakeJudge()
    judge.fail(JudgeError("told to"))

    with pytest.raises(JudgeError):
        judge.judge("a", "b")
    with pytest.raises(JudgeError):
        judge.support("a", "b")
    judge.heal()
    assert judge.judge("a", "a").label == "same"
