"""States that exclude one another by what their words mean: a vegetarian eats no steak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import Claim, is_content
from retold.ingest.lexical_judge.outcome import MAX_WORDS, Outcome
from retold.ingest.lexical_judge.pair import Pair


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_EATING: Final = _words("eat eats eating ate has have enjoys enjoy loves love likes like ")
_DRINKING: Final = _words("drink drinks drinking has have enjoys enjoy loves love likes like")
_HAVING: Final = _words("has have got is raises raise")
_MEAT: Final = _words(
    "meat meats steak steaks beef pork lamb mutton veal venison ham bacon sausage sausages salami",
    "prosciutto chicken turkey duck goose burger burgers hamburger hamburgers schnitzel ribs",
    "brisket chorizo pepperoni mince kebab meatballs poultry rabbit liver",
)
_FISH: Final = _words(
    "fish salmon tuna cod trout herring sardines anchovies mackerel seafood shrimp shrimps prawn",
    "prawns crab lobster oysters mussels squid octopus sushi shellfish",
)
_ANIMAL: Final = _words(
    "egg eggs milk cheese butter yoghurt yogurt cream honey dairy omelette omelettes",
)
_ALCOHOL: Final = _words(
    "alcohol beer beers wine wines whisky whiskey vodka gin rum brandy cocktail cocktails",
    "champagne prosecco cider sake tequila liquor spirits",
)
_BROOD: Final = _words("sister sisters brother brothers")
_CHILDREN: Final = _words("child kids son sons daughter daughters baby twins")
_CAFFEINE: Final = _words("coffee espresso cappuccino latte caffeine")
_WITH: Final = _words(
    "parents roommate roommates flatmate flatmates housemate housemates girlfriend boyfriend wife",
    "husband partner family friends mother father sister brother",
)


@dataclass(frozen=True, slots=True)
class _Exclusion:
    """A state, said by one word or by words in a row, and what it leaves no room for."""

    state: tuple[tuple[str, ...], ...]
    deeds: frozenset[str]
    objects: frozenset[str]


def _state(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(part.split()) for part in text.split("|"))


_EXCLUSIONS: Final = (
    _Exclusion(_state("vegetarian|vegetarians|veggie|vegan|vegans"), _EATING, _MEAT | _FISH),
    _Exclusion(_state("vegan|vegans"), _EATING | _DRINKING, _ANIMAL),
    _Exclusion(_state("not eat meat|eats no meat|eat no meat|never eats meat"), _EATING, _MEAT),
    _Exclusion(
        _state(
            "not drink alcohol|drinks no alcohol|drink no alcohol|never drinks alcohol|not drink"
        ),
        _DRINKING,
        _ALCOHOL,
    ),
    _Exclusion(_state("pescatarian|pescetarian"), _EATING, _MEAT),
    _Exclusion(_state("teetotal|teetotaller|teetotaler|sober|nondrinker"), _DRINKING, _ALCOHOL),
    _Exclusion(_state("no siblings"), _HAVING, _BROOD),
    _Exclusion(_state("childless|childfree|child free|no children"), _HAVING, _CHILDREN),
    _Exclusion(_state("lives alone|live alone"), _words("lives live shares share"), _WITH),
    _Exclusion(_state("no pets|petless"), _HAVING, _words("dog cat dogs cats pet hamster rabbit")),
    _Exclusion(
        _state("unemployed|jobless|between jobs"),
        _words("works work employed"),
        _words("as at for fulltime"),
    ),
    _Exclusion(_state("caffeine free|no caffeine"), _DRINKING, _CAFFEINE),
)
_FREE_OF: Final = _words("vegan veggie vegetarian plant decaf free alcoholic fake")
"""Words by which meat is none and beer has no alcohol."""
_ASSERTING: Final = lexicon.BE | lexicon.HAVE | _words("live lives eats eat remains stays")
_TRIGGERS: Final = frozenset(phrase[0] for each in _EXCLUSIONS for phrase in each.state)


def implied(pair: Pair) -> Outcome | None:
    """Oppose a state and a present deed of the same person that it excludes."""
    if pair.a.words.isdisjoint(_TRIGGERS) and pair.b.words.isdisjoint(_TRIGGERS):
        return None
    if pair.a.subject != pair.b.subject or not pair.both_facts:
        return None
    for state, deed in pair.orders:
        if any(_excludes(state, deed, each) for each in _EXCLUSIONS):
            return Outcome("contradicts", "implied")
    return None


def _excludes(state: Claim, deed: Claim, each: _Exclusion) -> bool:
    if max(state.length, deed.length) > MAX_WORDS or _phrase_in(deed, each.state):
        return False
    phrase = _phrase_in(state, each.state)
    if not phrase or deed.tense == "past" or deed.words & _FREE_OF:
        return False
    denied = phrase[0] in lexicon.NEGATORS or phrase[-2:-1] == ("no",)
    if not denied and (not state.words & _ASSERTING or state.words & lexicon.NEGATORS):
        return False
    if state.tense == "past" and each.objects is not _BROOD:
        return False
    if deed.words & lexicon.NEGATORS or deed.attitude < 0 or deed.ends:
        return False
    return bool(deed.words & each.deeds) and bool(deed.words & each.objects)


def _phrase_in(claim: Claim, phrases: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Return the first phrase that ends a noun phrase of the claim, () when none does."""
    words = [token.word for token in claim.tokens]
    for phrase in phrases:
        if phrase[0] not in claim.words:
            continue
        for n in range(len(words) - len(phrase) + 1):
            end = n + len(phrase)
            follows = end < len(words) and is_content(claim.tokens[end])
            if words[n:end] == [*phrase] and not follows:
                return phrase
    return ()
