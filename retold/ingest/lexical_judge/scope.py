"""Whether a claim says more than its quote: more of it, more often, more strongly."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from retold.ingest.lexical_judge import lexicon, opinions
from retold.ingest.lexical_judge.foreign import TOLERANCE
from retold.ingest.lexical_judge.languages import ENGLISH
from retold.ingest.lexical_judge.normalise import Token, stem
from retold.ingest.lexical_judge.quoted import LIKED, Part, Text, stem_of


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_ALL: Final = _words("all every each always everything everyone everybody everywhere constantly")
_LICENSES: Final = _ALL | _words(
    "any anything anyone anybody whatever whenever wherever never no none nothing nobody both",
    "whole entire entirely daily nightly weekly monthly yearly only exclusively throughout",
    "mornings afternoons evenings nights days weeks weekends weekdays months years anytime ever",
)
_NEVER: Final = frozenset({"never"})
_PARTLY: Final = _words(
    "rarely seldom infrequently hardly barely scarcely occasionally occasional sometimes sometime",
    "once twice usually often frequently mostly mainly generally typically normally most some few",
    "several half many part partly tend tends nearly almost",
)
_OFTEN: Final = _words("usually often frequently mostly regularly generally typically normally")
_SELDOM: Final = _words("rarely seldom infrequently hardly barely occasionally sometimes once")
_SKILLS: Final = (
    _words("fluent fluently native bilingual perfect perfectly proficient flawless flawlessly"),
    _words("expert expertise advanced professional professionally pro senior master mastered guru")
    | _words("specialist veteran"),
)
_FAVOURITE: Final = _words("favourite favorite favourites favorites favours favors favoured best")
_FAVOURED: Final = _FAVOURITE | _words(
    "prefer prefers preferred most top nothing fave fav ultimate"
)
_LOVE: Final = _words("love loves loved loving adore adores adored adoring")
_HATE: Final = _words(
    "hate hates hated hating loathe loathes loathed detest detests detested despise despises",
    "despised abhor abhors abhorred",
)
_STRONGLY: Final = _words(
    "really so very much absolutely totally big huge massive best favourite favorite always",
    "completely thoroughly obsessed passionate crazy mad addicted enormously immensely never",
    "worst most definitely seriously deeply truly all everything every",
)
_THIS: Final = _words("this that last latest first next previous final one")
_NOW: Final = _words("tonight today yesterday once now tomorrow")
_WANTING: Final = _words("want wants prefer prefers")
_GENERAL: Final = lexicon.LIKING | lexicon.DISLIKING | _WANTING | _ALL
_GLAD: Final = lexicon.LIKING | _FAVOURITE
_MERELY_LIKE: Final = lexicon.LIKING - _LOVE
_DETERMINERS: Final = (lexicon.ARTICLES | lexicon.POSSESSIVES | _THIS) - {"one"}


def overreach_of(said: Text, claim: Text, parts: Sequence[Part]) -> str:
    """Return the rule by which a claim goes beyond its quote, "" when it does not.

    ``parts`` are the clauses of the quote that may support the claim.
    """
    if _adds_part(said, claim) or _diagnoses(said, claim):
        return "part"
    if claim.grammar is not ENGLISH or said.grammar is not ENGLISH:
        liked = LIKED in claim.stems and LIKED not in said.stems
        return "strength" if liked and said.words & TOLERANCE else ""
    shared = [part for part in parts if part.stems & claim.stems - {LIKED}]
    if _generalises(said, claim, shared) or _is_episode(said, claim) or _settles(said, claim):
        return "scope"
    return "strength" if _is_stronger(said, claim, shared) else ""


_CONDITIONS: Final = _words(
    "allergic allergy allergies intolerant intolerance coeliac celiac diabetic diabetes asthmatic",
    "asthma pregnant",
)
_NAMING_CONDITIONS: Final = tuple(
    "allerg intoler toler coeliac celiac diabet asthma pregnan react".split()
)
"""What words begin with that name a condition or what it does."""
_ANSWER: Final = 3
"""Words of a quote that may be an answer and no sentence."""
_HOMES: Final = _words("home house flat apartment place address based")
_DWELLING: Final = stem("live")
_PASSING: Final = _words(
    "day days night nights week weeks weekend tomorrow tonight today until till visit visiting",
    "visits trip trips holiday holidays vacation layover conference",
)
"""What says that somebody is in a place for a while."""


def _diagnoses(said: Text, claim: Text) -> bool:
    """Tell whether the claim names a condition where the quote names none.

    "I can't have gluten" may be an allergy, a diet or a whim; an answer of a few words may not
    repeat what it was asked.
    """
    named = any(token.word in _CONDITIONS for token in claim.tokens)
    spoken = sum(not token.is_mark for token in said.tokens)
    heard = any(token.word.startswith(_NAMING_CONDITIONS) for token in said.tokens)
    answers = spoken <= _ANSWER and said.words.isdisjoint(lexicon.PRINCIPAL)
    return named and not heard and said.grammar is ENGLISH and not answers


def _settles(said: Text, claim: Text) -> bool:
    """Tell whether the claim says that somebody lives where the quote has them for a while."""
    if _DWELLING not in claim.stems - said.stems or said.words & (lexicon.SWITCHING | _HOMES):
        return False
    there = (part for part in said.parts if part.stems & claim.stems)
    return any(token.word in _PASSING for part in there for token in part.tokens)


_WITH: Final = _words("with plus as mit con avec com met")


def _adds_part(said: Text, claim: Text) -> bool:
    """Tell whether one of the things that the claim joins by "and", "with" is not quoted.

    What stands before the first "with" may be a verb alone, and so is no thing of its own.
    """
    heard = said.stems | {token.stem for token in said.tokens}
    joints = {claim.grammar.joining, ",", ";"}
    joined = _segments(claim, joints)
    added = _segments(claim, joints | _WITH)
    several = len(joined) > 1
    return any(not stems & heard for opener, stems in (*joined, *added) if opener or several)


def _segments(claim: Text, joints: AbstractSet[str]) -> list[tuple[str, frozenset[str]]]:
    """Return (word before, content stems) between the joints, segments without any left out."""
    used = claim.quantities.used
    out: list[tuple[str, frozenset[str]]] = []
    current: set[str] = set()
    opener = ""
    for position, token in enumerate((*claim.tokens, Token(".", ".", "."))):
        if token.word in joints or token.is_mark:
            if current:
                out.append((opener, frozenset(current)))
            opener, current = token.word, set()
        elif position not in used and (stem := stem_of(token, claim.grammar)) not in {"", LIKED}:
            current.add(stem)
    return out


def _generalises(said: Text, claim: Text, parts: Sequence[Part]) -> bool:
    """Tell whether the claim says all, always or never, the quote at most some or mostly."""
    heard = frozenset(token.word for part in parts for token in part.tokens)
    if claim.words & _ALL:
        plural_days = any(word.endswith("s") for word in said.words & lexicon.WEEKDAYS.keys())
        if heard & _PARTLY - _ALL or not (said.words & _LICENSES or plural_days):
            return True
    if claim.words & _NEVER and heard & _SELDOM:
        return True
    return bool(claim.words & _OFTEN and heard & _SELDOM)


_GROWING: Final = lexicon.BE | {"get", "gets", "got", "getting", "grown"}


def _tolerates(said: Text, claim: Text) -> bool:
    """Tell whether a quote puts up with what the claim likes: "fine", "okay with", "used to"."""
    if said.words & opinions.TOLERANCE - claim.words:
        return True
    words = [token.word for token in said.tokens]
    return any(
        triple[:2] in {("live", "with"), ("nothing", "against"), ("not", "bad"), ("no", "opinion")}
        or (triple[0] in _GROWING and triple[1:] == ("used", "to"))
        for triple in zip(words, words[1:], [*words[2:], ""], strict=False)
    )


def _is_episode(said: Text, claim: Text) -> bool:
    """Tell whether a taste or a wish in general rests on one occasion: "make this one short"."""
    if claim.words.isdisjoint(_GENERAL):
        return False
    if said.words & _NOW - claim.words and _is_request(said):
        return True
    stems = {token.stem: token for token in said.tokens}
    for position, token in enumerate(claim.tokens):
        if token.stem not in stems or stem_of(token, ENGLISH) in {"", LIKED}:
            continue
        if _is_singled_out(said.tokens, token.stem) and _is_general(claim.tokens, position):
            return True
    return False


def _is_request(said: Text) -> bool:
    first = next((token.word for token in said.tokens if not token.is_mark), "")
    return "please" in said.words or first in lexicon.NEGATORS or not said.words & {"i", "we"}


def _is_singled_out(tokens: Sequence[Token], stem: str) -> bool:
    """Tell whether every mention of a thing is of one of its kind: "this one email"."""
    places = [n for n, token in enumerate(tokens) if token.stem == stem]
    return all(
        {token.word for token in tokens[max(0, n - 3) : n]} & _THIS and not _is_plural(tokens[n])
        for n in places
    )


def _is_plural(token: Token) -> bool:
    return token.word.endswith("s") and not token.word.endswith("ss") and token.stem != token.word


def _is_general(tokens: Sequence[Token], position: int) -> bool:
    """Tell whether the claim has a thing in the plural or without a determiner."""
    before = [t for t in tokens[max(0, position - 3) : position]]
    if {t.word for t in before} & _THIS:
        return False
    if {t.word for t in before} & _ALL or _is_plural(tokens[position]):
        return True
    return not any(t.word in _DETERMINERS or t.owner for t in before)


def _is_stronger(said: Text, claim: Text, parts: Sequence[Part]) -> bool:
    """Tell whether the claim has a higher degree of liking or skill than the quote."""
    if any(claim.words & skill and not said.words & skill for skill in _SKILLS):
        return True
    liked = {t.word for p in said.parts for t in p.tokens}
    words = sum(not token.is_mark for token in said.tokens)
    if claim.words & _FAVOURITE and not liked & _FAVOURED and (words > 3 or liked & lexicon.LIKING):  # noqa: PLR2004 - an answer
        return True
    strong = bool(liked & _STRONGLY) or "!" in liked
    if LIKED in claim.stems and LIKED not in said.stems and _tolerates(said, claim):
        return True
    if claim.words & _LOVE and LIKED in said.stems and not liked & _GLAD:
        return True
    if claim.words & _LOVE and liked & _MERELY_LIKE and not liked & _LOVE:
        return not strong
    if claim.words & _HATE and not liked & _HATE and LIKED in said.stems:
        return not strong
    return False
