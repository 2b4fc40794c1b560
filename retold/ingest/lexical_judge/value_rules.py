"""Rules about one attribute with two values: slots, names, numbers, dates, orders."""

from __future__ import annotations

from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.copula import EXCLUSIVE_LABELS, Copula, read_copula
from retold.ingest.lexical_judge.features import Claim
from retold.ingest.lexical_judge.normalise import stem
from retold.ingest.lexical_judge.outcome import CLOSE, HALF, LOW, Outcome
from retold.ingest.lexical_judge.pair import Pair, directions_clash
from retold.ingest.lexical_judge.preference import preference_order
from retold.ingest.lexical_judge.quantities import Date
from retold.ingest.lexical_judge.slots import read_slots, values_differ

_YEAR: Final = len("2000")


def slot(pair: Pair) -> Outcome | None:
    """Oppose other values of one exclusive attribute, both plain present facts."""
    mine, theirs = read_slots(pair.a), read_slots(pair.b)
    if pair.flips or _holder(pair.a) != _holder(pair.b):
        return None
    names = sorted(
        name.name for name in mine.keys() & theirs.keys() if values_differ(mine[name], theirs[name])
    )
    if not names:
        return None
    if pair.a.modality != pair.b.modality:
        return Outcome("distinct", "slot-modality")
    former = _is_former(pair.a) or _is_former(pair.b)
    denied = pair.a.negated or pair.b.negated
    if pair.both_facts and not (former or denied or _in_turn(pair)):
        return Outcome("contradicts", f"slot:{names[0]}")
    return Outcome("unknown", "slot-modality")


def _in_turn(pair: Pair) -> bool:
    """Tell whether both give a year and not the same: "moved in 2019", "moved in 2021"."""
    years = [_years(claim) for claim in (pair.a, pair.b)]
    return bool(years[0] and years[1] and not years[0] & years[1])


def _years(claim: Claim) -> frozenset[str]:
    numbers = frozenset(n for n in claim.numbers if n[:2] in {"19", "20"} and len(n) == _YEAR)
    if "born" in claim.words:
        return frozenset()
    return numbers | {str(d.year) for d in claim.quantities.dates if d.year}


def _holder(claim: Claim) -> str:
    """Return who has the attribute, "" for the principal."""
    return claim.subject.key if claim.subject.is_other else ""


def _is_former(claim: Claim) -> bool:
    """Tell whether the claim's main verb is a past state: "worked at", "lived in"."""
    states = ("lived", "worked", "was", "were", "resided", "had")
    return any(word in claim.words for word in states) and "born" not in claim.words


def note(pair: Pair) -> Outcome | None:
    """Compare "label: value" notes by their labels first, then by their values."""
    mine, theirs = read_copula(pair.a), read_copula(pair.b)
    if mine is None or theirs is None or not (mine.is_note and theirs.is_note):
        return None
    union = mine.label | theirs.label
    if union and len(mine.label & theirs.label) / len(union) < CLOSE:
        return Outcome("distinct", "other-label")
    equal = set(mine.value_words) == set(theirs.value_words)
    if mine.label_sign * theirs.label_sign < 0:
        return Outcome("contradicts", "polarity") if equal else Outcome("distinct", "other-value")
    if equal or not (mine.value_words and theirs.value_words):
        return None
    return _other_value(mine, theirs, pair)


def _other_value(mine: Copula, theirs: Copula, pair: Pair) -> Outcome | None:
    """Oppose two numbers or two values of a slot under one label; leave open other values."""
    if all(copula.value[0].is_number for copula in (mine, theirs)) and not pair.shared - mine.label:
        return Outcome("contradicts", "number")
    label = next(iter(mine.label)) if len(mine.label) == 1 else ""
    if label in EXCLUSIVE_LABELS and values_differ([mine.value_words], [theirs.value_words]):
        return Outcome("contradicts", f"slot:{EXCLUSIVE_LABELS[label]}")
    return None if pair.shared - mine.label else Outcome("unknown", "other-value")


def name(pair: Pair) -> Outcome | None:
    """Oppose two names as the value of one singular "the X is NAME"."""
    mine, theirs = read_copula(pair.a), read_copula(pair.b)
    if mine is None or theirs is None or mine.is_note or theirs.is_note:
        return None
    if mine.label != theirs.label or not mine.is_singular or pair.a.negated or pair.b.negated:
        return None
    if not (mine.names_value and theirs.names_value and pair.both_facts):
        return None
    if mine.value_words[0].isdigit() or theirs.value_words[0].isdigit():
        return None
    if not values_differ([mine.value_words], [theirs.value_words]):
        return None
    return Outcome("contradicts", "name")


_ONLY: Final = frozenset("only solely exclusively purely".split())


_ONLY_STEMS: Final = frozenset(stem(word) for word in _ONLY)


def exclusive(pair: Pair) -> Outcome | None:
    """Oppose "runs only Linux" and "runs Windows": another value beside the only one."""
    if pair.a.words.isdisjoint(_ONLY) and pair.b.words.isdisjoint(_ONLY):
        return None
    only_a, only_b = pair.only_a - _ONLY_STEMS, pair.only_b - _ONLY_STEMS
    if len(only_a) != 1 or len(only_b) != 1 or not pair.shared or pair.flips:
        return None
    if not (pair.both_facts and pair.both_definite) or pair.a.subject != pair.b.subject:
        return None
    if pair.a.tense != pair.b.tense or pair.a.quantities.dates != pair.b.quantities.dates:
        return None
    places = [
        next(n for n, token in enumerate(claim.tokens) if token.stem in only)
        for claim, only in ((pair.a, only_a), (pair.b, only_b))
    ]
    leads = [
        [t.word for t in claim.tokens[max(0, n - 2) : n]]
        for claim, n in zip((pair.a, pair.b), places, strict=True)
    ]
    adjacent = any(lead and lead[-1] in _ONLY for lead in leads)
    bare = [[word for word in lead if word not in _ONLY][-1:] for lead in leads]
    return Outcome("contradicts", "only") if adjacent and bare[0] == bare[1] else None


def order(pair: Pair) -> Outcome | None:
    """Oppose the same two things preferred the other way round."""
    mine, theirs = preference_order(pair.a), preference_order(pair.b)
    if mine is None and theirs is None:
        return None
    if mine is None or theirs is None:
        known = mine or theirs
        other = pair.b if mine else pair.a
        if known and known.worse & other.content and other.attitude:
            return Outcome("unknown", "order-part")
        return None
    if mine.better == theirs.worse and mine.worse == theirs.better and not pair.flips:
        return Outcome("contradicts", "order")
    return None


def ordinal(pair: Pair) -> Outcome | None:
    """Part the first of something from the second."""
    first, second = pair.a.quantities.ordinals, pair.b.quantities.ordinals
    if first and second and not first & second:
        return Outcome("distinct", "ordinal")
    return None


def other_time(pair: Pair) -> Outcome | None:
    """Part other numbers at other times: they are two events."""
    if pair.a.numbers == pair.b.numbers or not (pair.a.numbers and pair.b.numbers):
        return None
    if pair.flips:
        return None
    dates = frozenset(pair.a.quantities.dates), frozenset(pair.b.quantities.dates)
    if dates[0] == dates[1] or _scheduled(pair):
        return None
    return Outcome("distinct" if pair.both_differ else "unknown", "other-time")


def _scheduled(pair: Pair) -> bool:
    return pair.says(lexicon.SCHEDULED)


def _repeatable(pair: Pair) -> bool:
    """Tell whether both are events of which there may be several: sessions, things done."""
    if pair.a.tense == pair.b.tense == "past":
        return True
    return pair.says(lexicon.REPEATABLE) or pair.says(lexicon.EVENT_VERBS)


def number(pair: Pair) -> Outcome | None:
    """Oppose another number of the same thing."""
    mine, theirs = pair.a.numbers, pair.b.numbers
    if mine == theirs or not mine or not theirs or pair.flips:
        return None
    if pair.both_differ or _named_apart(pair) or _phases_differ(pair):
        return Outcome("distinct", "number-other")
    if directions_clash(pair.a.words, pair.b.words):
        return Outcome("unknown", "number-loose")
    if _repeatable(pair) and not _scheduled(pair):
        return Outcome("unknown", "number-event")
    if len(mine) == len(theirs) and pair.overlap >= HALF and _same_measure(pair, mine & theirs):
        return Outcome("contradicts", "number")
    if pair.overlap >= CLOSE and mine - theirs and theirs - mine:
        return Outcome("contradicts", "number")
    return Outcome("unknown" if pair.overlap >= LOW else "distinct", "number-loose")


def _same_measure(pair: Pair, shared: frozenset[str]) -> bool:
    """Tell whether two numbers of other value count the same; none may be equal."""
    return not shared and any(
        first.value != second.value
        and ((first.unit and first.unit == second.unit) or first.before == second.before)
        for first in pair.a.quantities.numbers
        for second in pair.b.quantities.numbers
    )


def date(pair: Pair) -> Outcome | None:
    """Oppose another date of the same thing."""
    mine, theirs = pair.a.quantities.dates, pair.b.quantities.dates
    if not mine or not theirs or pair.flips or not _all_clash(mine, theirs):
        return None
    repeats = _repeatable(pair) and not (_scheduled(pair) or _is_moved(pair))
    if repeats or pair.a.ends != pair.b.ends:
        return Outcome("unknown", "date-event")
    if _named_apart(pair) or _phases_differ(pair):
        return Outcome("distinct", "date-other")
    only_a, only_b = pair.only_a - _SCHEDULING, pair.only_b - _SCHEDULING
    if only_a and only_b and pair.overlap < HALF:
        return Outcome("distinct", "date-other")
    known = len(pair.shared)
    overlap = known / (known + len(only_a | only_b)) if known else pair.overlap
    close = overlap >= HALF or len(pair.only_a | pair.only_b) <= 1
    return Outcome("contradicts" if close else "unknown", "date" if close else "date-loose")


_SCHEDULING: Final = frozenset(
    stem(word)
    for word in (
        "plan planned schedule scheduled move moved postpone postponed push pushed shift shifted "
        "set fall hold held happen delay delayed bring brought due reschedule rescheduled arrange "
        "arranged book booked forward back new take place"
    ).split()
)
"""Stems of what happens to a date, which tell of no other event."""
_PHASES: Final = frozenset(
    stem(word)
    for word in (
        "back return returns returning start starts begin begins end ends finish finishes arrive "
        "arrives land lands leave leaves depart departs departure arrival open opens close closes "
        "outbound inbound pickup dropoff check-in check-out checkin checkout"
    ).split()
)
"""Stems of the two ends of one event, each of which has its own date."""


def _phases_differ(pair: Pair) -> bool:
    """Tell whether the claims give the dates of two phases: flying there, flying back."""
    mine = {token.stem for token in pair.a.tokens} & _PHASES
    theirs = {token.stem for token in pair.b.tokens} & _PHASES
    if _is_moved(pair):
        mine, theirs = mine - {"back"}, theirs - {"back"}
    return mine != theirs and not ((not mine or not theirs) and mine | theirs <= _BEGINNING)


_BEGINNING: Final = frozenset(stem(word) for word in "start begin leave depart open".split())
_MOVED: Final = frozenset(
    "moved postponed pushed brought rescheduled shifted delayed changed".split()
)


def _is_moved(pair: Pair) -> bool:
    """Tell whether a claim reports another date for what it speaks of."""
    return not (pair.a.words.isdisjoint(_MOVED) and pair.b.words.isdisjoint(_MOVED))


def _named_apart(pair: Pair) -> bool:
    """Tell whether each claim names something that the other does not."""
    letters = _letters(pair.a), _letters(pair.b)
    if letters[0] and letters[1] and letters[0] != letters[1]:
        return True
    return bool(_names(pair.a) & pair.only_a and _names(pair.b) & pair.only_b)


def _letters(claim: Claim) -> frozenset[str]:
    """Return the single capitals that tell things apart: "app A", "app B"."""
    return frozenset(
        token.surface
        for token in claim.tokens[1:]
        if len(token.surface) == 1 and token.surface.isupper() and token.surface != "I"
    )


def _names(claim: Claim) -> frozenset[str]:
    return frozenset(
        token.stem
        for position, token in enumerate(claim.tokens)
        if position and token.surface[:1].isupper() and position not in claim.quantities.used
    )


def _all_clash(mine: tuple[Date, ...], theirs: tuple[Date, ...]) -> bool:
    """Tell whether no date of one fits a date of the other, though they are comparable."""
    return all(
        first.clashes(second) and first.shares(second) for first in mine for second in theirs
    )
