"""Whom or what a claim is about, read from its first noun phrase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from retold.ingest.lexical_judge import lexicon, vocabulary
from retold.ingest.lexical_judge.modality import is_past_form
from retold.ingest.lexical_judge.normalise import Token

SubjectKind = Literal["principal", "possession", "relation", "name", "pronoun", "thing"]

_LEADS: Final = frozenset(
    "now today currently also please always never usually and so but yes no well often the both"
    " actually".split()
)
LEAD_IN: Final = 3
"""Words that show what opens a clause."""
_MAX_PHRASE: Final = 4
_BARE_VERBS: Final = lexicon.PERSON_VERBS | lexicon.LIKING | lexicon.DISLIKING
_PERSONAL: Final = (lexicon.PERSON_VERBS | lexicon.LIKING | lexicon.DISLIKING) - lexicon.AUXILIARIES


@dataclass(frozen=True, slots=True)
class Subject:
    """The topic of a claim.

    ``kind``: principal (spoken to or of, also implied), possession (something of the
    principal's), relation (a person or animal of the principal's), name (a named other, or
    something of theirs), pronoun, thing (any other noun).  ``key`` tells two of one kind apart.
    """

    kind: SubjectKind
    key: str = ""

    @property
    def is_definite(self) -> bool:
        """Tell whether two claims with this subject must speak of the same referent."""
        return self.kind in {"principal", "possession", "relation", "name"}

    @property
    def is_principals(self) -> bool:
        """Tell whether this is the principal, something or somebody of the principal's."""
        return self.kind in {"principal", "possession", "relation"}

    @property
    def is_other(self) -> bool:
        """Tell whether this is certainly somebody else than the principal."""
        return self.kind in {"relation", "name", "pronoun"}


PRINCIPAL: Final = Subject("principal")


def read_subject(tokens: Sequence[Token]) -> Subject:
    """Return the subject of the first clause; a bare verb phrase is about the principal."""
    rest = [token for token in tokens if not token.is_mark]
    while len(rest) > 1 and rest[0].word in _LEADS and not _starts_possession(rest):
        rest = rest[1:]
    if not rest:
        return PRINCIPAL
    first = rest[0]
    if first.word in lexicon.PREPOSITIONS or first.word in lexicon.QUANTIFIERS:
        return _after_adverbial(rest)
    if _starts_possession(rest):
        return _possession(rest[1:])
    if first.word in lexicon.PRINCIPAL:
        return PRINCIPAL
    if first.word in {"his", "her", "their"} or first.word in lexicon.THIRD_PERSON:
        return Subject("pronoun", first.word)
    if first.word in _BARE_VERBS:
        return PRINCIPAL
    return _named(rest) or Subject("thing", _head(rest))


def _after_adverbial(tokens: Sequence[Token]) -> Subject:
    """Return the principal of "On Fridays the user ...", a thing when none follows soon."""
    near = tokens[1 : _MAX_PHRASE + 1]
    if any(token.word in lexicon.PRINCIPAL and not token.owner for token in near):
        return PRINCIPAL
    return Subject("thing", _head(tokens))


def _starts_possession(tokens: Sequence[Token]) -> bool:
    first = tokens[0]
    return first.word in {"my", "our"} or (first.word == "user" and first.owner)


def _possession(tokens: Sequence[Token]) -> Subject:
    """Classify "my X ...": a relation when X is a person or animal, X's own X included."""
    for position, token in enumerate(tokens[:_MAX_PHRASE]):
        if token.word in lexicon.KIN:
            return Subject("relation", lexicon.KIN[token.word])
        if position and (token.word in lexicon.AUXILIARIES or token.word in lexicon.PERSON_VERBS):
            break
        acts = tokens[position + 1].word if position + 1 < len(tokens) else ""
        if position and token.surface[:1].isupper() and acts in _PERSONAL:
            return Subject("name", token.word)
    return Subject("possession")


def _named(tokens: Sequence[Token]) -> Subject | None:
    """Return the person or thing named at the start: "Rosa lives", "Rosa's team moved"."""
    name: list[str] = []
    for position, token in enumerate(tokens[:_MAX_PHRASE]):
        joins = token.word == "and" and bool(name) and _is_capital(tokens, position + 1)
        if not joins and (not token.surface[:1].isupper() or token.word in lexicon.FUNCTION_WORDS):
            break
        name.append(token.word)
        if token.owner:
            owned = tokens[position + 1].stem if position + 1 < len(tokens) else ""
            return Subject("name", f"{' '.join(name)}/{owned}")
    if not name or name[0] in lexicon.ATTRIBUTE_NOUNS or name[0] in lexicon.KIN:
        return _kin_noun(tokens)
    verb = tokens[len(name)] if len(name) < len(tokens) else None
    following = verb.word if verb is not None else ""
    acts = looks_like_predicate(following) or (verb is not None and is_past_form(verb))
    plural = len(name) == 1 and (_is_plural(name[0], following) or name[0] in lexicon.INDEFINITE)
    passive = any(token.word == "being" for token in tokens[len(name) + 1 : len(name) + 3])
    if not plural and not passive and acts:
        return Subject("name", " ".join(name))
    return None


def _is_capital(tokens: Sequence[Token], position: int) -> bool:
    return position < len(tokens) and tokens[position].surface[:1].isupper()


def _is_plural(noun: str, verb: str) -> bool:
    """Tell whether a capitalised first word is a plural noun: by its verb, else by its ending."""
    if verb in {"are", "were"}:
        return True
    singular = verb in {"is", "was", "has"} or (verb.endswith("s") and not verb.endswith("ss"))
    return noun.endswith("s") and not singular


def looks_like_predicate(word: str) -> bool:
    """Tell whether a word after a name is its verb."""
    return (
        word in lexicon.AUXILIARIES
        or word in lexicon.PERSON_VERBS
        or word in lexicon.LIKING
        or word in lexicon.DISLIKING
        or word in vocabulary.IRREGULAR_PAST
        or word in lexicon.ENDING
        or word in {"never", "always", "not", "no", "usually", "also", "now", "really"}
    )


def opens_subject(tokens: Sequence[Token], position: int) -> bool:
    """Tell whether a pronoun, or a possessive with its noun, opens a clause here."""
    word = tokens[position].word if position < len(tokens) else ""
    near = tokens[position + 1 : position + LEAD_IN]
    if word in {"i", "we", "he", "she", "they", "it"}:
        return True
    owned = word in lexicon.POSSESSIVES or word in lexicon.ARTICLES
    return owned and any(looks_like_predicate(token.word) for token in near)


def _kin_noun(tokens: Sequence[Token]) -> Subject | None:
    """Return the relation of a note without article: "Sister works at night"."""
    word = tokens[0].word
    following = tokens[1].word if len(tokens) > 1 else ""
    bare = tokens[0].surface[:1].isupper() and looks_like_predicate(following)
    single = bare and not word.endswith("s") and following not in {"are", "were", "have"}
    return Subject("relation", lexicon.KIN[word]) if single and word in lexicon.KIN else None


def _head(tokens: Sequence[Token]) -> str:
    for token in tokens[:_MAX_PHRASE]:
        if token.word in lexicon.AUXILIARIES:
            break
        if token.word not in lexicon.FUNCTION_WORDS:
            return token.stem
    return ""
