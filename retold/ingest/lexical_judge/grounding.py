"""What a claim may not add to its quote: numbers, dates, proper names."""

from __future__ import annotations

from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.clauses import SENTENCE_END
from retold.ingest.lexical_judge.languages import ENGLISH
from retold.ingest.lexical_judge.naming import NAME
from retold.ingest.lexical_judge.normalise import snowball
from retold.ingest.lexical_judge.quantities import Date, Number, Quantities
from retold.ingest.lexical_judge.quoted import LIKED, Text, stem_of
from retold.ingest.lexical_judge.subject import Subject

_PLACE_LEADS: Final = frozenset("in aus bei nach von heiße heiß heißt heisst namens".split())


def missing_number(quote: Quantities, claim: Quantities) -> bool:
    """Tell whether the claim has a number, unit or ordinal that the quote has not."""
    said = {number.value for number in quote.numbers}
    said |= {str(date.year) for date in quote.dates if date.year}
    said |= {str(value) for value in quote.ordinals}
    said |= {_plain_hour(number) for number in quote.numbers}
    counted = {number.unit for number in quote.numbers if number.unit}
    for number in claim.numbers:
        if number.value not in said and not _same_hour(number, said):
            return True
        twin = [other for other in quote.numbers if other.value == number.value]
        if twin and all(_other_unit(other, number, counted) for other in twin):
            return True
    return not claim.ordinals <= quote.ordinals


def _same_hour(number: Number, said: set[str]) -> bool:
    """Tell whether a time of day is said as a plain hour ("at 7")."""
    if not number.value.startswith("t"):
        return False
    return _plain_hour(number) in said


def _plain_hour(number: Number) -> str:
    """Return a full hour as one says it without the half of the day, else the value."""
    minutes = int(number.value[1:]) if number.value.startswith("t") else -1
    return number.value if minutes % 60 else str((minutes // 60 - 1) % 12 + 1)


def _other_unit(said: Number, wanted: Number, counted: set[str]) -> bool:
    """Tell whether the same number counts something else: dollars for euros, cats for dogs."""
    if not said.unit or not wanted.unit or said.unit == wanted.unit:
        return False
    measures = set(lexicon.UNITS.values())
    return {said.unit, wanted.unit} <= measures or wanted.unit in counted


def missing_date(quote: Quantities, claim: Quantities) -> bool:
    """Tell whether the claim has a date that no date of the quote covers."""
    return any(not any(_covers(said, wanted) for said in quote.dates) for wanted in claim.dates)


def _covers(said: Date, wanted: Date) -> bool:
    """Tell whether a date says every part of the wanted one; a year may come from the context."""
    if said.year and wanted.year and said.year != wanted.year:
        return False
    if wanted.year and not (wanted.month or wanted.weekday) and said.year != wanted.year:
        return False
    return (
        wanted.month in {0, said.month}
        and wanted.day in {0, said.day}
        and wanted.weekday in {0, said.weekday}
    )


def proper_names(claim: Text) -> frozenset[str]:
    """Return the lower-case words of proper names, the principal's already folded away."""
    if claim.grammar.language == "german":
        return frozenset(
            right.word
            for left, right in zip(claim.tokens, claim.tokens[1:], strict=False)
            if left.word in _PLACE_LEADS and right.surface[:1].isupper()
        ) | _german_names(claim)
    used = claim.quantities.used
    found = {
        token.word
        for position, token in enumerate(claim.tokens)
        if position
        and token.surface[:1].isupper()
        and position not in used
        and claim.tokens[position - 1].word not in SENTENCE_END | {":"}
        and stem_of(token, claim.grammar) not in {"", LIKED}
    }
    found |= {token.word for token in claim.tokens if _is_identifier(token.word)}
    subject = claim.parts[0].subject if claim.parts else Subject("principal")
    if claim.grammar is ENGLISH and subject.kind == "name":
        found |= set(subject.key.split("/")[0].split())
    return frozenset(found)


def _german_names(claim: Text) -> frozenset[str]:
    """Return the capitalised words beside a word of naming, nouns of persons aside."""
    known = claim.grammar.closed_class | claim.grammar.kin | {NAME}
    return frozenset(
        token.word
        for position, token in enumerate(claim.tokens)
        if token.word == NAME
        for token in claim.tokens[max(0, position - 2) : position + 3]
        if token.surface[:1].isupper() and token.word not in known
    )


def _is_identifier(word: str) -> bool:
    """Tell an address, a path or a name with a number in it: "a@b.c", "eu-west-1"."""
    if not word[0].isalpha():
        return False
    numbered = "-" in word and any(char.isdigit() for char in word)
    return numbered or bool({"@", "."} & {*word[1:-1]})


def missing_name(quote: Text, claim: Text) -> bool:
    """Tell whether the claim has a proper name or an address that the quote has not.

    Whose something is ("Karl's laptop") is not what somebody is called.
    """
    named = "name" in claim.stems
    heard = [token for token in quote.tokens if not (named and token.owner)]
    words, stems = {token.word for token in heard}, {token.stem for token in heard}
    return any(name not in words and snowball(name) not in stems for name in proper_names(claim))
