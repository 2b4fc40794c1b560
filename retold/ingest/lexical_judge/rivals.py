"""Where a quote has another value in the place of the claim's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import Claim, parse
from retold.ingest.lexical_judge.languages import ENGLISH, Grammar
from retold.ingest.lexical_judge.modality import is_past_form
from retold.ingest.lexical_judge.normalise import snowball
from retold.ingest.lexical_judge.preference import preference_order
from retold.ingest.lexical_judge.quoted import Part, Text, stem_of
from retold.ingest.lexical_judge.sign_rules import ANTONYM_STEMS
from retold.ingest.lexical_judge.slots import Slot, Value, read_slots, values_differ

_TEMPORAL: Final = frozenset("before after when while until till once since".split())
COLLECTIVE: Final = frozenset(snowball(word) for word in lexicon.COLLECTIVES)
_VALUE_LEADS: Final = lexicon.ARTICLES | lexicon.PREPOSITIONS | lexicon.HAVE


def fills_slot_otherwise(said: Text, wanted: Claim, usable: Sequence[Part]) -> bool:
    """Tell whether usable clauses fill an exclusive slot of the claim with other values only."""
    slots = read_slots(wanted)
    if not slots or said.grammar is not ENGLISH:
        return False
    heard: dict[Slot, list[Value]] = {}
    for part in usable:
        text = " ".join(token.surface for token in part.tokens)
        for slot, values in read_slots(parse(text)).items():
            heard.setdefault(slot, []).extend(values)
    return any(
        slot in heard and values_differ(heard[slot], values) for slot, values in slots.items()
    )


def orders_otherwise(quote: Claim, claim: Claim) -> bool:
    """Tell whether the quote prefers what the claim puts second."""
    said, wanted = preference_order(quote), preference_order(claim)
    if said is None:
        return False
    if wanted is not None:
        return bool(said.better & wanted.worse) and bool(said.worse & wanted.better)
    return bool(said.worse & claim.content) and not said.better & claim.content


def orders_alike(quote: Claim, claim: Claim) -> bool:
    """Tell whether both prefer the same thing to the same other."""
    said = preference_order(quote)
    return said is not None and said == preference_order(claim)


def likes_otherwise(said: Text, claim: Claim) -> bool:
    """Tell whether the quote likes only what the claim puts second, or dislikes what it prefers."""
    wanted = preference_order(claim)
    if wanted is None:
        return False
    liked: frozenset[str] = frozenset()
    disliked: frozenset[str] = frozenset()
    for part in said.parts:
        if part.attitude:
            if (part.attitude > 0) is not part.negated:
                liked |= part.stems
            else:
                disliked |= part.stems
    if liked & wanted.better:
        return False
    return bool(liked & wanted.worse or disliked & wanted.better)


def mixes_clauses(parts: Sequence[Part], asked: Part, grammar: Grammar) -> bool:
    """Tell whether the claim's verb has other objects where it stands, its object another verb.

    "The office is on Elm Road, I live on Oak Lane" does not say who lives on Elm Road.
    """
    predicate = predicate_of(asked, grammar)
    objects = asked.stems - {predicate}
    if not predicate or not objects or asked.subject.kind != "principal":
        return False
    acting = [part for part in parts if predicate in part.stems]
    if not acting or any(part.stems & objects for part in acting):
        return False
    others = [part for part in parts if part.stems & objects]
    busy = all(part.stems - {predicate} for part in acting)
    return (
        busy
        and bool(others)
        and all(any(token.word in lexicon.AUXILIARIES for token in part.tokens) for part in others)
    )


def predicate_of(part: Part, grammar: Grammar) -> str:
    """Return the stem of a clause's own predicate, "" when it has only values."""
    return next((stem for stem, acts in _values(part, grammar) if acts), "")


def _values(part: Part, grammar: Grammar) -> tuple[tuple[str, bool], ...]:
    """Return the content stems in order, each with whether it is a predicate's own word.

    A predicate follows its subject or a form of be directly; what follows an article, a
    preposition or a form of have is a value.
    """
    out: list[tuple[str, bool]] = []
    before = ""
    for position, token in enumerate(part.tokens):
        stem = "" if position in part.used else stem_of(token, grammar)
        if stem and stem not in COLLECTIVE:
            acts = not out and before not in _VALUE_LEADS
            out.append((stem, acts or is_past_form(token)))
        before = token.word
    return tuple(out)


def says_other_value(quote: Text, claim: Text, asked: Part) -> bool:
    """Tell whether a clause equals the claim but for one value, or says an opposite."""
    wanted = _values(asked, claim.grammar)
    return any(
        _one_value_differs(_values(part, quote.grammar), wanted, claim)
        or any(
            frozenset((mine, theirs)) in ANTONYM_STEMS
            for mine in part.stems - claim.stems
            for theirs in asked.stems - quote.stems
        )
        for part in quote.parts
    )


def _one_value_differs(
    heard: Sequence[tuple[str, bool]],
    wanted: Sequence[tuple[str, bool]],
    claim: Text,
) -> bool:
    if len(heard) != len(wanted) or len(wanted) < 2:  # noqa: PLR2004 - a value and its context
        return False
    differing = [pair for pair in zip(heard, wanted, strict=True) if pair[0][0] != pair[1][0]]
    if len(differing) != 1:
        return False
    (mine, mine_acts), (_, theirs_acts) = differing[0]
    return not (mine_acts or theirs_acts) and mine not in claim.stems


def counts_otherwise(said: Text, wanted: frozenset[str]) -> bool:
    """Tell whether the clauses that cover most of the claim's words have other numbers or dates.

    "Bought it in 2019 and renovated it in 2022" does not say that it was bought in 2022.
    """
    values = frozenset(stem for stem in wanted if stem.startswith("#"))
    if values and all(
        _merely_dates(part, wanted - values) for part in said.parts if part.stems & values
    ):
        return True
    covered = [len(part.stems & wanted - values) for part in said.parts]
    if not values or not max(covered):
        return False
    nearest = [p for p, n in zip(said.parts, covered, strict=True) if n == max(covered)]
    held = [{stem for stem in part.stems if stem.startswith("#")} for part in nearest]
    return all(mine and not mine & values for mine in held)


def _merely_dates(part: Part, wanted: frozenset[str]) -> bool:
    """Tell whether a clause "before we ..." gives the time of something that is not the claim's."""
    return part.opener in _TEMPORAL and not part.stems & wanted
