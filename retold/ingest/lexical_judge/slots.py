"""Personal attributes of which a person has one value at a time, read from a claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import CACHED_CLAIMS, Claim, is_content
from retold.ingest.lexical_judge.normalise import Token

_MAX_LABEL: Final = 6
_MAX_VALUE: Final = 6
_OLDEST: Final = 130
_IS: Final = frozenset("is are am".split())
_LIVING: Final = frozenset("live lives living reside resides residing based".split())
_MOVING: Final = frozenset("moved relocated moving relocating move moves".split())
_WORKING: Final = frozenset("work works working employed".split())
_MAKING: Final = frozenset("written implemented built coded rewritten programmed".split())
_IN: Final = frozenset({"in", "at"})

_PATTERNS: Final[tuple[tuple[str, tuple[frozenset[str], ...]], ...]] = (
    ("home", (_LIVING, _IN)),
    ("home", (_MOVING, frozenset({"to"}))),
    ("home", (frozenset({"home"}), _IS)),
    ("name", (frozenset({"name"}), _IS)),
    ("name", (_IS, frozenset({"called", "named", "name"}))),
    ("employer", (_WORKING, frozenset({"at", "for", "by"}))),
    ("employer", (frozenset({"joined"}),)),
    ("employer", (frozenset({"employer"}), _IS)),
    ("birthplace", (frozenset({"born"}), frozenset({"in"}))),
    ("birthplace", (frozenset({"birthplace"}), _IS)),
    ("venue", (frozenset({"held", "hosted"}), _IN)),
    ("timezone", (frozenset({"timezone"}), _IS)),
    ("commute", (frozenset("commute commutes commuting".split()), frozenset({"by", "on"}))),
    ("written-in", (_MAKING, frozenset({"in"}))),
    ("spouse", (frozenset({"married"}), frozenset({"to"}))),
    ("nationality", (frozenset({"citizen"}), frozenset({"of"}))),
    ("nationality", (frozenset({"nationality"}), _IS)),
    ("first-language", (frozenset({"native"}), frozenset({"language"}), _IS)),
)
"""Slot by the words that lead to its value; adverbs of degree may stand between."""

_BY_FIRST_WORD: Final = {
    word: tuple(entry for entry in _PATTERNS if word in entry[1][0])
    for _, first, *_ in ((name, *pattern) for name, pattern in _PATTERNS)
    for word in first
}

_OF_THINGS: Final = frozenset({"written-in", "venue"})
_ONCE: Final = frozenset(
    "wedding ceremony graduation funeral christening baptism honeymoon reunion offsite conference "
    "summit launch hearing trial defence defense".split()
)
"""Events that take place once, and so in one place."""
_ANY_VALUE: Final = frozenset({"timezone", "commute"})

Value = tuple[str, ...]
"""The lower-case words of one value."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of one subject; ``key`` tells favourites of different kinds apart."""

    name: str
    key: str = ""


def _after(tokens: Sequence[Token], start: int, pattern: Sequence[frozenset[str]]) -> int:
    """Return the position after the pattern when it starts here, else 0."""
    position = start
    for number, words in enumerate(pattern):
        while number and position < len(tokens) and tokens[position].word in lexicon.DEGREE_ADVERBS:
            position += 1
        if position >= len(tokens) or tokens[position].word not in words:
            return 0
        position += 1
    return position


def _past_origin(tokens: Sequence[Token], start: int) -> int:
    """Return the position of "to" in "moved from X to Y", else the position given."""
    if start < len(tokens) and tokens[start].word in {"from", "back"}:
        for position in range(start, min(start + _MAX_VALUE, len(tokens))):
            if tokens[position].word == "to":
                return position
    return start


def _name_at(tokens: Sequence[Token], start: int, *, lower: bool) -> tuple[str, ...]:
    """Return the words of the name that starts here, lower-cased; () when none does.

    In a text without capitals one content word counts as the name.
    """
    while start < len(tokens) and (
        tokens[start].word in lexicon.DEGREE_ADVERBS or tokens[start].word == "the"
    ):
        start += 1
    if lower:
        follows = start < len(tokens) and is_content(tokens[start])
        return (tokens[start].word,) if follows and tokens[start].word.isalpha() else ()
    words: list[str] = []
    for token in tokens[start : start + _MAX_VALUE]:
        if not token.surface[:1].isupper() or token.is_mark:
            break
        words.append(token.word)
    return tuple(words)


def _is_lower(claim: Claim) -> bool:
    return (
        not any(
            token.surface[:1].isupper() and token.word not in lexicon.PRINCIPAL
            for token in claim.tokens[1:]
        )
        and not claim.tokens[0].surface[:1].isupper()
    )


def _patterned(claim: Claim) -> Iterator[tuple[Slot, tuple[str, ...]]]:
    lower = bool(claim.tokens) and _is_lower(claim)
    for start, token in enumerate(claim.tokens):
        for name, pattern in _BY_FIRST_WORD.get(token.word, ()):
            after = start + 1
            if pattern[0] is _MOVING:
                after = _past_origin(claim.tokens, after)
            after = _after(claim.tokens, after, pattern[1:]) if pattern[1:] else after
            if after:
                value = _name_at(claim.tokens, after, lower=lower or name in _ANY_VALUE)
                if not value or value[0] in lexicon.MONTHS:
                    continue
                if name == "venue" and claim.words.isdisjoint(_ONCE):
                    continue
                yield Slot(name, _thing(claim) if name in _OF_THINGS else ""), value


def _thing(claim: Claim) -> str:
    """Return the content before the verb: what is written in a language."""
    stems: list[str] = []
    for token in claim.tokens:
        if token.word in lexicon.AUXILIARIES or token.word in _MAKING:
            break
        if is_content(token):
            stems.append(token.stem)
    return " ".join(sorted(stems))


def _age(claim: Claim) -> Iterator[tuple[Slot, tuple[str, ...]]]:
    words = [token.word for token in claim.tokens if not token.is_mark]
    for number in claim.quantities.numbers:
        if not number.value.isdigit() or int(number.value) > _OLDEST:
            continue
        says_old = number.unit == "year" and "old" in words
        bare = number.unit == "" and number.before in {"is", "am", "turn", "age", "be"}
        ends = bool(words) and words[-1] in {number.value, "old"}
        plain = claim.subject.kind in {"principal", "relation", "name"} or "age" in words
        if plain and (says_old or (bare and (ends or "age" in words))):
            yield Slot("age"), (number.value,)


def _favourite(claim: Claim) -> Iterator[tuple[Slot, tuple[str, ...]]]:
    words = [token.word for token in claim.tokens]
    for lead in ("favourite", "favorite"):
        if lead not in words:
            continue
        start = words.index(lead) + 1
        for position in range(start, min(start + _MAX_LABEL, len(words))):
            if words[position] in _IS | {":"}:
                key = " ".join(sorted(t.stem for t in claim.tokens[start:position]))
                value = tuple(t.stem for t in claim.tokens[position + 1 :] if is_content(t))
                if key and value:
                    yield Slot("favourite", key), value
                break


def _birth_year(claim: Claim) -> Iterator[tuple[Slot, tuple[str, ...]]]:
    if "born" not in claim.words:
        return
    for number in claim.quantities.numbers:
        if len(number.value) == len("1990") and number.value[:2] in {"19", "20"}:
            yield Slot("birth-year"), (number.value,)
    for date in claim.quantities.dates:
        if date.year:
            yield Slot("birth-year"), (str(date.year),)


@lru_cache(maxsize=CACHED_CLAIMS)
def read_slots(claim: Claim) -> Mapping[Slot, tuple[Value, ...]]:
    """Return the slots that a claim fills, each with all its values in order."""
    found: dict[Slot, list[Value]] = {}
    for reader in (_patterned, _age, _favourite, _birth_year):
        for slot, value in reader(claim):
            found.setdefault(slot, []).append(value)
    return {slot: tuple(values) for slot, values in found.items()}


def values_differ(mine: Sequence[Value], theirs: Sequence[Value]) -> bool:
    """Tell whether no value of one side contains a value of the other ("Oslo, Norway", "Oslo")."""
    return not any(
        set(left) <= set(right) or set(right) <= set(left) for left in mine for right in theirs
    )
