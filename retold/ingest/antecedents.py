"""Whom "he" or "she" means, where only one person can be meant; pure, for English.

Whoever was spoken of before counts: kin, acquaintances and trades by their noun, anybody else by a
name. With two who fit, or none, the pronoun stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.subject import looks_like_predicate
from retold.policy.tense import is_past
from retold.text import normalize_alias

Gender = Literal["she", "he", ""]

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END: Final = re.compile(r"[.!?:\n\"“”]")
_PRONOUN: Final = re.compile(
    r"\b(?P<word>s?he|him|her|his)\b(?P<short>['’](?:s|ll|d)\b)?"
    r"(?=(?P<after>\s+[^\W\d_]+)?)",
    re.IGNORECASE,
)
_MAX_BEFORE_CHARS: Final = 4000
_NOUN_REACH: Final = 3

_FEMALE: Final = lexicon.FEMALE | frozenset(
    """mother mom mum mommy mummy mama ma sister sisters sis wife girlfriend fiancee fiancée
    daughter daughters grandmother grandma granny nana granddaughter granddaughters aunt aunts
    auntie niece nieces stepmother stepmom stepmum stepsister stepdaughter godmother goddaughter
    landlady""".split()
)
_MALE: Final = lexicon.MALE | frozenset(
    """father dad daddy papa pa brother brothers bro husband boyfriend fiance fiancé son sons
    grandfather grandpa granddad grandson grandsons uncle uncles nephew nephews stepfather stepdad
    stepbrother stepson godfather godson landlord""".split()
)
_GROUPS: Final = frozenset("team company employer family folks inlaws hire".split())
_OTHERS: Final = frozenset(
    """person people man men woman women guy guys girl girls boy boys lady ladies gentleman nurse
    vet chef cook clerk pilot judge priest guest host tenant patient stranger driver waiter waitress
    baker painter gardener cleaner director officer designer developer photographer singer dancer
    player owner seller buyer visitor author actor actress editor minister pastor tailor founder
    carer banker farmer writer speaker leader carpenter housekeeper lodger cashier engineer
    policeman policewoman salesman businessman""".split()
)
_RELATIONS: Final = lexicon.KIN.keys() - _GROUPS
_TRADES: Final = re.compile(r"\w{4,}(?:[^l]ist|ician|ologist)s?")
_OWNERS: Final = frozenset("my our your".split())
_DETERMINERS: Final = _OWNERS | frozenset("his her their the a an this that some one".split())
_NOT_NAMES: Final = (
    lexicon.FUNCTION_WORDS
    | lexicon.MONTHS.keys()
    | lexicon.WEEKDAYS.keys()
    | frozenset("mr mrs ms dr miss sir".split())
)
_PLACE_LEADS: Final = frozenset({"in", "near"})


@dataclass(frozen=True, slots=True)
class _Person:
    """Somebody who was spoken of: how, whose, by which noun and name."""

    phrase: str = field(repr=False)
    owner: str = field(repr=False)
    noun: str = field(repr=False)
    name: str = field(repr=False)
    gender: Gender
    end: int

    def is_same(self, other: _Person) -> bool:
        """Return whether two mentions are of one person."""
        if self.name and other.name:
            return self.name == other.name
        return bool(self.noun) and (self.noun, self.owner) == (other.noun, other.owner)


def with_antecedents(text: str, before: str, names: Sequence[str]) -> str:
    """Return the text with "he" and "she" said as the one person they can mean.

    ``before`` is what was said up to the text, ``names`` are those of the principal, who is never
    meant. The text is returned as it is when it has no such pronoun or when any is not clear.
    """
    pronouns = list(_PRONOUN.finditer(text))
    if not pronouns:
        return text
    earlier = before[-_MAX_BEFORE_CHARS:] + "\n"
    persons = list(_persons(earlier + text, names))
    pieces: list[str] = []
    done = 0
    for found in pronouns:
        known = [one for one in persons if one.end <= len(earlier) + found.start()]
        phrase = _meant(known, "she" if found["word"].lower() in ("she", "her") else "he")
        if phrase is None:
            return text
        said, end = _said(found, phrase)
        pieces += [text[done : found.start()], said]
        done = end
    return "".join((*pieces, text[done:]))


def _meant(known: Sequence[_Person], gender: Gender) -> str | None:
    """Return how the only person of a gender was spoken of; None for none or several."""
    fitting = [one for one in known if one.gender in (gender, "")]
    if not fitting:
        return None
    fullest = max(fitting, key=lambda one: (bool(one.name) + bool(one.noun), one.end))
    if not all(one.is_same(fullest) for one in fitting):
        return None
    return fullest.phrase or None


def _said(found: re.Match[str], phrase: str) -> tuple[str, int]:
    """Return what stands for a pronoun, and where what it replaces ends."""
    word, after = found["word"].lower(), (found["after"] or "").strip().lower()
    if found["short"]:
        verb = {"ll": "will", "d": "would"}.get(found["short"][1:].lower())
        return f"{phrase} {verb or ('has' if _is_perfect(after) else 'is')}", found.end("short")
    owns = word == "his" or (word == "her" and after and after not in lexicon.FUNCTION_WORDS)
    return (f"{phrase}'s" if owns else phrase), found.end("word")


def _is_perfect(after: str) -> bool:
    return after in ("been", "got", "had")


def _persons(text: str, names: Sequence[str]) -> Iterator[_Person]:
    """Yield the persons of a text in order; the principal is none."""
    own = {word for name in names for word in normalize_alias(name).split()}
    words = list(_WORD.finditer(text))
    named_to = 0
    for place in range(len(words)):
        if place < named_to:
            continue
        if _is_person(words, place):
            name = _name_at(words, place + 1, text, own, follows=True)
            named_to = place + 1 + len(name)
            yield _related(words, place, name)
        elif name := _name_at(words, place, text, own, follows=False):
            named_to = place + len(name)
            phrase = " ".join(_surface(one) for one in name)
            yield _Person(phrase, "", "", _bare(name[0]), "", name[-1].end())


def _is_person(words: Sequence[re.Match[str]], place: int) -> bool:
    """Return whether a noun names a person; one of a trade only behind a determiner."""
    word = _bare(words[place])
    if word in _RELATIONS or word.endswith("-in-law"):
        return True
    if word not in _OTHERS and _TRADES.fullmatch(word) is None:
        return False
    near = words[max(place - _NOUN_REACH, 0) : place]
    return any(one[0].lower() in _DETERMINERS for one in near)


def _related(words: Sequence[re.Match[str]], place: int, name: Sequence[re.Match[str]]) -> _Person:
    noun = _bare(words[place])
    lead = next(
        (
            n
            for n in range(place - 1, max(place - 1 - _NOUN_REACH, -1), -1)
            if words[n][0].lower() in _DETERMINERS or words[n][0].endswith(("'s", "’s"))
        ),
        None,
    )
    owner = "" if lead is None else words[lead][0].lower()
    inner = [] if lead is None else [one[0] for one in words[lead + 1 : place]]
    said = [*inner, _surface(words[place]), *(_surface(one) for one in name)]
    end = name[-1].end() if name else words[place].end()
    called = _bare(name[0]) if name else ""
    if owner in _OWNERS:
        first = "our" if owner == "our" else "my"
        return _Person(" ".join((first, *said)), "me", _key(noun), called, _gender(noun), end)
    if called or owner in ("the", "this", "that", "a", "an", "some", "one"):
        phrase = " ".join(said) if called else " ".join(("the", *said))
        return _Person(phrase, "the", _key(noun), called, _gender(noun), end)
    # "her mother" and "Tom's boss" are persons whom no phrase of the user's names.
    return _Person("", owner, _key(noun), called, _gender(noun), end)


def _name_at(
    words: Sequence[re.Match[str]], place: int, text: str, own: set[str], *, follows: bool
) -> list[re.Match[str]]:
    """Return the words of a name that begins there: capitalised, and not only as a sentence is.

    ``follows`` says that it has to stand right after the word before it.
    """
    found: list[re.Match[str]] = []
    for one in words[place : place + 3]:
        gap = text[words[place - 1].end() : one.start()] if place else "\n"
        joined = text[found[-1].end() : one.start()] == " " if found else True
        if not found and follows and gap not in (" ", ", "):
            break
        if not joined or not one[0][0].isupper() or _bare(one) in _NOT_NAMES | own:
            break
        if not found and not follows and not _is_named(words, place, gap):
            break
        found.append(one)
    return found


def _is_named(words: Sequence[re.Match[str]], place: int, gap: str) -> bool:
    """Return whether a capitalised word is a name: not a place, and not just a sentence's first."""
    before = words[place - 1][0].lower() if place else ""
    if _SENTENCE_END.search(gap) is None and place:
        return before not in _PLACE_LEADS
    after = words[place + 1][0].lower() if place + 1 < len(words) else ""
    acts = looks_like_predicate(after) or is_past(after) or after.endswith("s") or after == "and"
    return acts or words[place][0].endswith(("'s", "’s"))


def _gender(noun: str) -> Gender:
    base = noun.split("-", maxsplit=1)[0]
    return "she" if base in _FEMALE else "he" if base in _MALE else ""


def _key(noun: str) -> str:
    return lexicon.KIN.get(noun, noun)


def _surface(found: re.Match[str]) -> str:
    return re.sub(r"['’]s$", "", found[0])


def _bare(found: re.Match[str]) -> str:
    return _surface(found).lower()
