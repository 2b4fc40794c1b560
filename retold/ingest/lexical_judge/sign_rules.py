"""Rules about one thing with two signs: negation, polarity, ended states, opposites."""

from __future__ import annotations

from typing import Final

from retold.ingest.lexical_judge import lexicon, vocabulary
from retold.ingest.lexical_judge.features import Claim, Clause, is_content, is_ending
from retold.ingest.lexical_judge.normalise import stem
from retold.ingest.lexical_judge.outcome import HALF, LOW, MAX_WORDS, PART, Outcome
from retold.ingest.lexical_judge.pair import Pair

ANTONYM_STEMS: Final = frozenset(
    frozenset(stem(word) for word in pair) for pair in vocabulary.ANTONYMS
)
_STATES: Final = frozenset(stem(word) for word in lexicon.STATE_VERBS | lexicon.TIME_NOUNS)


def ended(pair: Pair) -> Outcome | None:
    """Oppose a state that ended and the same state reported as lasting."""
    for ending, lasting in pair.orders:
        if ending.negated or lasting.negated or ending.modality == "hypothetical":
            continue
        if lasting.ends or lasting.modality != "fact" or lasting.tense == "past":
            continue
        if lasting.attitude or _other_dates(ending, lasting):
            continue
        stopped, activity = _stopped_things(ending)
        if stopped and _still_claims(lasting, stopped, ending.content, activity=activity):
            return Outcome("contradicts", "ended")
        left = _left_things(ending)
        topic = (pair.shared - left) or lasting.content <= left | _STATES
        if topic and left and left <= lasting.content:
            return Outcome("contradicts", "ended")
    return None


def _other_dates(first: Claim, second: Claim) -> bool:
    """Tell whether both give dates and not the same."""
    dates = frozenset(first.quantities.dates), frozenset(second.quantities.dates)
    return bool(dates[0] and dates[1]) and dates[0] != dates[1]


def _still_claims(
    lasting: Claim, things: frozenset[str], known: frozenset[str], *, activity: bool
) -> bool:
    """Tell whether a claim says that the things last, and of a mere thing nothing unknown."""
    if lasting.content & things and lasting.content <= known | _STATES:
        return True
    return activity and any(clause.affirms(things) for clause in lasting.clauses)


def _stopped_things(claim: Claim) -> tuple[frozenset[str], bool]:
    """Return the stems of what a verb of ending ends, and whether that is an activity.

    "sold the car" ends a thing, "stopped learning Farsi" an activity.
    """
    for position in range(len(claim.tokens)):
        if is_ending(claim.tokens, position):
            rest = claim.tokens[position + 1 :]
            stop = next((n for n, t in enumerate(rest) if t.is_mark or t.word == "and"), len(rest))
            activity = bool(rest) and rest[0].word.endswith("ing")
            return frozenset(t.stem for t in rest[:stop] if is_content(t)), activity
    return frozenset(), False


def _left_things(claim: Claim) -> frozenset[str]:
    """Return the stems of X in "moved from X to Y"."""
    words = [token.word for token in claim.tokens]
    switch = next((n for n, word in enumerate(words) if word in lexicon.SWITCHING), len(words))
    if "from" not in words[switch:]:
        return frozenset()
    start = words.index("from", switch)
    if "to" not in words[start:]:
        return frozenset()
    end = words.index("to", start)
    return frozenset(t.stem for t in claim.tokens[start:end] if is_content(t))


def marital(pair: Pair) -> Outcome | None:
    """Oppose having a spouse and having none."""
    if pair.a.subject != pair.b.subject or not pair.both_facts:
        return None
    states = [_has_spouse(claim) for claim in (pair.a, pair.b)]
    if None in states or states[0] == states[1]:
        return None
    return Outcome("contradicts", "marital")


def _has_spouse(claim: Claim) -> bool | None:
    if claim.length > MAX_WORDS // 2:
        return None
    if claim.words & lexicon.PARTNERED:
        return not claim.negated
    last = next((t.word for t in reversed(claim.tokens) if not t.is_mark), "")
    if last in lexicon.UNPARTNERED or "divorced" in claim.words or "widowed" in claim.words:
        return claim.negated
    return None


def opposites(pair: Pair) -> list[tuple[str, str]]:
    """Return the pairs of opposite stems, each on its own side only."""
    return [
        (mine, theirs)
        for mine in pair.only_a
        for theirs in pair.only_b
        if frozenset((mine, theirs)) in ANTONYM_STEMS
    ]


def _same_dates(pair: Pair) -> bool:
    dates = frozenset(pair.a.quantities.dates)
    return bool(dates) and dates == frozenset(pair.b.quantities.dates)


def antonym(pair: Pair) -> Outcome | None:
    """Oppose opposite words in otherwise equal claims about one referent."""
    found = opposites(pair)
    if len(found) % 2 == 0:
        return None
    rest_a = pair.only_a - {mine for mine, _ in found}
    rest_b = pair.only_b - {theirs for _, theirs in found}
    if pair.flips or not pair.both_definite or (rest_a and rest_b):
        return Outcome("unknown", "antonym-loose")
    known = len(pair.shared) + bool(_same_dates(pair))
    rest = known / (known + len(rest_a | rest_b)) if known or rest_a or rest_b else 1.0
    liked = bool(pair.a.attitude and pair.b.attitude)
    if rest >= HALF or (liked and rest >= PART):
        return Outcome("contradicts", "antonym")
    return Outcome("unknown", "antonym-loose")


def negation(pair: Pair) -> Outcome | None:
    """Oppose a clause and the clause that denies it."""
    if pair.a.tense != pair.b.tense:
        return None
    denied = [positive for negative, positive in pair.opposed if _is_denied(positive, negative)]
    if not denied:
        return None
    liked = any(positive.attitude for positive in denied)
    return Outcome("contradicts", "polarity" if liked else "negation")


def _is_denied(positive: Clause, negative: Clause) -> bool:
    """Tell whether what is denied follows from the positive clause, numbers, dates included."""
    if negative.is_partial or not negative.content or negative.dates != positive.dates:
        return False
    return negative.numbers <= positive.numbers and positive.affirms(negative.content)


def negation_loose(pair: Pair) -> Outcome | None:
    """Leave open claims of opposite sign about not quite the same thing."""
    if not pair.flips:
        return None
    return Outcome("distinct" if pair.overlap < LOW else "unknown", "negation-loose")


def ended_loose(pair: Pair) -> Outcome | None:
    """Leave open an ending on one side only: it keeps two claims from being the same."""
    if pair.a.ends != pair.b.ends and pair.overlap >= HALF:
        return Outcome("unknown", "ended-loose")
    return None
