"""Same object, shared stems, the kinds of verdict rules."""

from __future__ import annotations

import pytest

from retold.ingest.lexical_judge import LexicalJudge
from retold.ingest.lexical_judge.objects import (
    FLAG_RULES,
    SAME_RULES,
    STATE_RULES,
    VALUE_RULES,
    kind_of,
    object_stems,
    same_object,
    shares_object_stem,
)
from retold.ingest.lexical_judge.quoted import content_stems, read_text, read_words
from retold.models.verdict import Verdict

SAME = [
    ("I love Thai food", "I hate Thai food", ()),
    ("The user likes tea", "The user doesn't like tea", ()),
    ("Smokes", "The user stopped smoking", ()),
    ("The user no longer eats meat", "The user eats meat", ()),
    ("Priya likes tea", "The user hates tea", ("Priya",)),
    ("我喜欢咖啡", "用户讨厌咖啡", ()),
    ("我不喝咖啡", "用户喝咖啡", ()),
]
OTHER = [
    ("Allergic to peanuts", "Allergic to shellfish", ()),
    ("I don't like running", "I like running shoes", ()),
    ("I have two cats", "I have three cats", ()),
    ("I like tea on Monday", "I like tea on Friday", ()),
    ("Priya likes tea", "Sam likes tea", ("Priya",)),
    ("", "", ()),
    ("The user", "I", ()),
    ("我喜欢咖啡", "我喜欢茶", ()),
]


@pytest.mark.parametrize(("a", "b", "names"), SAME)
def test_same_object_ignores_sign_negation_and_principal(a, b, names):
    assert same_object(a, b, names)
    assert same_object(b, a, names)
    assert shares_object_stem(a, b, names)


@pytest.mark.parametrize(("a", "b", "names"), OTHER)
def test_same_object_tells_other_objects_apart(a, b, names):
    assert not same_object(a, b, names)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "i like tea, but i'm not",
        "i moved to oslo on 3 may 2024 and i am 41 years old. do i have two cats?",
        "since i'm vegan, can you remind me that i don't eat eggs or cheese?",
        "ich wohne seit dem 17.6. in berlin, aber ich mag kein bier",
        "release date: 2026-03-19",
        "1:56 pm on 10 may, 2023",
        "i don't, however, eat meat, fish or eggs, and i am, as of today, 41 years old",
    ],
)
def test_content_stems_are_those_of_the_text_that_is_read_as_a_whole(text):
    assert content_stems(read_words(text)) == read_text(text).stems


def test_object_stems_of_the_principal_alone_are_empty():
    assert object_stems("I", ()) == frozenset()
    assert object_stems("The user", ()) == frozenset()


def test_shares_object_stem_is_false_without_a_common_word():
    assert not shares_object_stem("Allergic to peanuts", "Lives in Oslo")


def test_kind_of_gives_every_rule_one_kind():
    kinds = {
        **dict.fromkeys(STATE_RULES, "state"),
        **dict.fromkeys(VALUE_RULES, "value"),
        **dict.fromkeys(FLAG_RULES, "flag"),
        "slot:home": "value",
        "model": "model",
    }
    given = {rule: kind_of(Verdict("contradicts", rule)) for rule in kinds}

    assert given == kinds
    assert {kind_of(Verdict("same", rule)) for rule in SAME_RULES} == {"same"}
    assert kind_of(Verdict("unknown", "number")) == "none"
    assert kind_of(Verdict("distinct", "model")) == "none"


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("I love Thai food", "I hate Thai food", "state"),
        ("I live in Oslo", "I live in Rome", "value"),
        ("I prefer dark mode", "I prefer light mode", "flag"),
        ("I like tea", "The user enjoys tea", "same"),
        ("I like tea", "I like juice", "none"),
    ],
)
def test_kind_of_reads_the_judges_own_verdicts(a, b, kind):
    """Case B05: liking, then disliking, is a change of state."""
    assert kind_of(LexicalJudge().judge(a, b)) == kind
