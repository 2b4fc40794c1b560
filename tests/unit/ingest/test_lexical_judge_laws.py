"""Laws of the rule judge over any text: it answers, symmetrically, within its caps."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.ingest.lexical_judge import LexicalJudge, normalise, same_object, shares_object_stem
from retold.ingest.lexical_judge.features import MAX_TOKENS, parse
from retold.ingest.lexical_judge.normalise import MAX_CHARS, fold, tokenise
from retold.models.verdict import Verdict

JUDGE = LexicalJudge()

SUBJECTS = ["I", "The user", "My sister", "Rosa", "Rosa's team", "The app", "A man", "She", ""]
VERBS = [
    "likes", "hates", "doesn't like", "lives in", "moved to", "lived in", "works at", "stopped",
    "no longer eats", "eats", "is", "was", "might be", "used to be", "prefers", "has", "sold",
]  # fmt: skip
OBJECTS = [
    "Oslo", "Bergen", "tea", "tea over juice", "juice over tea", "two cats", "three cats", "31",
    "on Monday", "on 19 March", "dark mode", "light mode", "married", "single", "meat and fish",
    "in the box", "out of the box", "all tests", "some tests", "the first child", "called Jo",
]  # fmt: skip
CLAIMS = st.builds(
    lambda subject, verb, thing, tail: f"{subject} {verb} {thing}{tail}".strip(),
    st.sampled_from(SUBJECTS),
    st.sampled_from(VERBS),
    st.sampled_from(OBJECTS),
    st.sampled_from(["", ".", " and reads books", ", but not rice", " in 2019", "?"]),
)
ANY_TEXT = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("\x00\ud800🎉我ไไ不吗'\"-.,:;!?1/0 \n"),
    max_size=80,
)


@given(CLAIMS, CLAIMS)
def test_judge_label_and_rule_do_not_depend_on_the_order(a, b):
    assert JUDGE.judge(a, b) == JUDGE.judge(b, a)


@given(ANY_TEXT, ANY_TEXT)
def test_judge_answers_any_two_strings_symmetrically(a, b):
    verdict = JUDGE.judge(a, b)

    assert verdict == JUDGE.judge(b, a)
    assert all(0.0 <= score <= 1.0 for score in verdict.scores.values())


@given(ANY_TEXT, ANY_TEXT, st.lists(ANY_TEXT, max_size=3))
def test_support_and_objects_answer_any_strings(quote, claim, names):
    verdict = JUDGE.support(quote, claim, names=names)

    assert verdict is None or 0.0 <= verdict.entails <= 1.0
    assert same_object(quote, claim, names) == same_object(claim, quote, names)
    assert shares_object_stem(quote, claim, names) == shares_object_stem(claim, quote, names)


@given(CLAIMS)
def test_judge_calls_a_claim_the_same_as_itself(claim):
    assert JUDGE.judge(claim, f" {claim} ") == Verdict("same", "equal")


HUGE = [
    "word " * 20_000,
    "x" * 100_000,
    "not " * 25_000,
    "我不" * 50_000,
    "ไม่" * 33_000,
    "1," * 50_000,
    "'s" * 50_000,
    "a'" * 50_000,
    "\x00" * 100_000,
    "🎉" * 100_000,
    "\ud800" * 100_000,
    "ﷺ" * 100_000,
    "twenty " * 14_000,
    "9" * 100_000,
    "1/1/1" * 20_000,
    "hundred million " * 7_000,
]


@pytest.mark.parametrize("text", HUGE, ids=[ascii(text[:8]) for text in HUGE])
def test_judge_reads_no_more_than_its_caps_of_a_huge_text(text):
    assert JUDGE.judge(text, "The user likes tea").label in {"unknown", "distinct"}
    assert JUDGE.judge(text, text + " more").label in {"unknown", "distinct"}
    assert len(parse(text).tokens) <= MAX_TOKENS
    support = JUDGE.support(text, text)
    assert support is None or 0.0 <= support.entails <= 1.0


def test_fold_reads_a_bounded_prefix():
    assert len(tokenise(fold("a " * 100_000))) == MAX_CHARS // 2


ROOTS = ("relat", "oper", "gener", "conform", "effect", "hope", "adjust", "fortun", "nation")
ENDINGS = ("ing", "ional", "ations", "ively", "izers", "ousness", "fulness", "ability")


@pytest.fixture
def eager_switching():
    """Let threads change after every few instructions, so that a race shows at once."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("eager_switching")
def test_stems_are_the_same_from_sixteen_threads():
    """A stemmer keeps a word as state and is one thread's, as its documentation asks.

    The interpreter's lock hides it where a stemmer is shared; a build without that lock would not.
    """
    words = [f"{head}{root}{end}" for head in "bcdfgm" for root in ROOTS for end in ENDINGS]
    expected = [normalise.snowball(word) for word in words]
    normalise.snowball.cache_clear()
    with ThreadPoolExecutor(16) as pool:
        stems = list(pool.map(normalise.snowball, words * 4))

    assert stems == expected * 4
