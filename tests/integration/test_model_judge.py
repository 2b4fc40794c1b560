"""The judge of the profiles standard and lite, on tiny models whose answers are known."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest

from retold.errors import ConfigError, JudgeError, RetoldSetupError
from retold.index.device import Placement
from retold.ingest.equivalence import NLICrossEncoderJudge
from retold.protocols import EquivalenceJudge
from retold.testing.contracts import JudgeContract
from tests.tiny_models import nli_model, reranker_model

pytestmark = pytest.mark.models

OSLO, LYON = "The user lives in Oslo.", "The user lives in Lyon."
SAID, SISTER = "I live in Oslo.", "My sister lives in Oslo."
NORWAY = "The user lives in Norway."
TEA = "the user likes tea."
SAYS_TEA, PRIYA_TEA = "I like tea.", "Priya likes tea."
LABELS = ("contradiction", "entailment", "neutral")

ANSWERS = {
    (OSLO, LYON): "contradiction",
    (LYON, OSLO): "neutral",  # one direction is enough
    (OSLO, SAID): "entailment",
    (SAID, OSLO): "entailment",
    (OSLO, NORWAY): "entailment",  # both directions are needed
    (NORWAY, OSLO): "neutral",
    (OSLO, SISTER): "neutral",
    (SISTER, OSLO): "neutral",
    (SAYS_TEA, TEA): "entailment",
    (SAYS_TEA, "Ana likes tea."): "neutral",
    (PRIYA_TEA, TEA): "entailment",
    (PRIYA_TEA, "Ana likes tea."): "neutral",
}
ONE_THREAD = Placement("cpu", 1)


def made(folder, labels=LABELS, **floors) -> NLICrossEncoderJudge:
    spelt = {pair: labels[_place(label, labels)] for pair, label in ANSWERS.items()}
    nli_model(folder, spelt, labels=labels)
    return NLICrossEncoderJudge(str(folder), placement=ONE_THREAD, **floors)


def _place(label, labels):
    return [one.lower() for one in labels].index(label)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> NLICrossEncoderJudge:
    """Make the model once for all its behaviours."""
    return made(tmp_path_factory.mktemp("nli"))


class TestNLICrossEncoderJudge(JudgeContract):
    @pytest.fixture
    def judge(self, tiny) -> EquivalenceJudge:
        return tiny


@pytest.mark.parametrize("labels", list(permutations(("ENTAILMENT", "neutral", "Contradiction"))))
def test_verdicts_follow_the_labels_of_the_model_in_any_order_and_case(tmp_path, labels):
    """A judge that trusts one order calls contradictions the same with half of the models."""
    judge = made(tmp_path, labels)

    verdicts = [judge.judge(OSLO, other).label for other in (LYON, SAID, NORWAY, SISTER)]

    assert verdicts == ["contradicts", "same", "distinct", "distinct"]
    assert judge.support(SAID, OSLO).entails > 0.99
    assert judge.support(SISTER, OSLO).entails < 0.01


@pytest.mark.parametrize("other", [LYON, SAID, NORWAY, SISTER])
def test_verdict_does_not_depend_on_the_order_of_the_claims(tiny, other):
    assert tiny.judge(OSLO, other).label == tiny.judge(other, OSLO).label


def test_verdict_carries_what_was_measured_in_both_directions(tiny):
    verdict = tiny.judge(OSLO, NORWAY)

    assert verdict.rule == "model"
    assert verdict.scores["forward"] > 0.99
    assert verdict.scores["backward"] < 0.01
    assert verdict.scores["contradicts"] < 0.01


def test_floors_decide(tmp_path):
    judge = made(tmp_path, entail_floor=1.0, contradict_floor=1.0)

    assert judge.judge(OSLO, SAID).label == "distinct"
    assert judge.judge(OSLO, LYON).label == "distinct"


def test_equal_claims_are_the_same_without_asking_the_model(tmp_path):
    judge = made(tmp_path)

    assert judge.judge(f" {OSLO}\n", OSLO).rule == "equal"
    assert judge.support(OSLO, OSLO).entails == 1.0
    assert not judge.is_loaded


def test_first_person_quote_supports_a_claim_about_the_principal_by_name(tiny):
    """Without the second scoring, what Ana says of herself never backs a claim about Ana."""
    assert tiny.support(SAYS_TEA, "Ana likes tea.", names=("Ana",)).entails > 0.99
    assert tiny.support(SAYS_TEA, "Ana likes tea.").entails < 0.01


def test_quote_about_somebody_else_never_takes_the_names_out(tiny):
    """The model would say yes to "the user": a quote about Priya must not reach it that way."""
    assert tiny.support(PRIYA_TEA, TEA).entails > 0.99
    assert tiny.support(PRIYA_TEA, "Ana likes tea.", names=("Ana",)).entails < 0.01


def test_higher_of_the_two_scores_counts(tiny):
    verdict = tiny.support(SAID, OSLO, names=("Oslo",))

    assert verdict.entails > 0.99


def test_texts_whose_characters_the_model_does_not_know_are_not_scored(tiny):
    """An English model knows nothing of Chinese; its numbers would refuse honest quotes."""
    assert tiny.support("我对花生过敏", "用户对花生过敏") is None
    assert tiny.support(SAID, "用户住在奥斯陆") is None
    assert tiny.judge(OSLO, "用户住在奥斯陆").label == "unknown"


def test_one_unknown_token_for_a_long_text_counts_as_all_of_its_characters(tiny):
    """Tokenizers fold a line of a foreign script into one unknown token between known ones."""
    assert tiny.support(SAID, "I live 我住在奥斯陆已经很多年了.") is None
    assert tiny.support(SAID, "I live in 奥斯陆.") is not None


def test_pair_beyond_the_window_is_neither_the_same_nor_supported(tiny):
    """Two claims that differ in their last words only would be the same to a model that cuts."""
    long = "The user lives in Oslo. " * 12

    assert tiny.judge(long + OSLO, long + LYON).rule == "too-long"
    assert tiny.judge(long + OSLO, long + LYON).label == "unknown"
    assert tiny.support(long, OSLO).entails == 0.0


def test_name_holds_the_hash_of_the_weights(tiny):
    assert tiny.name == f"{tiny.files.name}@{tiny.files.measured_sha256()[:12]}"


def test_model_runs_in_one_thread_at_a_time(tiny, monkeypatch):
    """Its tokenizer must not be shared, which shows only now and then; so the lock is looked at."""
    tiny.warm()
    held = []
    encoder = tiny._model
    model = encoder._model.get()
    tokenizer = type(model.tokenizer)

    def watched(inner):
        def call(*args, **kwargs):
            held.append(encoder._one_at_a_time.locked())
            return inner(*args, **kwargs)

        return call

    monkeypatch.setattr(model, "predict", watched(model.predict))
    monkeypatch.setattr(tokenizer, "__call__", watched(tokenizer.__call__))
    tiny.judge(OSLO, LYON)

    assert len(held) > 3
    assert all(held)


def test_many_threads_get_the_verdicts_that_one_gets(tiny):
    pairs = [(OSLO, LYON), (OSLO, SAID), (OSLO, NORWAY)] * 8
    alone = [tiny.judge(*pair).label for pair in pairs]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda pair: tiny.judge(*pair).label, pairs))

    assert together == alone


def test_model_without_nli_labels_is_refused_before_it_is_loaded(tmp_path):
    nli_model(tmp_path, {(OSLO, LYON): "LABEL_0"}, labels=("LABEL_0", "LABEL_1", "LABEL_2"))

    with pytest.raises(ConfigError, match="has the labels LABEL_0, LABEL_1, LABEL_2; choose"):
        NLICrossEncoderJudge(str(tmp_path))


def test_reranker_is_no_judge(tmp_path):
    reranker_model(tmp_path, {(OSLO, LYON): 0.5})

    with pytest.raises(ConfigError, match=r"equivalence\.model: .* has the labels LABEL_0"):
        NLICrossEncoderJudge(str(tmp_path))


def test_model_that_fails_says_nothing_of_the_texts(tiny):
    with pytest.raises(JudgeError) as caught:
        tiny.judge("secret \ud800", OSLO)

    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.usefixtures("empty_hub_cache")
def test_missing_judge_is_refused_at_once():
    with pytest.raises(RetoldSetupError, match="retold models pull acme/absent-judge"):
        NLICrossEncoderJudge("acme/absent-judge")
