"""Why a clause of a quote cannot support a claim."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from retold.ingest.lexical_judge import lexicon, vocabulary
from retold.ingest.lexical_judge.languages import ENGLISH
from retold.ingest.lexical_judge.modality import is_past_form
from retold.ingest.lexical_judge.normalise import Token, snowball
from retold.ingest.lexical_judge.pair import directions_clash
from retold.ingest.lexical_judge.quoted import ALL, Part, Text

_PLACES: Final = frozenset({"in", "at", "inside", "outside"})
"""Prepositions of place: "out of my garage" is no opposite of "in the garage"."""
_AVERSE: Final = frozenset(
    snowball(word)
    for word in (
        "allergic allergy allergies intolerant intolerance averse aversion phobia afraid scared "
        "fear fears sensitive hypersensitive anaphylactic"
    ).split()
)


def counterpart_of(part: Part, claim: Text, asked: Part) -> Part:
    """Return the clause of the claim that shares most with a clause of the quote."""
    shared = [len(part.stems & other.stems) for other in claim.parts]
    return claim.parts[shared.index(max(shared))] if max(shared) else asked


def fault_of(part: Part, claim: Text, asked: Part) -> str:
    """Return the rule by which a clause cannot support the claim, "" when none applies."""
    if part.question:
        return "question"
    if part.frame and not part.frame & claim.stems:
        return "quoted"
    if _only_names(part, claim, asked):
        return "slot"
    if _other_subject(part, claim, asked):
        return "other-subject"
    if part.hypothetical and not any(other.hypothetical for other in claim.parts):
        return "hypothetical"
    if (part.past or _tense_moved(part, claim)) and not asked.past:
        return "past"
    if _differs(part, claim, asked):
        return "polarity"
    return "order" if _reverses(part, claim, asked) else ""


def _reverses(part: Part, claim: Text, asked: Part) -> bool:
    """Tell whether the clause goes the other way: "out of" for "to", "I met Tom" for "Tom met"."""
    if claim.grammar is not ENGLISH:
        return False
    heard = frozenset(token.word for token in part.tokens) - _PLACES
    if directions_clash(heard, claim.words - _PLACES) and part.stems & asked.stems:
        return True
    if asked.subject.kind != "name" or not heard & {"i", "we"}:
        return False
    name = set(asked.subject.key.split("/")[0].split())
    places = [n for n, token in enumerate(part.tokens) if token.word in name]
    shared = [
        n
        for n, token in enumerate(part.tokens)
        if token.stem in asked.stems and token.word not in name
    ]
    return bool(places and shared) and min(shared) < min(places)


def _only_names(part: Part, claim: Text, asked: Part) -> bool:
    """Tell whether the clause says what the principal is called and the claim something else."""
    if "name" not in part.stems or "name" in claim.stems or asked.subject.kind != "principal":
        return False
    if claim.grammar is not ENGLISH:
        return False
    words = {token.word for token in part.tokens}
    return part.subject.kind != "relation" and bool(words & {"me", "i", "my", "user"})


def _other_subject(part: Part, claim: Text, asked: Part) -> bool:
    subject = part.subject
    if asked.subject.kind == "relation":
        if _another_acts(part, asked):
            return True
        if _has_relation(part, asked, claim):
            return False
        if subject.key == "who":
            return False
    if not subject.is_other or not asked.subject.is_principals:
        return False
    if asked.subject.kind != "principal" and not _has_own(part):
        return False
    if subject.kind == "relation":
        employs = subject.key == lexicon.KIN["employer"] and claim.words & _WORKING
        if employs and any(token.word == "employer" for token in part.tokens):
            return False
        narrow = any(
            (subject.key, lexicon.KIN.get(word)) in lexicon.BROADER_KIN for word in claim.words
        )
        return not narrow and subject.key not in {lexicon.KIN.get(w, w) for w in claim.words}
    if subject.kind == "name":
        mentioned = set(subject.key.split("/")[0].split()) <= claim.words
        words = {token.word for token in part.tokens}
        return not (mentioned and words & {"is", "are"} and words & {"my", "our"})
    return subject.key not in claim.words


def _has_relation(part: Part, asked: Part, claim: Text) -> bool:
    """Tell whether a clause mentions the relation; "my neighbour's dog" is not the user's."""
    for before, token in pairwise((part.tokens[0], *part.tokens)):
        if lexicon.names_relation(token.word, asked.subject.key):
            foreign = before.owner and before.word != "user" and before.word not in claim.words
            if not foreign:
                return True
    return False


def _another_acts(part: Part, asked: Part) -> bool:
    """Tell whether the principal or another relation acts where the claim has a relation act."""
    words = {token.word for token in part.tokens}
    if lexicon.mention_relation(words, asked.subject.key):
        return False
    if asked.subject.key in lexicon.COLLECTIVES and words & lexicon.WE:
        return False
    if names_beside_relation(asked) & words:
        return False
    spoken = part.subject.kind == "principal" and bool(words & {"i", "we"})
    return spoken or (part.subject.kind == "relation" and part.subject.key != asked.subject.key)


def names_beside_relation(asked: Part) -> frozenset[str]:
    """Return the names that stand right after a relation: "colleague Tom"."""
    return frozenset(
        name.word
        for token, name in pairwise(asked.tokens)
        if token.word in lexicon.KIN and name.surface[:1].isupper()
    )


def _has_own(part: Part) -> bool:
    """Tell whether the clause's subject has the thing itself: "my wife's birthday", "he has a"."""
    words = {token.word for token in part.tokens}
    named = any(token.owner and token.word != "user" for token in part.tokens)
    return named or bool(words & _OWNING) or part.subject.kind == "pronoun"


_WORKING: Final = frozenset("works work working employed employer".split())
_OWNING: Final = lexicon.HAVE | frozenset("own owns owned got his her hers their theirs".split())
_PERFECT: Final = frozenset("have has had be been being is are am was were get got to".split())


def _tense_moved(part: Part, claim: Text) -> bool:
    """Tell whether the clause puts a verb of the claim into the past: "lived" for "lives"."""
    if claim.grammar is not ENGLISH:
        return _foreign_past(part, claim)
    claimed = {token.word for token in claim.tokens}
    stems = {token.stem for token in claim.tokens}
    words = [token.word for token in part.tokens]
    if {"always", "since", "born"} & set(words):
        return False
    for position, token in enumerate(part.tokens):
        if token.word in claimed:
            continue
        before = words[position - 1] if position else ""
        lead = words[position - 2] if position > 1 else ""
        past = is_past_form(token)
        if token.word in {"was", "were", "had"}:
            if _past_state(part.tokens, position) and not claimed & {"was", "were", "had", "been"}:
                return True
        elif past and token.stem in stems and before not in _PERFECT and lead not in _PERFECT:
            return True
    return False


_ROOTED: Final = ("tete", "teten", "tetest")
"""German "arbeite" is no past beside "arbeitet": the past of such a root repeats its t."""


def _foreign_past(part: Part, claim: Text) -> bool:
    """Tell whether the clause has a verb of the claim with a past ending that the claim lacks."""
    endings = claim.grammar.past_endings
    present = {token.stem for token in claim.tokens if not token.word.endswith(endings)}
    rooted = {token.stem for token in claim.tokens if token.word.endswith("tet")}
    return bool(endings) and any(
        token.word.endswith(endings)
        and token.stem in present
        and not (token.stem in rooted and not token.word.endswith(_ROOTED))
        for token in part.tokens
    )


def _past_state(tokens: Sequence[Token], position: int) -> bool:
    """Tell a past state ("was a nurse", "had a dog") from a passive or a past perfect."""
    for token in tokens[position + 1 : position + 3]:
        if token.word in lexicon.NEGATORS or token.word in lexicon.DEGREE_ADVERBS:
            continue
        participle = token.word.endswith(("ed", "ing")) or token.word in vocabulary.IRREGULAR
        return not participle and token.word != "to"
    return False


def _differs(part: Part, claim: Text, asked: Part) -> bool:
    """Tell whether the clause has the other sign where the claim has its own.

    A negated predicate that the claim does not have negates only itself, but then its object
    supports an aversion only, never a positive claim.
    """
    negative = asked.negated
    if part.attitude and asked.attitude:
        return ((part.attitude < 0) ^ part.negated) != ((asked.attitude < 0) ^ negative)
    if asked.attitude < 0 and not negative and not (part.attitude or part.negated):
        return not part.stems & _AVERSE
    if part.attitude < 0 and not part.negated:
        return not negative and not is_averse(claim)
    if part.attitude > 0 and not part.negated and not negative and claim.stems & _AVERSE:
        return not part.stems & _AVERSE
    if part.negated == negative:
        return False
    if part.negated and is_averse(claim) and not part.stems & _AVERSE and part.predicate != ALL:
        return False
    if part.negated and part.predicate not in claim.stems and part.predicate != ALL:
        return not is_averse(claim) and not (part.stems - {part.predicate}) <= {""}
    return not (negative and asked.attitude < 0)


def is_averse(claim: Text) -> bool:
    """Tell whether the claim is about an aversion, which "can't eat" and "no ..." support."""
    return bool(claim.stems & _AVERSE) or any(part.attitude < 0 for part in claim.parts)


def excludes(quote: Text, claim: Text) -> bool:
    """Tell whether a negated fragment names what the claim affirms: "not spaces"."""
    if any(part.fragment or part.negated for part in claim.parts) or is_averse(claim):
        return False
    return any(
        part.fragment
        and part.negated
        and part.stems
        and part.stems <= claim.stems
        and not (part.tokens[0].word == "from" and "from" in claim.words)
        for part in quote.parts
    )
