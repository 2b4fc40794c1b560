"""Whether English words state a fact, a former state or only a possibility; when."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Literal

from retold.ingest.lexical_judge import lexicon, vocabulary
from retold.ingest.lexical_judge.normalise import Token

Modality = Literal["fact", "past", "hypothetical"]
Tense = Literal["present", "past", "future"]

_AIMS: Final = frozenset(
    "want wants wanted plan plans planned planning hope hopes hoped hoping intend intends intended"
    " intending meaning try tries tried trying"
    " going aim aims aspire aspires".split()
)
_DREAMS: Final = frozenset("thinking think dream dreams dreaming".split())
_ADVISING: Final = frozenset(
    "suggest suggests suggested recommend recommends recommended advise advises advised propose "
    "proposes proposed urge urges urged".split()
)
_SHORT_OF: Final = frozenset({"almost", "nearly"})
_SEEKING: Final = frozenset(
    {("saving", "up"), ("waiting", "list"), ("offered", "a"), ("offered", "the"), ("offered", "me")}
    | {
        (verb, "for")
        for verb in (
            "looking look searching search hunting hunt saving save shopping waiting wait hoping "
            "wishing longing yearning"
        ).split()
    }
)
"""Verbs that seek what they do not have yet."""
_PURPOSES: Final = frozenset("dream goal plan aim ambition wish hope intention".split())
_FUTURE: Final = frozenset({"will", "shall"})


def is_hypothetical(tokens: Sequence[Token]) -> bool:
    """Tell whether the words speak of a possibility, condition, wish or aim."""
    words = [token.word for position, token in enumerate(tokens) if not _is_may(tokens, position)]
    if any(word in lexicon.HYPOTHETICAL or word in lexicon.HYPOTHETICAL_LEADS for word in words):
        return True
    travels = _travels(tokens)
    if any(
        word in _ADVISING and {"i", "me", "we", "us"} & {*words[n + 1 : n + 3]}
        for n, word in enumerate(words)
    ):
        return True
    if ("possible", "that") in pairwise(words):
        return True
    if not _PURPOSES.isdisjoint(words) and ("is", "to") in pairwise(words):
        return True
    return any(
        (first in _AIMS and second == "to" and not (first == "going" and travels))
        or (first, second) in _SEEKING
        or (first in _DREAMS and second in {"of", "about"})
        or (first in {"i", "we"} and second in {"should", "ought"})
        or (first in _SHORT_OF and second not in lexicon.QUANTIFIERS | lexicon.NEGATORS)
        for first, second in pairwise(words)
    )


def _is_may(tokens: Sequence[Token], position: int) -> bool:
    """Tell the month from the auxiliary by its capital letter."""
    token = tokens[position]
    return token.word == "may" and position > 0 and token.surface[:1].isupper()


def _travels(tokens: Sequence[Token]) -> bool:
    """Tell "going to Lyon", "going to the sea" from "going to swim"."""
    for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if first.word == "going" and second.word == "to":
            place = third.surface[:1].isupper() or third.word in lexicon.ARTICLES
            return place or third.word in lexicon.POSSESSIVES
    return False


def is_past(tokens: Sequence[Token]) -> bool:
    """Tell whether the words report a former state: "used to", "formerly", "in the past"."""
    words = [token.word for token in tokens]
    if any(word in lexicon.PAST_MARKERS for word in words):
        return True
    pairs = list(pairwise(words))
    if ("the", "past") in pairs or ("back", "then") in pairs:
        return True
    habits = [n for n, pair in enumerate(pairs) if pair == ("used", "to")]
    accustomed = lexicon.BE | {"get", "got", "getting"}
    return any(not set(words[max(0, n - 2) : n]) & accustomed for n in habits)


def modality_of(tokens: Sequence[Token]) -> Modality:
    """Return the modality of a whole claim; a possibility outweighs the past."""
    if is_hypothetical(tokens):
        return "hypothetical"
    return "past" if is_past(tokens) else "fact"


def tense_of(tokens: Sequence[Token]) -> Tense:
    """Return the tense of the first finite verb that shows one; present when none does."""
    words = [token.word for token in tokens]
    for position, token in enumerate(tokens):
        word = token.word
        before = words[position - 1] if position else ""
        if word in _FUTURE or (word == "to" and before in {"is", "are", "am"}):
            return "future"
        if word == "to" and before == "going" and not _travels(tokens):
            return "future"
        if word in {"has", "have", "is", "are", "am"}:
            return "present"
        if word in vocabulary.IRREGULAR_PAST:
            return "past"
        if is_past_form(token) and position and _may_be_subject(tokens[position - 1]):
            return "past"
    return "present"


def is_past_form(token: Token) -> bool:
    """Tell a past form or participle; in "need" the ending is no ending."""
    regular = token.word.endswith("ed") and token.stem != token.word
    return regular or token.word in vocabulary.IRREGULAR_PAST


def _may_be_subject(token: Token) -> bool:
    """Tell whether a finite verb may follow: a pronoun, a name or an adverb."""
    word = token.word
    if word in lexicon.ARTICLES:
        return False
    person = word in lexicon.PRINCIPAL or word in lexicon.THIRD_PERSON
    return person or word.endswith("ly") or token.surface[:1].isupper()
