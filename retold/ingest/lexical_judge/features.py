"""The parsed form of one claim, on which every rule works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.modality import Modality, Tense, modality_of, tense_of
from retold.ingest.lexical_judge.normalise import Token, collapse, fold
from retold.ingest.lexical_judge.quantities import Date, Quantities, read_quantities
from retold.ingest.lexical_judge.rewrite import read_tokens
from retold.ingest.lexical_judge.subject import Subject, read_subject

MAX_TOKENS: Final = 300
"""Tokens of a claim that are compared: the ordered comparison is quadratic."""
CACHED_CLAIMS: Final = 1_024
"""Texts whose parsed form is kept: a write compares one claim with some hundred others."""

_EMPTY: Final = lexicon.FUNCTION_WORDS | lexicon.NEGATORS | lexicon.LIKING | lexicon.DISLIKING
_LINKING: Final = lexicon.PREPOSITIONS - lexicon.LIKING
_DETERMINERS: Final = lexicon.ARTICLES | lexicon.POSSESSIVES
_OPENERS: Final = frozenset(
    "there wants prefers likes loves hates dislikes enjoys avoids needs".split()
)
"""Words, beside auxiliaries and negators, with which a clause without a subject begins."""
_CLAUSE_MARKS: Final = frozenset(".;!?。！？；\n")
_CLAUSE_WORDS: Final = frozenset("but although though while whereas because so unless if".split())


@dataclass(frozen=True, slots=True)
class Clause:
    """One predicate of a claim.

    ``compounds`` are triples of neighbouring content stems, the second no participle or adverb,
    the third "" at the end: in "likes running shoes" the object is not "running".
    ``is_partial`` says that only some are spoken of, so that denying it denies nothing of the rest.
    """

    content: frozenset[str] = field(repr=False)
    negated: bool
    attitude: int
    compounds: frozenset[tuple[str, str, str]]
    numbers: frozenset[str]
    dates: frozenset[Date]
    is_partial: bool

    @property
    def sign(self) -> int:
        """Return 1 when the clause affirms or likes, -1 when it denies or dislikes."""
        return (self.attitude or 1) * (-1 if self.negated else 1)

    def affirms(self, denied: frozenset[str]) -> bool:
        """Tell whether what is denied by its stems follows from this clause.

        All stems are here, and none only as the first part of a compound that names another thing.
        """
        return denied <= self.content and not any(
            left in denied and right not in denied and after not in denied
            for left, right, after in self.compounds
        )

    def joined(self, other: Clause) -> Clause:
        """Return both clauses as one; the sign is this one's."""
        return Clause(
            self.content | other.content,
            self.negated,
            self.attitude or other.attitude,
            self.compounds | other.compounds,
            self.numbers | other.numbers,
            self.dates | other.dates,
            self.is_partial or other.is_partial,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """What the rules know about one claim; equal only to itself, so that hashing costs nothing.

    ``content`` are the stems of meaning-bearing words without polarity, negation, numbers or the
    principal; ``sequence`` the same in order; ``attitude`` is 1 for liking, -1 for disliking, 0
    for neither; ``negated`` is the parity of negators of the claim's clauses, joined by or.
    """

    text: str = field(repr=False)
    tokens: tuple[Token, ...]
    words: frozenset[str] = field(repr=False)
    content: frozenset[str] = field(repr=False)
    sequence: tuple[str, ...] = field(repr=False)
    clauses: tuple[Clause, ...]
    subject: Subject
    negated: bool
    attitude: int
    modality: Modality
    tense: Tense
    ends: bool
    quantities: Quantities
    length: int

    @property
    def numbers(self) -> frozenset[str]:
        """Return the values of the numbers, without units."""
        return frozenset(number.value for number in self.quantities.numbers)

    @property
    def statements(self) -> tuple[Clause, ...]:
        """Return the clauses, then their union when there are several of one sign."""
        if len(self.clauses) == 1 or len({clause.sign for clause in self.clauses}) > 1:
            return self.clauses
        return (*self.clauses, reduce(Clause.joined, self.clauses))

    @property
    def is_definite(self) -> bool:
        """Tell whether the subject is one known person or thing, not "a man"."""
        return self.subject.is_definite


def is_content(token: Token) -> bool:
    """Tell whether a token carries meaning: no mark, number, grammar, sign or the principal."""
    return token.word not in _EMPTY and not token.is_mark


def attitude_of(tokens: Sequence[Token]) -> int:
    """Return 1 when the words express liking, -1 for disliking, 0 for neither."""
    for position, token in enumerate(tokens):
        if token.word in lexicon.DISLIKING:
            return -1
        if token.word in lexicon.LIKING and not _is_preposition(tokens, position):
            return 1
    return 0


def _is_preposition(tokens: Sequence[Token], position: int) -> bool:
    """Tell the "like" of comparison: it follows a verb of seeming, a noun or a form of be."""
    if tokens[position].word != "like" or position == 0:
        return False
    before = tokens[position - 1].word
    return before in lexicon.BE or before in frozenset("look looks feel feels sound just".split())


def is_ending(tokens: Sequence[Token], position: int) -> bool:
    """Tell a verb of ending from its doubles: "his left hand", "the end", "on leave"."""
    if tokens[position].word not in lexicon.ENDING:
        return False
    if position and tokens[position - 1].owner:
        return False
    before = tokens[position - 1].word if position else ""
    return before not in _DETERMINERS and before not in _LINKING


def is_negated(tokens: Sequence[Token]) -> bool:
    """Return the parity of the negators."""
    return count_negators(tokens) % 2 == 1


def count_negators(tokens: Sequence[Token]) -> int:
    """Return how many negators there are; "neither ... nor" is one."""
    words = [token.word for token in tokens if token.word in lexicon.NEGATORS]
    return len(words) - (words.count("nor") if "neither" in words else 0)


def split_clauses(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the parts of a claim with a predicate of their own.

    ``and`` and the comma part only when a verb was seen before and a subject, an auxiliary or a
    negator follows; "a man and a woman are singing" stays whole.
    """
    start, seen_verb = 0, False
    for position, token in enumerate(tokens):
        hard = token.word in _CLAUSE_MARKS or token.word in _CLAUSE_WORDS
        soft = (
            token.word in {"and", ",", "or"} and seen_verb and _opens_clause(tokens, position + 1)
        )
        if hard or soft:
            if position > start:
                yield tokens[start:position]
            start, seen_verb = position + 1, False
        elif token.word in lexicon.AUXILIARIES or token.word in lexicon.PERSON_VERBS:
            seen_verb = True
    if start < len(tokens):
        yield tokens[start:]


def _opens_clause(tokens: Sequence[Token], position: int) -> bool:
    if position < len(tokens) and tokens[position].word in {"and", "or"}:
        position += 1
    if position >= len(tokens):
        return False
    word = tokens[position].word
    if word in lexicon.AUXILIARIES or word in lexicon.NEGATORS or word in _OPENERS:
        return True
    starts = word in lexicon.PRINCIPAL or word in lexicon.THIRD_PERSON or word in _DETERMINERS
    return starts and any(
        token.word in lexicon.AUXILIARIES or token.word in lexicon.PERSON_VERBS
        for token in tokens[position + 1 : position + 8]
    )


def _clause(
    tokens: Sequence[Token], quantities: Quantities, inherited: frozenset[str] = frozenset()
) -> Clause:
    stems = [
        token.stem if is_content(token) and position not in quantities.used else ""
        for position, token in enumerate(tokens)
    ]
    compounds = frozenset(
        (left, right, after)
        for left, right, after, token in zip(
            stems, stems[1:], [*stems[2:], ""], tokens[1:], strict=False
        )
        if left and right and not token.word.endswith(("ed", "ing", "ly"))
    )
    return Clause(
        frozenset(stems) - {""} | inherited,
        is_negated(tokens),
        attitude_of(tokens),
        compounds,
        frozenset(number.value for number in quantities.numbers),
        frozenset(quantities.dates),
        any(token.word in lexicon.SOME for token in tokens),
    )


def _clauses(tokens: tuple[Token, ...], quantities: Quantities) -> tuple[Clause, ...]:
    """Return the clauses of a claim; a later one without subject inherits that of the first."""
    out: list[Clause] = []
    subject: frozenset[str] = frozenset()
    for part in split_clauses(tokens):
        if len(part) == len(tokens):
            return (_clause(tokens, quantities),)
        opens_with_verb = part[0].word in lexicon.AUXILIARIES or part[0].word in lexicon.NEGATORS
        inherited = subject if out and opens_with_verb else frozenset()
        out.append(_clause(part, read_quantities(part), inherited))
        if not out[1:]:
            subject = frozenset(t.stem for t in _before_verb(part) if is_content(t))
    return tuple(out) or (_clause((), quantities),)


def _before_verb(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.word in lexicon.AUXILIARIES or token.word in lexicon.PERSON_VERBS:
            return
        yield token


@lru_cache(maxsize=CACHED_CLAIMS)
def parse(text: str) -> Claim:
    """Return the features of a claim; the same object for the same text while it is cached."""
    folded = collapse(fold(text))
    tokens = read_tokens(folded)
    kept = tokens[:MAX_TOKENS]
    quantities = read_quantities(kept)
    content = [
        token.stem
        for position, token in enumerate(kept)
        if position not in quantities.used and is_content(token)
    ]
    clauses = _clauses(kept, quantities)
    return Claim(
        text=folded,
        tokens=kept,
        words=frozenset(token.word for token in kept),
        content=frozenset(content),
        sequence=tuple(content),
        clauses=clauses,
        subject=read_subject(kept),
        negated=any(clause.negated for clause in clauses),
        attitude=next((clause.attitude for clause in clauses if clause.attitude), 0),
        modality=modality_of(kept),
        tense=tense_of(kept),
        ends=any(is_ending(kept, position) for position in range(len(kept))),
        quantities=quantities,
        length=sum(not token.is_mark for token in tokens),
    )
