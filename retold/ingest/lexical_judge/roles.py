"""Whether a quote has the parts of a claim the other way round: who did it, to whom, from where."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import is_content
from retold.ingest.lexical_judge.foreign import EXCHANGING
from retold.ingest.lexical_judge.languages import ENGLISH
from retold.ingest.lexical_judge.modality import is_past_form
from retold.ingest.lexical_judge.normalise import Token
from retold.ingest.lexical_judge.quoted import LIKED, Text, stem_of

_PRINCIPAL: Final = "@principal"
_EXCHANGING: Final = frozenset({"from", "to", "for", "with", "before", "after", "over", "into"})
"""Prepositions that tell the two sides of a change, an exchange or a sequence apart."""
_SYMMETRIC: Final = frozenset(
    lexicon.KIN[word]
    for word in (
        "sibling brother sister cousin spouse wife husband partner girlfriend boyfriend fiance "
        "fiancee twin friend colleague neighbour roommate classmate"
    ).split()
)
"""Relations that hold both ways."""
_NEAR: Final = 3
_LONGEST: Final = 40
"""Tokens of one clause whose order is compared."""
_LEADS: Final = lexicon.ARTICLES | lexicon.POSSESSIVES
_FOREIGN_LEADS: Final = frozenset(
    "der die das den dem des ein eine einen einem einer le la les l un une el los las una il lo "
    "gli i o a os as um uma de het een".split()
)


def swaps_roles(said: Text, claim: Text) -> bool:
    """Tell whether the quote says the claim with two of its parts exchanged."""
    if said.grammar is not claim.grammar:
        return False
    links = said.words & EXCHANGING.get(said.grammar.language, _EXCHANGING)
    if any(_exchanges(said, claim, word) for word in links):
        return True
    if said.grammar is not ENGLISH:
        return False
    return (
        _compares_otherwise(said.tokens, claim.tokens)
        or _relates_otherwise(said.tokens, claim.tokens)
        or any(_acts_otherwise(part.tokens, claim.tokens) for part in said.parts)
    )


def swaps_principal(said: Text, claim: Text) -> bool:
    """Tell whether the principal acts where the claim has them acted upon, or the reverse."""
    if said.grammar is not ENGLISH or claim.grammar is not ENGLISH:
        return False
    return any(_acts_otherwise(part.tokens, claim.tokens, _PRINCIPAL) for part in said.parts)


def _exchanges(said: Text, claim: Text, preposition: str) -> bool:
    """Tell whether what follows the preposition in each text stands elsewhere in the other."""
    heard, wanted = _after(said, preposition), _after(claim, preposition)
    if not heard or not wanted or heard & wanted:
        return False
    rest_said = {token.stem for token in said.tokens} - heard
    rest_claim = {token.stem for token in claim.tokens} - wanted
    return bool(wanted & rest_said) and bool(heard & rest_claim)


def _after(text: Text, preposition: str) -> frozenset[str]:
    """Return the content stems of the phrases that the preposition opens."""
    found: set[str] = set()
    for position, token in enumerate(text.tokens):
        if token.word != preposition:
            continue
        for number, following in enumerate(text.tokens[position + 1 : position + 1 + _NEAR]):
            if not number and following.word in _LEADS | _FOREIGN_LEADS:
                continue
            content = stem_of(following, text.grammar) not in {"", LIKED}
            if not content or (preposition == "to" and _acts(following)):
                break
            found.add(following.stem)
    return frozenset(found)


def _acts(token: Token) -> bool:
    """Tell an infinitive ("used to go") from a place."""
    return token.word in lexicon.PERSON_VERBS and not token.surface[:1].isupper()


def _participant(token: Token) -> str:
    if token.word in lexicon.PRINCIPAL and not token.owner and token.word not in {"my", "our"}:
        return _PRINCIPAL
    return token.stem if is_content(token) else ""


def _compared(tokens: Sequence[Token]) -> tuple[str, frozenset[str], frozenset[str]] | None:
    """Return (degree, left, right) of "X is older than Y", "X earns more than Y"; None without."""
    words = [token.word for token in tokens]
    if "than" not in words:
        return None
    place = words.index("than")
    degree = next(
        (
            n
            for n in range(place - 1, max(-1, place - 1 - _NEAR), -1)
            if words[n] in {"more", "less"} or (words[n].endswith("er") and is_content(tokens[n]))
        ),
        -1,
    )
    if degree < 0 or words[degree] in {"rather", "other"}:
        return None
    left = frozenset(_participant(token) for token in tokens[:degree]) - {""}
    right = frozenset(_participant(t) for t in tokens[place + 1 : place + 1 + _NEAR]) - {""}
    return words[degree], left, right


def _compares_otherwise(said: Sequence[Token], claim: Sequence[Token]) -> bool:
    mine, theirs = _compared(said), _compared(claim)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return False
    heard, wanted = mine[1:], theirs[1:]
    crossed = bool(heard[0] & wanted[1] - wanted[0]) and bool(heard[1] & wanted[0] - wanted[1])
    return crossed and not heard[1] & wanted[1]


def _owners(tokens: Sequence[Token]) -> dict[str, str]:
    """Return whose each relation is that the text mentions with an owner before it."""
    out: dict[str, str] = {}
    for before, token in pairwise(tokens):
        if token.word not in lexicon.KIN:
            continue
        if before.word in {"my", "our"} or (before.word == "user" and before.owner):
            out[lexicon.KIN[token.word]] = _PRINCIPAL
        elif before.owner and before.surface[:1].isupper() and before.word not in lexicon.KIN:
            out[lexicon.KIN[token.word]] = before.word
    return out


def _relates_otherwise(said: Sequence[Token], claim: Sequence[Token]) -> bool:
    """Tell whether somebody's boss is the principal in one text, the principal's in the other."""
    heard, wanted = _owners(said), _owners(claim)
    return any(
        relation not in _SYMMETRIC
        and heard[relation] != wanted[relation]
        and _PRINCIPAL in {heard[relation], wanted[relation]}
        for relation in heard.keys() & wanted.keys()
    )


def _acts_otherwise(said: Sequence[Token], claim: Sequence[Token], principal: str = "") -> bool:
    """Tell whether subject and object of a shared verb stand on the other side of it.

    The principal counts as one of them when it has a stem.
    """
    said, claim = said[:_LONGEST], claim[:_LONGEST]
    if _is_passive(said) != _is_passive(claim):
        return False
    heard, wanted = _stems(said, principal), _stems(claim, principal)
    if not ({*heard} & {*wanted}) - {"", principal}:
        return False
    for place, token in enumerate(claim):
        stem = wanted[place]
        if (
            stem in {"", LIKED, "name", _PRINCIPAL}
            or stem not in heard
            or not _is_verb(claim, place)
        ):
            continue
        there = heard.index(stem)
        left, right = set(wanted[:place]) - {""}, set(wanted[place + 1 :]) - {""}
        before, after = set(heard[:there]), set(heard[there + 1 :])
        if (left & after - before) and (right & before - after) and token.word != "than":
            return True
    return False


def _stems(tokens: Sequence[Token], principal: str) -> list[str]:
    """Return the content stems by position; "called my sister" is a call, "called Jo" a name."""
    out: list[str] = []
    for position, token in enumerate(tokens):
        following = tokens[position + 1] if position + 1 < len(tokens) else token
        calls = token.word == "called" and (following.word in _LEADS or following.word == "user")
        stem = token.stem if calls else stem_of(token, ENGLISH)
        out.append(stem or (principal if _participant(token) == _PRINCIPAL else ""))
    return out


def _is_passive(tokens: Sequence[Token]) -> bool:
    return any(
        first.word in lexicon.BE and (is_past_form(second) or second.word.endswith(("en", "ed")))
        for first, second in pairwise(tokens)
    )


def _is_verb(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a word acts: a past form, or a form in "s" or "ing" after its subject."""
    token = tokens[place]
    if not place or token.word in lexicon.KIN:
        return False
    finite = token.word.endswith(("s", "ing")) and token.stem != token.word
    return is_past_form(token) or finite or token.word in lexicon.PERSON_VERBS | _UNCHANGED


_UNCHANGED: Final = frozenset(
    "beat hit cut hurt let put set cost shut split bet burst cast shed spread thrust upset".split()
)
"""Verbs whose past form is their base."""
