"""The rule judge: each rule of the table, what it fires on and what it leaves alone."""

from __future__ import annotations

import pytest

from retold.ingest.lexical_judge import LexicalJudge
from retold.ingest.lexical_judge.features import parse
from retold.ingest.lexical_judge.implied import implied
from retold.ingest.lexical_judge.outcome import Rule
from retold.ingest.lexical_judge.pair import Pair
from retold.ingest.lexical_judge.rules import (
    RULES,
    direction,
    equal_words,
    low_overlap,
    modality,
    other_person,
    other_subject,
    quantity,
    refines,
    unrelated,
)
from retold.ingest.lexical_judge.sign_rules import (
    antonym,
    ended,
    ended_loose,
    marital,
    negation,
    negation_loose,
)
from retold.ingest.lexical_judge.value_rules import (
    date,
    exclusive,
    name,
    note,
    number,
    order,
    ordinal,
    other_time,
    slot,
)
from retold.protocols import EquivalenceJudge

JUDGE = LexicalJudge()

# One example a line reads as the table it is.
# ruff: noqa: E501
FIRES: list[tuple[Rule, str, str, str, str]] = [
    (implied, "The user has no children", "The user has a son", "contradicts", "implied"),
    (implied, "The user doesn't drink alcohol", "The user drinks wine", "contradicts", "implied"),
    (date, "The user's exam is on 3 May", "The user's exam has been postponed to 9 May", "contradicts", "date"),
    (date, "The user's release of app A is on 3 May", "The user's release of app B is on 9 May", "distinct", "date-other"),
    (number, "The user's check-in is at 15:00", "The user's check-out is at 11:00", "unknown", "number-loose"),
    (negation, "The user can drive", "The user never learned to drive", "contradicts", "negation"),
    (equal_words, "The user is 34", "The user is 34 years old", "same", "equal-words"),
    (equal_words, "The user owns two cats", "The user has two cats", "same", "equal-words"),
    (equal_words, "The user eats no meat", "The user doesn't eat meat", "same", "equal-words"),
    (equal_words, "Green is the user's favourite colour", "The user's favourite colour is green", "same", "equal-words"),
    (equal_words, "The user has a peanut allergy", "The user is allergic to peanuts", "same", "equal-words"),
    (equal_words, "The user likes to cook", "The user enjoys cooking", "same", "equal-words"),
    (implied, "The user is vegan", "The user eats steak on Sundays", "contradicts", "implied"),
    (implied, "The user is vegan", "The user has yoghurt for breakfast", "contradicts", "implied"),
    (implied, "The user lives alone", "The user lives with her parents", "contradicts", "implied"),
    (implied, "The user is an only child", "The user has two brothers", "contradicts", "implied"),
    (implied, "The user is unemployed", "The user works for Acme", "contradicts", "implied"),
    (implied, "The user is teetotal", "The user drinks wine on Fridays", "contradicts", "implied"),
    (exclusive, "The user drinks only tea", "The user drinks coffee", "contradicts", "only"),
    (exclusive, "The user's car takes only diesel", "The user's car takes petrol", "contradicts", "only"),
    (slot, "The user's wedding is held in Nice", "The user's wedding takes place in Lyon", "contradicts", "slot:venue"),
    (date, "The user's launch is planned for 3 May", "The user's launch was moved to 9 May", "contradicts", "date"),
    (date, "The user flies to Rome on 3 May", "The user flies back from Rome on 9 May", "distinct", "date-other"),
    (date, "The user's project Lark is due in May", "The user's project Wren is due in July", "distinct", "date-other"),
    (antonym, "The user is free on Monday morning", "The user is busy on Monday", "contradicts", "antonym"),
    (negation, "The user can't swim", "The user is a keen swimmer", "contradicts", "negation"),
    (negation, "The user wants to be called Jo", "The user hates being called Jo", "contradicts", "negation"),
    (number, "The user gets up at 6:15", "The user sleeps until 9", "contradicts", "number"),
    (equal_words, "The user doesn't like crime films", "The user dislikes crime movies", "same", "equal-words"),
    (equal_words, "The user is able to drive", "The user knows how to drive", "same", "equal-words"),
    (equal_words, "Each Monday the user wakes up at 6:30", "The user gets up at half past six each Monday", "same", "equal-reordered"),
    (equal_words, "Ana works at Acme", "Ana is employed by Acme", "same", "equal-words"),
    (equal_words, "The user is left-handed", "The user is a left-hander", "same", "equal-words"),
    (equal_words, "The user's party is on 3 May", "The user's party falls on 3 May", "same", "equal-words"),
    (equal_words, "I gave up smoking", "The user quit smoking", "same", "equal-words"),
    (other_subject, "My sister works at Acme", "I work at Initech", "distinct", "other-subject"),
    (other_subject, "Alex likes tea", "Sam likes tea", "distinct", "other-subject"),
    (other_subject, "Rosa lives in Oslo", "Rosa's team moved to Lyon", "distinct", "other-subject"),
    (slot, "The user lives in Oslo", "The user moved to Bergen", "contradicts", "slot:home"),
    (slot, "i live in oslo", "i live in bergen", "contradicts", "slot:home"),
    (slot, "My name is Jo", "The user goes by Alex", "contradicts", "slot:name"),
    (slot, "Works at Acme", "The user joined Initech", "contradicts", "slot:employer"),
    (slot, "The user was born in Lyon", "I was born in Nice", "contradicts", "slot:birthplace"),
    (slot, "I was born in 1990", "The user was born in 1991", "contradicts", "slot:birth-year"),
    (slot, "The user is 31 years old", "I am 32", "contradicts", "slot:age"),
    (slot, "Her timezone is CET", "Her time zone is PST", "contradicts", "slot:timezone"),
    (slot, "My favourite fruit is mango", "My favorite fruit is fig", "contradicts", "slot:favourite"),
    (slot, "I commute by bike", "I commute by train", "contradicts", "slot:commute"),
    (slot, "The app is written in Rust", "The app is written in Go", "contradicts", "slot:written-in"),
    (slot, "I am married to Kim", "The user is married to Lee", "contradicts", "slot:spouse"),
    (slot, "A citizen of Peru", "A citizen of Chile", "contradicts", "slot:nationality"),
    (slot, "My native language is Farsi", "My mother tongue is Urdu", "contradicts", "slot:first-language"),
    (slot, "The user lived in Oslo, lives in Rome", "I live in Bergen", "unknown", "slot-modality"),
    (name, "The user's manager is Anna", "The user's manager is Tom", "contradicts", "name"),
    (note, "City: Oslo", "City: Bergen", "contradicts", "slot:home"),
    (note, "Shoe size: 42", "Shoe size: 44", "contradicts", "number"),
    (note, "Likes: brass bands", "Dislikes: brass bands", "contradicts", "polarity"),
    (note, "Likes: brass bands", "Dislikes: opera", "distinct", "other-value"),
    (note, "Diet: vegetarian", "Hobby: chess", "distinct", "other-label"),
    (note, "Diet: vegetarian", "Diet: vegan", "unknown", "other-value"),
    (marital, "The user is married", "The user is single", "contradicts", "marital"),
    (marital, "I have a husband", "I am divorced", "contradicts", "marital"),
    (unrelated, "The user eats meat", "The user plays chess", "distinct", "unrelated"),
    (ended, "The user quit her job at Acme", "The user works at Acme", "contradicts", "ended"),
    (ended, "Stopped drinking coffee", "Drinks coffee every morning", "contradicts", "ended"),
    (ended, "Stack: Django + MySQL", "Stack moved from MySQL to Redis", "contradicts", "ended"),
    (modality, "The user might adopt a dog", "The user adopts a dog", "unknown", "modality"),
    (modality, "The user used to smoke cigars", "The user plays chess", "distinct", "modality"),
    (order, "Prefers tea over juice", "Prefers juice over tea", "contradicts", "order"),
    (order, "Prefers tea over juice", "Likes juice", "unknown", "order-part"),
    (ordinal, "The first child is Ana", "The second child is Ben", "distinct", "ordinal"),
    (other_time, "Ran 5 km on Monday", "Ran 8 km on Friday", "unknown", "other-time"),
    (number, "The user has two children", "The user has three children", "contradicts", "number"),
    (number, "Phone number 555-1234", "Phone number 555-9876", "contradicts", "number"),
    (number, "The user ran 5 km", "The user ran 8 km", "unknown", "number-event"),
    (number, "Rent is 900 euros in Lyon", "Rent is 700 euros at Nice", "distinct", "number-other"),
    (date, "The meeting is on Monday", "The meeting is on Tuesday", "contradicts", "date"),
    (date, "The release is on 19 March", "The release is on March 26th", "contradicts", "date"),
    (date, "Flies to Oslo on 8 May", "Sails to Crete on 2 June", "distinct", "date-other"),
    (slot, "I used to live in Oslo", "I live in Rome", "distinct", "slot-modality"),
    (slot, "I moved to Oslo in 2011", "I moved to Rome in 2015", "unknown", "slot-modality"),
    (other_subject, "Lars is tall", "Ines is tall", "distinct", "other-subject"),
    (negation, "The user refuses to eat tofu", "The user eats tofu", "contradicts", "negation"),
    (negation, "I enjoy heights", "The user is afraid of heights", "contradicts", "polarity"),
    (negation, "I go to the pool twice a week", "I never go to the pool", "contradicts", "negation"),
    (ended, "Ines owns a boat", "Ines sold her boat", "contradicts", "ended"),
    (antonym, "The user rents the barn", "The user owns the barn", "contradicts", "antonym"),
    (equal_words, "Speaks Farsi and Urdu", "The user can speak Urdu and Farsi", "same", "equal-words"),
    (equal_words, "Prefers tea to juice", "Likes tea more than juice", "same", "equal-words"),
    (equal_words, "I quit smoking in 2011", "I stopped smoking in 2011", "same", "equal-words"),
    (date, "The workout is on Monday", "The workout is on Friday", "unknown", "date-event"),
    (date, "The user called Ana on Monday", "The user called Ana on Friday", "unknown", "date-event"),
    (number, "Lifts 50 kg", "Lifts 20 kg with 1 arm", "unknown", "number-loose"),
    (other_person, "A man is singing", "A woman is singing", "distinct", "other-person"),
    (antonym, "The user prefers dark mode", "The user prefers light mode", "contradicts", "antonym"),
    (antonym, "A dark room is empty", "A light room is empty", "unknown", "antonym-loose"),
    (negation, "The user eats meat", "The user does not eat meat", "contradicts", "negation"),
    (negation, "The user no longer smokes", "I smoke", "contradicts", "negation"),
    (negation, "There is no dog barking", "Two dogs are barking", "contradicts", "negation"),
    (negation, "I love Thai food", "I hate Thai food", "contradicts", "polarity"),
    (negation, "I like tea", "I don't like tea", "contradicts", "polarity"),
    (negation, "I can't stand opera", "The user enjoys opera", "contradicts", "polarity"),
    (negation_loose, "I don't eat raw red meat", "I eat chicken at home", "distinct", "negation-loose"),
    (ended_loose, "Left the choir in Lyon", "The choir in Lyon", "unknown", "ended-loose"),
    (quantity, "All tests are slow", "Some tests are slow", "unknown", "quantity"),
    (direction, "The cat jumps on the bed", "The cat jumps off the bed", "unknown", "direction"),
    (equal_words, "Enjoys hiking", "The user likes hiking", "same", "equal-words"),
    (equal_words, "I live in Oslo", "The user lives in Oslo", "same", "equal-words"),
    (
        equal_words,
        "The user teaches chess in Lyon",
        "In Lyon the user teaches chess",
        "same",
        "equal-reordered",
    ),
    (equal_words, "The dog bites the man", "The man bites the dog", "unknown", "reordered"),
    (refines, "The user has a dog", "The user has a black dog", "unknown", "refines"),
    (low_overlap, "Keeps six bees in Lyon", "Keeps notes of rare old birds", "distinct", "low-overlap"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "a", "b", "label", "name"), FIRES, ids=[f"{row[4]}: {row[1]}" for row in FIRES]
)
def test_rule_fires_on_its_class_in_both_orders(rule, a, b, label, name):
    """Cases B04, B05, B09, B12 stand among the rows."""
    for first, second in ((a, b), (b, a)):
        outcome = rule(Pair(parse(first), parse(second)))

        assert outcome == (label, name)


SILENT: list[tuple[Rule, str, str]] = [
    (other_subject, "My sister works at Acme", "The user's sister works at Initech"),
    (other_subject, "The user has a brother in Oslo", "My brother lives in Oslo"),
    (slot, "The user lives in Oslo", "The user lives in Oslo, Norway"),
    (other_subject, "Our review is at noon", "The team's review is at noon"),
    (slot, "Rosa lives in Oslo", "Rosa's team moved to Lyon"),
    (slot, "My favourite fruit is mango", "My favourite colour is red"),
    (slot, "The user lives in peace", "The user lives in a flat"),
    (implied, "The user is a vegan chef", "The user has steak for guests"),
    (equal_words, "The user is 34", "The user is 43 years old"),
    (implied, "The user once tried a vegan diet", "The user eats fish"),
    (implied, "The user is vegan", "The user eats vegan burgers"),
    (implied, "The user is not vegan", "The user eats steak"),
    (implied, "The user's son is vegan", "The user eats steak"),
    (implied, "The user is vegan", "The user ate steak as a child"),
    (exclusive, "The user drinks only tea", "The user drinks tea"),
    (exclusive, "The user drinks only tea", "The user eats cake"),
    (exclusive, "The user eats only at home", "The user eats meat"),
    (slot, "The user's meeting is held in Nice", "The user's meeting takes place in Lyon"),
    (name, "The user's hobbies are Chess and Go", "The user's hobbies are Judo and Golf"),
    (name, "The user's manager is Anna", "The user's dentist is Tom"),
    (name, "The user's manager is Anna", "The user's manager is Anna Berg"),
    (note, "City: Oslo", "The city is Bergen"),
    (note, "City: Oslo", "City: Oslo"),
    (note, "User: likes tea", "User: likes juice"),
    (marital, "The user is married", "My sister is single"),
    (marital, "The user is married", "The user likes single malt whisky"),
    (unrelated, "The user eats meat", "The user eats fish"),
    (ended, "The user quit her job at Acme", "The user works at Initech"),
    (ended, "The user stopped drinking coffee", "The user sells coffee machines"),
    (ended, "The user might sell the car", "The user owns a car"),
    (ended, "The user quit smoking", "The user hates smoke"),
    (ended, "The user cancelled the Monday call", "The user has a Tuesday call"),
    (modality, "The user eats meat", "The user eats fish"),
    (order, "Prefers tea over juice", "Prefers tea over beer"),
    (order, "The user likes tea", "The user likes juice"),
    (ordinal, "The first child is Ana", "The child is Ben"),
    (other_time, "Ran 5 km on Monday", "Ran 8 km on Monday"),
    (other_time, "The release of 2 apps is due Monday", "The release of 3 apps is due Friday"),
    (number, "The user has two children", "The user has 2 children"),
    (number, "The user has children", "The user has two children"),
    (date, "The meeting is on 19 March", "The meeting is on March 19th"),
    (date, "The meeting is in March", "The meeting is on Monday"),
    (other_person, "A man is singing", "A person is singing"),
    (antonym, "The user prefers dark mode", "The user prefers dark themes"),
    (negation, "I don't like running", "I like running shoes"),
    (negation, "I hate running", "I run every day"),
    (negation, "The user does not eat red meat", "The user eats chicken"),
    (negation, "The user doesn't work on Fridays", "The user works at Acme"),
    (negation, "The user does not have three children", "The user has two children"),
    (negation, "I didn't eat meat", "I eat meat"),
    (negation_loose, "The user eats meat", "The user eats fish"),
    (ended_loose, "The user left Lyon", "The user left Nice"),
    (quantity, "Tests are slow", "Deploys are fast"),
    (direction, "The cat jumps on the bed", "The cat sleeps on the bed"),
    (equal_words, "The user has two dogs", "The user has three dogs"),
    (equal_words, "The user lived in Oslo", "The user lives in Oslo"),
    (refines, "The user has a cat", "The user has a dog"),
    (low_overlap, "The user has a small black dog", "The user has a small black cat"),
]


@pytest.mark.parametrize(
    ("rule", "a", "b"), SILENT, ids=[f"{r.__name__}: {a}" for r, a, b in SILENT]
)
def test_rule_is_silent_beside_its_class_in_both_orders(rule, a, b):
    assert rule(Pair(parse(a), parse(b))) is None
    assert rule(Pair(parse(b), parse(a))) is None


def test_every_rule_of_the_table_has_both_kinds_of_example():
    assert {row[0] for row in FIRES} == set(RULES)
    assert {row[0] for row in SILENT} == set(RULES)


VERDICTS = [
    ("Favourite player is Ada", "My favourite player is now Bo", "contradicts", "slot:favourite"),
    ("I love Thai food", "I hate Thai food", "contradicts", "polarity"),
    ("Allergic to nuts", "Allergic to shellfish", "unknown", "none"),
    ("The user speaks French", "The user speaks German", "unknown", "none"),
    ("tool X is redundant", "tool X is useful for stories", "unknown", "none"),
    ("Rosa lives in Oslo", "The Oslo server was decommissioned", "distinct", "other-subject"),
    ("", "The user smokes", "distinct", "unrelated"),
]


@pytest.mark.parametrize(("a", "b", "label", "rule"), VERDICTS, ids=[row[0] for row in VERDICTS])
def test_judge_names_the_first_rule_that_fires(a, b, label, rule):
    """Cases B04, B05, B09, B11."""
    verdict = JUDGE.judge(a, b)

    assert (verdict.label, verdict.rule) == (label, rule)


@pytest.mark.parametrize("text", ["", "Likes tea", "\x00", "喜欢茶", "x" * 100_000, "\ud800"])
def test_judge_calls_whitespace_identical_text_same(text):
    verdict = JUDGE.judge(text, f"  {text}\n")

    assert (verdict.label, verdict.rule) == ("same", "equal")


def test_judge_declines_to_contradict_when_a_claim_is_long():
    tail = " and notes rivers, bridges, harbours, lighthouses, ferries, tides, boats in a small blue book"
    verdict = JUDGE.judge("The user eats meat" + tail, "The user does not eat meat" + tail)

    assert (verdict.label, verdict.rule) == ("unknown", "too-long")


def test_judge_is_the_port_that_ingestion_expects():
    assert isinstance(JUDGE, EquivalenceJudge)
    assert JUDGE.version in JUDGE.name
