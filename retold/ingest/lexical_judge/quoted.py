"""The clauses of a quote or claim, read for support in the language it is written in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.actor import actor_of, named_midway
from retold.ingest.lexical_judge.clauses import split_sentences
from retold.ingest.lexical_judge.ellipsis import completed
from retold.ingest.lexical_judge.features import CACHED_CLAIMS, count_negators, is_ending
from retold.ingest.lexical_judge.foreign import is_past_state, is_unreal, stem_foreign
from retold.ingest.lexical_judge.languages import ENGLISH, Grammar, guess, hits
from retold.ingest.lexical_judge.modality import is_hypothetical, is_past
from retold.ingest.lexical_judge.naming import with_foreign_naming, with_naming
from retold.ingest.lexical_judge.normalise import Token
from retold.ingest.lexical_judge.quantities import Quantities, read_quantities
from retold.ingest.lexical_judge.reported import frames_of
from retold.ingest.lexical_judge.rewrite import read_tokens
from retold.ingest.lexical_judge.subject import Subject, read_subject

ALL: Final = "*"
"""Predicate of a clause that is denied as a whole."""
LIKED: Final = "@like"
"""Stem of every verb of liking or disliking; the sign is kept apart."""
_NAMING: Final = frozenset({"name", "named", "called"})
_ELISION: Final = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}:\d{2}|\d+(?:[.,/]\d+)*|[^\W\d_]+(?:-[^\W\d_]+)*|[.!?,;:\n]"
)
_EXCLUDING: Final = (["over"], ["except"], ["excluding"], ["minus"], ["from"])
_FRAGMENT_OPENERS: Final = frozenset("not never no without nor".split()) | {
    word for (word,) in _EXCLUDING
}
_SELDOM: Final = frozenset({"rarely", "seldom", "infrequently"})
"""Adverbs that deny a habit, though not every instance of it."""
_RAISING: Final = frozenset("think believe suppose guess imagine reckon".split())
"""Verbs whose denial means that of what follows: "I don't think I'm allergic"."""
_HAVING: Final = frozenset("own owns owned possess possesses possessed".split())
_DATE_LABELS: Final = frozenset({"date", "day"})
_AGE_LABELS: Final = frozenset({"old", "age"})


@dataclass(frozen=True, slots=True)
class Part:
    """One clause of a text: what it says, of whom, with which sign.

    ``used`` are the positions of numbers and dates in ``tokens``,
    ``frame`` are the stems of the story, song or advertisement that says it, empty for the speaker.
    """

    tokens: tuple[Token, ...]
    stems: frozenset[str] = field(repr=False)
    negated: bool
    attitude: int
    fragment: bool
    predicate: str
    question: bool
    past: bool
    hypothetical: bool
    subject: Subject
    used: frozenset[int]
    opener: str = ""
    frame: frozenset[str] = frozenset()

    @property
    def is_of_thing(self) -> bool:
        """Tell whether the clause has a thing as its subject and a finite verb."""
        read = read_subject(self.tokens)
        verbs = lexicon.BE | lexicon.HAVE | lexicon.MODALS
        return read.kind in {"thing", "name"} and any(t.word in verbs for t in self.tokens)


@dataclass(frozen=True, slots=True)
class Text:
    """One text read for support."""

    grammar: Grammar
    known_words: int
    tokens: tuple[Token, ...]
    quantities: Quantities
    stems: frozenset[str] = field(repr=False)
    parts: tuple[Part, ...]

    @property
    def words(self) -> frozenset[str]:
        """Return the lower-case words."""
        return frozenset(token.word for token in self.tokens)


_DAY_MONTH: Final = re.compile(r"\d{1,2}\.\d{1,2}$")
_ON: Final = frozenset("am vom bis zum ab der den le du el il dal op w".split())


def _is_dated(raw: Sequence[str], position: int) -> bool:
    """Tell "am 17.6." from a number with a fraction."""
    follows = position + 1 < len(raw) and raw[position + 1] == "."
    return follows or (position > 0 and raw[position - 1].lower() in _ON)


def _foreign_tokens(text: str, grammar: Grammar) -> tuple[Token, ...]:
    """Return tokens of a language other than English, its calendar and number words in English."""
    out: list[Token] = []
    raw = _ELISION.findall(text)
    for position, surface in enumerate(raw):
        word = surface.lower()
        following = raw[position + 1].lower() if position + 1 < len(raw) else ""
        dated = position > 0 and raw[position - 1].isdigit() and following in grammar.calendar
        if word in {"de", "."} and dated:
            continue
        if _DAY_MONTH.match(word) and _is_dated(raw, position):
            out.append(Token(surface, word.replace(".", "/"), word))
        elif word in grammar.calendar:
            word = grammar.calendar[word]
            out.append(Token(word.title(), word, word))
        else:
            known = word[0].isalpha()
            stem = stem_foreign(word, surface, grammar.language) if known else word
            out.append(Token(surface, word, stem))
    return tuple(out)


def stem_of(token: Token, grammar: Grammar) -> str:
    """Return what a token counts as in coverage; "" when it carries no content."""
    word = token.word
    if word in grammar.liking or word in grammar.disliking:
        return LIKED
    if (
        token.is_mark
        or word in grammar.function
        or word in grammar.principal
        or word in grammar.negators
        or word in grammar.others
        or word in _HAVING
    ):
        return ""
    return "name" if word in _NAMING and grammar is ENGLISH else token.stem


def _part(clause: tuple[Token, ...], previous: Subject, grammar: Grammar, *, asks: bool) -> Part:
    words = [token.word for token in clause if not token.is_mark]
    quantities = read_quantities(clause)
    stems = _content(clause, quantities, grammar)
    openers = _FRAGMENT_OPENERS | grammar.negators
    own = frozenset(
        word for word in words if word in lexicon.AUXILIARIES or word in grammar.principal
    )
    disliked = any(word in grammar.disliking for word in words)
    liked = any(word in grammar.liking for word in words)
    ends = any(
        word in grammar.ending and (grammar is not ENGLISH or is_ending(clause, position))
        for position, word in enumerate(token.word for token in clause)
    )
    negators = sum(word in _SELDOM for word in words)
    if grammar is ENGLISH:
        negators += count_negators(clause)
    else:
        negators += sum(word in grammar.negators for word in words)
    concord = grammar is not ENGLISH and negators > 0
    return Part(
        tokens=clause,
        stems=stems,
        negated=concord or (negators + ends) % 2 == 1 or words[0:1] in _EXCLUDING,
        attitude=-1 if disliked else 1 if liked else 0,
        fragment=bool(words) and words[0] in openers and not own,
        predicate=_negated_predicate(clause, grammar),
        question=asks,
        past=_is_past(clause, grammar),
        hypothetical=_is_hypothetical(clause, grammar),
        subject=actor_of(clause, previous, grammar),
        used=quantities.used,
    )


def _content(tokens: Sequence[Token], quantities: Quantities, grammar: Grammar) -> frozenset[str]:
    stems = {
        stem_of(token, grammar)
        for position, token in enumerate(tokens)
        if position not in quantities.used
    }
    if quantities.dates:
        stems -= _DATE_LABELS
    if any(number.unit == "year" for number in quantities.numbers):
        stems -= _AGE_LABELS
    stems |= {f"#{number.value}" for number in quantities.numbers}
    stems |= {f"#{value}" for value in quantities.ordinals}
    stems |= {f"#{d.month}/{d.day}/{d.weekday}" for d in quantities.dates}
    return frozenset(stems - {""})


def _negated_predicate(clause: Sequence[Token], grammar: Grammar) -> str:
    """Return the stem of the first content word after the first negator, "" without one."""
    seen = False
    negating = grammar.negators | grammar.ending | _SELDOM
    for token in clause:
        if token.word in negating:
            seen = True
        elif seen and grammar is ENGLISH and token.word in _RAISING:
            continue
        elif seen and (stem := stem_of(token, grammar)):
            return stem
    return ""


def _is_past(clause: Sequence[Token], grammar: Grammar) -> bool:
    if grammar is ENGLISH:
        return is_past(clause)
    former = any(token.word in grammar.past for token in clause)
    return former or is_past_state(clause, grammar.language)


def _is_hypothetical(clause: Sequence[Token], grammar: Grammar) -> bool:
    if grammar is ENGLISH:
        return is_hypothetical(clause)
    possible = any(token.word in grammar.hypothetical for token in clause)
    return possible or is_unreal(clause, grammar.language)


def _denies_all(part: Part) -> bool:
    """Tell "but I'm not": a denial without content denies what was just said."""
    words = {token.word for token in part.tokens}
    return part.negated and not part.stems and bool(words & lexicon.AUXILIARIES)


class Words(NamedTuple):
    """The tokens of a text in its language, and how many of its function words are known there."""

    grammar: Grammar
    known: int
    tokens: tuple[Token, ...]


@lru_cache(maxsize=CACHED_CLAIMS)
def read_words(text: str, hint: Grammar = ENGLISH) -> Words:
    """Return the tokens of a folded text in the language its function words point to."""
    tokens = with_naming(read_tokens(text))
    plain = tuple(match.group() for match in _ELISION.finditer(text))
    grammar, known = guess(plain, hint)
    english = hits(tuple(token.word for token in tokens), ENGLISH)
    if english > known or (english == known and grammar is not hint):
        grammar, known = ENGLISH, english
    if grammar is not ENGLISH:
        tokens = with_foreign_naming(_foreign_tokens(text, grammar), grammar.language)
    return Words(grammar, known, tokens)


def content_stems(read: Words) -> frozenset[str]:
    """Return the ``stems`` that ``read_text`` finds, without reading what the clauses say."""
    sentences = split_sentences(read.tokens, read.grammar)
    clauses = [clause.tokens for found, _ in sentences for clause in found]
    stems = (_content(tokens, read_quantities(tokens), read.grammar) for tokens in clauses)
    return frozenset().union(*stems)


@lru_cache(maxsize=CACHED_CLAIMS)
def read_text(text: str, hint: Grammar = ENGLISH) -> Text:
    """Return the clauses of a folded text in the language its function words point to."""
    grammar, known, tokens = read_words(text, hint)
    parts: list[Part] = []
    for cut, asks in split_sentences(tokens, grammar):
        clauses = completed(cut) if grammar is ENGLISH else cut
        subject = Subject("principal")
        frames = frames_of(clauses)
        for number, clause in enumerate(clauses):
            part = _part(clause.tokens, subject, grammar, asks=asks and not clause.is_given)
            named = named_midway(clause.tokens) if number else None
            subject = part.subject if named is None else named
            if parts and _denies_all(part):
                parts[-1] = replace(parts[-1], negated=not parts[-1].negated, predicate=ALL)
            else:
                parts.append(
                    replace(part, subject=subject, opener=clause.opener, frame=frames[number])
                )
    stems = frozenset(stem for part in parts for stem in part.stems)
    return Text(grammar, known, tokens, read_quantities(tokens), stems, tuple(parts))
