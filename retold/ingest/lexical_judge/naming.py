"""Ways to say what somebody is called, folded to one word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.normalise import Token, plain_token

NAME: Final = "name"
_CALLS: Final = frozenset({"call", "calls", "called"})
_CALLERS: Final = frozenset({"i", "we", "he", "she", "they", "you"})
_OF_MARRIAGE: Final = (
    lexicon.PRINCIPAL
    | lexicon.BE
    | lexicon.HAVE
    | lexicon.DEGREE_ADVERBS
    | lexicon.ARTICLES
    | frozenset("happily newly recently legally long now and got get getting".split())
) - frozenset({"was", "were", "had"})


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMING: Final = {
    "german": _set(
        "heiße heißt heißen heiß heisse heisst name namens genannt nenn nenne nennt nennen nennst "
        "rufname spitzname"
    ),
    "french": _set(
        "appelle appelles appelez appellent appeler appelé appelée appelle-moi appelez-moi nom "
        "prénom surnom surnommé surnommée nommé nommée"
    ),
    "spanish": _set(
        "llamo llama llaman llamas llame llamen llámame llámeme llámenme llamarme llamar llamado "
        "llamada nombre apodo"
    ),
    "italian": _set(
        "chiamo chiama chiami chiamano chiamami chiamatemi chiamarmi chiamato chiamata nome "
        "soprannome"
    ),
    "portuguese": _set("chamo chama chamam chame chamem chamado chamada nome apelido"),
    "dutch": _set("heet heten noem noemt noemen genoemd naam bijnaam"),
    "russian": _set("зовут зовите зови звать называй называйте называть имя"),
}
_WISHING: Final = _set(
    "möchte will veut veux souhaite aimerait préfère quiere quiero prefiere desea vuole preferisce "
    "quer prefere wil хочет просит"
)
"""Verbs of wishing, which add nothing to a name: whoever wants to be called Jo is called Jo."""
_SAYING: Final = _set("sag sagt sage sagen")
_TO_ME: Final = frozenset({("zu", "mir"), ("zu", "uns")})


def with_naming(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return English tokens with "call me Jo" as "name me Jo", "married to Jo" with her role.

    Other calls are made by telephone: "I called Jo" names nobody.
    """
    out = list(tokens)
    for position, (first, second, third) in enumerate(zip(out, out[1:], out[2:], strict=False)):
        if first.word in _CALLS and second.word in lexicon.PRINCIPAL and _is_name(third):
            out[position] = Token(first.surface, NAME, NAME)
        elif first.word in _CALLERS and second.word == "called" and _is_name(third):
            out[position + 1] = Token(second.surface, "phoned", "phone")
    place = _spouse_at(out)
    if place:
        out.insert(place, plain_token("spouse")._replace(surface=""))
    return tuple(out)


def _is_name(token: Token) -> bool:
    return token.surface[:1].isupper() or token.word == "user"


def _spouse_at(tokens: Sequence[Token]) -> int:
    """Return where the name of "I'm married to Jo" stands, 0 when nobody's spouse is named."""
    for position in range(len(tokens) - 2):
        if tokens[position].word != "married" or tokens[position + 1].word != "to":
            continue
        name = tokens[position + 2]
        start = position
        while start and not tokens[start - 1].is_mark:
            start -= 1
        lead = {token.word for token in tokens[start:position]}
        if _is_name(name) and name.word != "user" and lead <= _OF_MARRIAGE:
            return position + 2
    return 0


def with_foreign_naming(tokens: tuple[Token, ...], language: str) -> tuple[Token, ...]:
    """Return tokens of another language with every word of naming as "name", wishes left out."""
    naming = _NAMING.get(language, frozenset())
    said = language == "german" and any(
        pair in _TO_ME for pair in pairwise(token.word for token in tokens)
    )
    verbs = naming | _SAYING if said else naming
    if not any(token.word in verbs for token in tokens):
        return tokens
    return tuple(
        Token(token.surface, NAME, NAME) if token.word in verbs else token
        for token in tokens
        if token.word not in _WISHING
    )
