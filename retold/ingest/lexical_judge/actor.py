"""Who acts in one clause of a quote."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.languages import ENGLISH, Grammar
from retold.ingest.lexical_judge.modality import is_past_form
from retold.ingest.lexical_judge.normalise import Token
from retold.ingest.lexical_judge.subject import (
    LEAD_IN,
    Subject,
    looks_like_predicate,
    read_subject,
)


def actor_of(clause: Sequence[Token], previous: Subject, grammar: Grammar) -> Subject:
    """Return the subject of a clause; one without its own has the subject of the clause before."""
    words = [token.word for token in clause if not token.is_mark]
    if not words:
        return previous
    if grammar is not ENGLISH:
        return _foreign_subject(words, previous, grammar)
    if words[0] == "who" and previous.kind == "principal":
        return Subject("pronoun", "who")
    embedded = _embedded_relation(clause) or _believer(words)
    if embedded is not None:
        return embedded
    subject = (
        _reported_person(words)
        or _acting_on_principal(clause)
        or _named_at_length(clause)
        or _other_person(clause)
        or read_subject(clause)
    )
    explicit = subject.kind != "principal" or any(
        word in lexicon.PRINCIPAL for word in words[: _MAX_SUBJECT + 1]
    )
    if "name" in words and _is_named(words):
        return Subject("principal")
    if subject.kind in {"relation", "name"} and {"i", "we"} & set(words[:_MAX_SUBJECT]):
        return Subject("principal")
    return subject if explicit and subject.kind != "thing" else previous


_MAX_SUBJECT: Final = 5


def _is_named(words: Sequence[str]) -> bool:
    """Tell "my friends call me Jo" (read as "name me Jo"): it is about the principal."""
    return any(
        pair in {("name", "me"), ("name", "us"), ("name", "user")} for pair in pairwise(words)
    )


_REPORTS: Final = frozenset(
    "say says said tell tells told claim claims claimed think thinks thought mention mentions "
    "mentioned believe believes believed explain explains explained insist insists insisted "
    "admit admits admitted announce announces announced swear swears swore joke jokes joked "
    "write writes wrote report reports reported know knows".split()
)
_SPEAKERS: Final = frozenset("i we me us what whatever to".split())
"""Words before a belief that leave it to the speaker or to nobody."""
_NO_BELIEVERS: Final = frozenset("still really honestly just only also always go".split())
_COUNTED: Final = (
    lexicon.ARTICLES | lexicon.POSSESSIVES | frozenset("all second only no any".split())
)
"""Words before "hope" or "thought" as a noun."""
_BELIEFS: Final = frozenset(
    "think thinks thought believe believes believed assume assumes assumed suppose supposes "
    "supposed suspect suspects suspected imagine imagines imagined presume presumes presumed "
    "pretend pretends pretended "
    "hope hopes hoped wish wishes wished fear fears feared doubt doubts doubted".split()
)
"""Verbs by which what follows is in somebody's mind; who says or knows it vouches for it."""
_SPOKEN_OF: Final = frozenset({"he", "she", "they"})


def _believer(words: Sequence[str]) -> Subject | None:
    """Return who is meant in "my boss thinks I like golf": what others think of the principal."""
    for position, word in enumerate(words):
        before = words[:position]
        if word not in _BELIEFS or not before or before[-1] in _COUNTED:
            continue
        if _SPEAKERS.isdisjoint(before) and {*before} - _NO_BELIEVERS:
            following = [next_ for next_ in words[position + 1 : position + 3] if next_ != "that"]
            if following[:1] and following[0] in {"i", "we", "my", "our"}:
                return Subject("pronoun", before[-1])
    return None


def _reported_person(words: Sequence[str]) -> Subject | None:
    """Return the pronoun of "somebody told me they keep bees": what is said is theirs."""
    for position, word in enumerate(words):
        if word in _REPORTS and position and not {"i", "we"} & {*words[:position]}:
            following = words[position + 1 : position + 5]
            found = next((w for w in following if w in _SPOKEN_OF or w in {"i", "we", "my"}), "")
            return Subject("pronoun", found) if found in _SPOKEN_OF else None
    return None


def _acting_on_principal(clause: Sequence[Token]) -> Subject | None:
    """Return the name in "Emma beat me": the principal is only the object."""
    words = [token.word for token in clause if not token.is_mark]
    if len(words) < LEAD_IN or {"i", "we"} & {*words}:
        return None
    after = words[3:] if words[2] in lexicon.PREPOSITIONS else words[2:]
    named_object = after[:1] == ["user"] or after[:2] == ["the", "user"]
    if not named_object and not {"me", "us"} & {*words[2 : LEAD_IN + 1]}:
        return None
    first = clause[0]
    if first.word in lexicon.INDEFINITE or first.word in lexicon.WEEKDAYS:
        return None
    named = first.surface[:1].isupper() and first.word not in lexicon.FUNCTION_WORDS
    known = first.word in lexicon.NEGATORS or first.word in lexicon.PERSON_VERBS
    return Subject("name", first.word) if named and not known else None


_NO_NAMES: Final = (
    lexicon.FUNCTION_WORDS | lexicon.PERSON_VERBS | lexicon.SWITCHING | lexicon.ATTRIBUTE_NOUNS
)


def _named_at_length(clause: Sequence[Token]) -> Subject | None:
    """Return the name in "Nadia from accounting approved it"."""
    words = [token for token in clause if not token.is_mark]
    if len(words) <= LEAD_IN or {"i", "we"} & {token.word for token in words}:
        return None
    first, second = words[0], words[1]
    if first.word in _NO_NAMES or not first.surface[:1].isupper() or is_past_form(first):
        return None
    acts = any(is_past_form(t) or looks_like_predicate(t.word) for t in words[LEAD_IN:])
    return Subject("name", first.word) if second.word == "from" and acts else None


def _other_person(clause: Sequence[Token]) -> Subject | None:
    """Return the person that "the man next door plays", "it is my wife's" speak of."""
    last = next((token for token in reversed(clause) if not token.is_mark), None)
    if last is not None and last.owner and last.word in lexicon.KIN:
        return Subject("relation", lexicon.KIN[last.word])
    words = [token.word for token in clause if not token.is_mark]
    if {"i", "we", "me", "us"} & {*words}:
        return None
    if words[:1] and words[0] in lexicon.ARTICLES and (kin := _acting_relation(words)):
        return Subject("relation", kin)
    head = next((word for word in words[:_MAX_SUBJECT] if word in _PERSONS), "")
    opens = bool(words) and (words[0] in lexicon.ARTICLES | lexicon.NEUTER or words[0] in _PERSONS)
    return Subject("pronoun", head) if head and opens else None


def _acting_relation(words: Sequence[str]) -> str:
    """Return the relation of "the client wants", "the new manager is", "" for other phrases."""
    for position, (word, following) in enumerate(pairwise(words[: _MAX_SUBJECT + 2])):
        if word in lexicon.KIN:
            if following == "of" and words[position + 2 : position + 3] in (["mine"], ["ours"]):
                return lexicon.KIN[word]
            return lexicon.KIN[word] if looks_like_predicate(following) else ""
    return ""


_PERSONS: Final = (
    lexicon.MALE
    | lexicon.FEMALE
    | frozenset("person people someone somebody anyone anybody everyone everybody".split())
) - lexicon.THIRD_PERSON


def _foreign_subject(words: Sequence[str], previous: Subject, grammar: Grammar) -> Subject:
    """Return relation for "my X" with kinship X, pronoun for others, principal for "I"."""
    for position, word in enumerate(words[:_MAX_SUBJECT]):
        following = words[position + 1 : position + 3]
        if word in grammar.possessives and any(other in grammar.kin for other in following):
            return Subject("relation", next(o for o in following if o in grammar.kin))
        if word in grammar.principal:
            return Subject("principal")
        if position == 0 and word in grammar.others:
            return Subject("pronoun", word)
    return previous


def named_midway(clause: Sequence[Token]) -> Subject | None:
    """Return the name that a later clause opens with: ", and Dirk reports to me"."""
    words = [token for token in clause if token.word != ENGLISH.joining]
    if len(words) < LEAD_IN or not words[0].surface[:1].isupper():
        return None
    name, verb = words[0], words[1].word
    known = name.word in lexicon.FUNCTION_WORDS or name.word in lexicon.WEEKDAYS
    acts = looks_like_predicate(verb) or (verb.endswith("s") and not verb.endswith("ss"))
    return Subject("name", name.word) if acts and not known and not name.owner else None


def _embedded_relation(clause: Sequence[Token]) -> Subject | None:
    """Return the relation of "I think my sister works ...": a relation followed by its verb."""
    for position, token in enumerate(clause[:-1]):
        if token.word in lexicon.KIN and position:
            owned = clause[position - 1].word in lexicon.POSSESSIVES
            following = clause[position + 1].word
            joined = {"i", "we"} & {t.word for t in clause[position + 1 : position + 3]}
            acts = looks_like_predicate(following) or following in {"to", "who", "that"}
            owned = owned or (following == "who" and clause[position - 1].word in lexicon.ARTICLES)
            if owned and not token.owner and acts and not joined:
                return Subject("relation", lexicon.KIN[token.word])
    return None
