"""The ordered rule table: the first rule that fires decides."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import Claim, is_content
from retold.ingest.lexical_judge.implied import implied
from retold.ingest.lexical_judge.normalise import stem
from retold.ingest.lexical_judge.outcome import (
    CLOSE,
    HALF,
    IN_ORDER,
    LOW,
    PART,
    Outcome,
    Rule,
)
from retold.ingest.lexical_judge.pair import (
    Pair,
    directions_clash,
    longest_common,
    quantity_classes,
)
from retold.ingest.lexical_judge.preference import preference_order
from retold.ingest.lexical_judge.sign_rules import (
    antonym,
    ended,
    ended_loose,
    marital,
    negation,
    negation_loose,
    opposites,
)
from retold.ingest.lexical_judge.slots import Slot, read_slots
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

_LINKS: Final = lexicon.PREPOSITIONS - lexicon.LIKING


def other_subject(pair: Pair) -> Outcome | None:
    """Part claims about different people or things of theirs."""
    first, second = pair.a.subject, pair.b.subject
    if first == second or not (first.is_other or second.is_other):
        return None
    for mine, theirs in pair.orders:
        if mine.subject.kind == "relation" and _mentions_relation(theirs, mine.subject.key):
            return None
        if mine.subject.key in lexicon.COLLECTIVES and theirs.words & lexicon.WE:
            return None
        if mine.subject.kind == "name" and set(mine.subject.key.split("/")[0].split()) <= (
            theirs.words
        ):
            same_topic = "/" not in mine.subject.key and theirs.subject.kind != "name"
            if same_topic:
                return None
    return Outcome("distinct", "other-subject")


def _mentions_relation(claim: Claim, key: str) -> bool:
    return any(lexicon.KIN.get(word) == key for word in claim.words)


def unrelated(pair: Pair) -> Outcome | None:
    """Part claims without any content in common."""
    if pair.shared or not (pair.a.content or pair.b.content) or opposites(pair):
        return None
    if pair.a.quantities.numbers and pair.b.quantities.numbers and not pair.both_differ:
        return None
    if pair.a.quantities.dates and pair.b.quantities.dates and not pair.both_differ:
        return None
    return Outcome("distinct", "unrelated")


def modality(pair: Pair) -> Outcome | None:
    """Keep a fact apart from a former state or a possibility."""
    if pair.a.modality == pair.b.modality:
        return None
    return Outcome("unknown" if pair.overlap >= HALF else "distinct", "modality")


def other_person(pair: Pair) -> Outcome | None:
    """Part a claim about a man from one about a woman."""
    sides = [
        (not only.isdisjoint(_MALE), not only.isdisjoint(_FEMALE))
        for only in (pair.only_a, pair.only_b)
    ]
    if (sides[0][0] and sides[1][1]) or (sides[0][1] and sides[1][0]):
        return Outcome("distinct" if pair.overlap < CLOSE else "unknown", "other-person")
    return None


def _stems(words: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(word) for word in words)


_MALE: Final = _stems(lexicon.MALE)
_FEMALE: Final = _stems(lexicon.FEMALE)


def quantity(pair: Pair) -> Outcome | None:
    """Keep "all" apart from "some"."""
    first, second = quantity_classes(pair.a), quantity_classes(pair.b)
    if pair.a.negated and pair.b.negated:
        first, second = first - {_NO}, second - {_NO}
    if first != second and pair.overlap >= HALF:
        return Outcome("unknown", "quantity")
    return None


_NO: Final = 0
"""Number of the class of "no", "never", which two denials need not share."""


def direction(pair: Pair) -> Outcome | None:
    """Keep "into" apart from "out of"."""
    if directions_clash(pair.a.words, pair.b.words) and pair.overlap >= PART:
        return Outcome("unknown", "direction")
    return None


def equal_words(pair: Pair) -> Outcome | None:
    """Join claims with the same content words in the same order, numbers, dates, pronouns."""
    if pair.only_a or pair.only_b:
        return _equal_but_for_being(pair)
    if not _same_frame(pair):
        return None
    ranked = preference_order(pair.a)
    linked = pair.a.words & _LINKS == pair.b.words & _LINKS or (
        ranked is not None and ranked == preference_order(pair.b)
    )
    if linked and longest_common(_ordered(pair.a), _ordered(pair.b)) >= IN_ORDER:
        return Outcome("same", "equal-words")
    known = pair.a.subject == pair.b.subject and pair.a.subject.is_definite
    if known and _prepositional(pair.a) == _prepositional(pair.b):
        return Outcome("same", "equal-reordered")
    return Outcome("unknown", "reordered")


def _equal_but_for_being(pair: Pair) -> Outcome | None:
    """Join claims that differ in words of mere being: "falls on", "owns", "years old", "better"."""
    rest = pair.only_a | pair.only_b
    if not rest <= _BEING or pair.flips or pair.a.subject != pair.b.subject:
        return None
    if pair.a.tense != pair.b.tense or pair.a.numbers != pair.b.numbers:
        return None
    dates = frozenset(pair.a.quantities.dates)
    if dates != frozenset(pair.b.quantities.dates) or pair.a.attitude != pair.b.attitude:
        return None
    ranked = preference_order(pair.a)
    holds = (
        (rest <= _BEING_ON and bool(dates and pair.shared))
        or (rest <= _OLD and _ages(pair.a) == _ages(pair.b) != ())
        or (rest <= _OWN and bool(pair.shared) and _has(pair.a) and _has(pair.b))
        or (rest <= _BETTER and ranked is not None and ranked == preference_order(pair.b))
    )
    return Outcome("same", "equal-words") if holds else None


def _ages(claim: Claim) -> tuple[tuple[str, ...], ...]:
    return read_slots(claim).get(Slot("age"), ())


def _has(claim: Claim) -> bool:
    return not claim.words.isdisjoint(_HAVING)


_HAVING: Final = lexicon.HAVE | {"own", "owns", "owned"}


def _same_frame(pair: Pair) -> bool:
    return (
        bool(pair.a.content)
        and pair.a.numbers == pair.b.numbers
        and frozenset(pair.a.quantities.dates) == frozenset(pair.b.quantities.dates)
        and pair.a.quantities.ordinals == pair.b.quantities.ordinals
        and pair.a.tense == pair.b.tense
        and pair.a.attitude == pair.b.attitude
        and len(pair.a.sequence) == len(pair.b.sequence)
    )


def _ordered(claim: Claim) -> tuple[str, ...]:
    """Return content stems with the pronouns of others, whose place says who does what.

    Words joined by "and", "or" or a comma stand in alphabetical order: lists have none.
    """
    out: list[str] = []
    start = 0
    joined = False
    for position, token in enumerate(claim.tokens):
        if token.word in _LISTING:
            joined = bool(out)
            continue
        if not _is_placed(claim, position):
            joined = joined and token.word in lexicon.ARTICLES
            continue
        if not joined:
            start = len(out)
        out.append(token.stem)
        out[start:] = sorted(out[start:])
        joined = False
    return tuple(out)


_LISTING: Final = frozenset({"and", "or", ","})


def _is_placed(claim: Claim, position: int) -> bool:
    token = claim.tokens[position]
    if token.word in lexicon.SECOND_PERSON or token.word in lexicon.THIRD_PERSON:
        return True
    return is_content(token) and position not in claim.quantities.used


def _prepositional(claim: Claim) -> frozenset[tuple[str, str]]:
    """Return each preposition with the stem after it, one stem for all numbers and dates."""
    used = claim.quantities.used
    words = [
        ("", "#") if position in used else (token.word, token.stem)
        for position, token in enumerate(claim.tokens)
        if token.word not in lexicon.ARTICLES
    ]
    return frozenset(
        (word, stem_after)
        for (word, _), (_, stem_after) in pairwise(words)
        if word in lexicon.PREPOSITIONS
    )


_BEING_ON: Final = _stems(frozenset("fall falls held happen happens occur occurs".split()))
"""Verbs that say of a date no more than "is"."""


_OWN: Final = _stems(frozenset({"own"}))
_OLD: Final = _stems(frozenset({"old", "age"}))
_BETTER: Final = _stems(frozenset({"better"}))
_BEING: Final = _BEING_ON | _OWN | _OLD | _BETTER


def refines(pair: Pair) -> Outcome | None:
    """Leave open a claim that says the same more narrowly."""
    if pair.overlap >= HALF and not pair.both_differ:
        return Outcome("unknown", "refines")
    return None


def low_overlap(pair: Pair) -> Outcome | None:
    """Part claims with little in common."""
    return Outcome("distinct", "low-overlap") if pair.overlap < LOW else None


RULES: Final[tuple[Rule, ...]] = (
    other_subject,
    note,
    slot,
    name,
    marital,
    implied,
    exclusive,
    unrelated,
    ended,
    modality,
    order,
    ordinal,
    other_time,
    number,
    date,
    other_person,
    antonym,
    negation,
    negation_loose,
    ended_loose,
    quantity,
    direction,
    equal_words,
    refines,
    low_overlap,
)
