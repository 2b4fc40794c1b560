"""Whether a quote supports a claim: the support rule of the decisions, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from retold.ingest.lexical_judge import lexicon, unspaced, vocabulary
from retold.ingest.lexical_judge.features import Claim, parse
from retold.ingest.lexical_judge.grounding import missing_date, missing_name, missing_number
from retold.ingest.lexical_judge.languages import ENGLISH, Grammar
from retold.ingest.lexical_judge.modality import is_past_form
from retold.ingest.lexical_judge.normalise import Token, collapse, fold, snowball
from retold.ingest.lexical_judge.pair import directions_clash
from retold.ingest.lexical_judge.preference import preference_order
from retold.ingest.lexical_judge.quantities import read_quantities
from retold.ingest.lexical_judge.quoted import ALL, LIKED, Part, Text, read_text, stem_of
from retold.ingest.lexical_judge.sign_rules import ANTONYM_STEMS
from retold.ingest.lexical_judge.slots import Slot, Value, read_slots, values_differ
from retold.models.verdict import Label, Verdict
from retold.text import UNSPACED_SCRIPTS, Script, dominant_script

FLOOR: Final = 0.5
"""Coverage from which the caller accepts a quote; here it only picks the verdict's label."""
_MIN_UNKNOWN_WORDS: Final = 3
_SHORT_TURN: Final = 3
_MIN_NAME_CHARS: Final = 2
_FULL: Final = 1.0
_PLACES: Final = frozenset({"in", "at", "inside", "outside"})
"""Prepositions of place: "out of my garage" is no opposite of "in the garage"."""
_TEMPORAL: Final = frozenset("before after when while until till once since".split())
_ASKED_FOR: Final = frozenset(
    snowball(word) for word in lexicon.ATTRIBUTE_NOUNS | {"favourite", "favorite"}
)
"""Stems that a question supplies, so that a short answer need not repeat them."""
_COLLECTIVE: Final = frozenset(
    snowball(word)
    for word in "team company group organisation organization family household crew".split()
)
"""Nouns by which a claim may name whoever the quote calls "we"."""
_EAST_ASIAN: Final[frozenset[Script]] = frozenset({"han", "kana"})
_VALUE_LEADS: Final = lexicon.ARTICLES | lexicon.PREPOSITIONS | lexicon.HAVE
_AVERSE: Final = frozenset(
    snowball(word)
    for word in (
        "allergic allergy allergies intolerant intolerance averse aversion phobia afraid scared "
        "fear fears sensitive hypersensitive anaphylactic"
    ).split()
)


def fold_names(text: str, names: Sequence[str]) -> str:
    """Return the text with the principal's names replaced by "user", longest first."""
    for name in names:
        pattern = re.compile(
            rf"(?<!\w){re.escape(name)}(?!\w)",
            0 if name.lower() in lexicon.FUNCTION_WORDS | set(lexicon.MONTHS) else re.IGNORECASE,
        )
        text = pattern.sub("user", text)
    return text


def usable_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of two characters or more, longest first."""
    kept = {fold(name).strip() for name in names}
    return tuple(sorted((n for n in kept if len(n) >= _MIN_NAME_CHARS), key=lambda n: (-len(n), n)))


def _claim_part(claim: Text) -> Part:
    """Return the first clause that says something; a claim is one statement."""
    return next((part for part in claim.parts if part.stems), claim.parts[0])


def _counterpart(part: Part, claim: Text, asked: Part) -> Part:
    """Return the clause of the claim that shares most with a clause of the quote."""
    shared = [len(part.stems & other.stems) for other in claim.parts]
    return claim.parts[shared.index(max(shared))] if max(shared) else asked


def _fault(part: Part, claim: Text, asked: Part) -> str:
    """Return the rule by which a clause cannot support the claim, "" when none applies."""
    if part.question:
        return "question"
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
    words = {token.word for token in part.tokens}
    return part.subject.kind != "relation" and bool(words & {"me", "i", "my", "user"})


def _other_subject(part: Part, claim: Text, asked: Part) -> bool:
    subject = part.subject
    if not subject.is_other or not asked.subject.is_principals:
        return False
    if asked.subject.kind != "principal" and not _has_own(part):
        return False
    if subject.kind == "relation":
        kin = {lexicon.KIN.get(word, word) for word in claim.words}
        return subject.key not in kin
    if subject.kind == "name":
        mentioned = set(subject.key.split("/")[0].split()) <= claim.words
        words = {token.word for token in part.tokens}
        return not (mentioned and words & {"is", "are"} and words & {"my", "our"})
    return subject.key not in claim.words


def _has_own(part: Part) -> bool:
    """Tell whether the clause's subject has the thing itself: "my wife's birthday", "he has a"."""
    words = {token.word for token in part.tokens}
    named = any(token.owner and token.word != "user" for token in part.tokens)
    return named or bool(words & _OWNING) or part.subject.kind == "pronoun"


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


def _foreign_past(part: Part, claim: Text) -> bool:
    """Tell whether the clause has a verb of the claim with a past ending that the claim lacks."""
    endings = claim.grammar.past_endings
    present = {token.stem for token in claim.tokens if not token.word.endswith(endings)}
    return bool(endings) and any(
        token.word.endswith(endings)
        and token.stem in present
        and token.word != f"{token.stem}e"  # German "arbeite" is no past
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
    if part.attitude < 0 and not part.negated:
        return not negative and not _is_averse(claim)
    if part.attitude > 0 and not part.negated and not negative and claim.stems & _AVERSE:
        return not part.stems & _AVERSE
    if part.negated == negative:
        return False
    if part.negated and part.predicate not in claim.stems and part.predicate != ALL:
        return not _is_averse(claim) and not (part.stems - {part.predicate}) <= {""}
    return not (negative and asked.attitude < 0)


def _is_averse(claim: Text) -> bool:
    return bool(claim.stems & _AVERSE) or any(part.attitude < 0 for part in claim.parts)


def _excluded(quote: Text, claim: Text) -> bool:
    """Tell whether a negated fragment names what the claim affirms: "not spaces"."""
    if any(part.fragment or part.negated for part in claim.parts) or _is_averse(claim):
        return False
    return any(
        part.fragment and part.negated and part.stems and part.stems <= claim.stems
        for part in quote.parts
    )


def _other_slot(said: Text, wanted: Claim, usable: Sequence[Part]) -> bool:
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


def _other_order(quote: Claim, claim: Claim) -> bool:
    said, wanted = preference_order(quote), preference_order(claim)
    if said is None:
        return False
    if wanted is not None:
        return bool(said.better & wanted.worse) and bool(said.worse & wanted.better)
    return bool(said.worse & claim.content) and not said.better & claim.content


def _values(part: Part, grammar: Grammar) -> tuple[tuple[str, bool], ...]:
    """Return the content stems in order, each with whether it is a predicate's own word.

    A predicate follows its subject or a form of be directly; what follows an article, a
    preposition or a form of have is a value.
    """
    out: list[tuple[str, bool]] = []
    before = ""
    used = read_quantities(part.tokens).used
    for position, token in enumerate(part.tokens):
        stem = "" if position in used else stem_of(token, grammar)
        if stem and stem not in _COLLECTIVE:
            out.append((stem, not out and before not in _VALUE_LEADS))
        before = token.word
    return tuple(out)


def _swapped(quote: Text, claim: Text, asked: Part) -> bool:
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


def _spaced(quote: str, claim: str) -> tuple[float, str] | None:
    """Score two texts of one spaced script; None when the quote's language is not known."""
    asked_text = read_text(claim)
    said = read_text(quote, asked_text.grammar)
    if not asked_text.parts or not asked_text.stems or not said.parts:
        return 0.0, "empty"
    asked = _claim_part(asked_text)
    if missing_number(said.quantities, asked_text.quantities):
        return 0.0, "number"
    if missing_date(said.quantities, asked_text.quantities):
        return 0.0, "date"
    if missing_name(said, asked_text):
        return 0.0, "name"
    words = sum(token.word[0].isalpha() for token in said.tokens)
    foreign = said.grammar is not ENGLISH or not said.known_words
    if not said.stems & asked_text.stems and foreign and words >= _MIN_UNKNOWN_WORDS:
        return None
    return _covered(said, asked_text, asked, parse(quote), parse(claim))


def _covered(
    said: Text, asked_text: Text, asked: Part, quote: Claim, claim: Claim
) -> tuple[float, str]:
    """Return the share of the claim's stems in usable clauses, or 0.0 with the refusing rule."""
    if _excluded(said, asked_text):
        return 0.0, "fragment"
    if _kin_missing(said, asked):
        return 0.0, "other-subject"
    if _other_order(quote, claim):
        return 0.0, "order"
    wanted = _wanted(said, asked_text)
    coverage = _cover(said, asked_text, asked, wanted)
    if coverage.fault:
        return 0.0, coverage.fault
    if _other_quantity(said, wanted):
        return 0.0, "number"
    comparable = said.grammar is asked_text.grammar and coverage.best < len(wanted)
    if _other_slot(said, claim, coverage.parts) or (
        comparable and _swapped(said, asked_text, asked)
    ):
        return 0.0, "slot"
    share = len(coverage.usable) / len(wanted)
    if share <= FLOOR and _of_things(said, coverage.parts, asked):
        return 0.0, "other-subject"
    return share, "coverage"


def _of_things(said: Text, parts: Sequence[Part], asked: Part) -> bool:
    """Tell whether a quote speaks of a thing only, where half the claim is about the principal.

    "Oslo is beautiful" mentions a city and says nothing of who lives there.
    """
    if asked.subject.kind != "principal" or said.grammar is not ENGLISH:
        return False
    if said.words & lexicon.PRINCIPAL or "please" in said.words or _spoken(said) <= _SHORT_TURN:
        return False
    return all(part.is_of_thing for part in parts)


class _Coverage(NamedTuple):
    """What usable clauses cover, the most that one clause covers, why that one is unusable."""

    usable: frozenset[str]
    best: int
    fault: str
    parts: tuple[Part, ...]


def _cover(said: Text, claim: Text, asked: Part, wanted: frozenset[str]) -> _Coverage:
    """Cover the wanted stems clause by clause; among equals a usable clause is the best."""
    best, fault = 0, ""
    usable: frozenset[str] = frozenset()
    parts: list[Part] = []
    for part in said.parts:
        covered = part.stems & wanted
        reason = _fault(part, claim, _counterpart(part, claim, asked))
        if not reason:
            usable |= covered
            parts.append(part)
        if len(covered) > best or (len(covered) == best and not reason):
            best, fault = len(covered), reason
    return _Coverage(usable, best, fault, tuple(parts))


def _wanted(said: Text, claim: Text) -> frozenset[str]:
    """Return the stems of the claim that the quote has to cover; never none."""
    wanted = claim.stems
    if said.words & {"we", "us", "our", "ours"}:
        wanted = wanted - _COLLECTIVE or wanted
    if _requests(said):
        wanted = wanted - {LIKED} or wanted
    if _spoken(said) <= _SHORT_TURN:
        wanted = wanted - (_ASKED_FOR - said.stems) or wanted
    return wanted


def _spoken(said: Text) -> int:
    return sum(not token.is_mark for token in said.tokens)


def _other_quantity(said: Text, wanted: frozenset[str]) -> bool:
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


def _requests(said: Text) -> bool:
    """Tell whether a quote asks for something in few words: that is a preference unsaid."""
    brief = "please" in said.words or _spoken(said) <= _SHORT_TURN
    return LIKED not in said.stems and brief


def _kin_missing(said: Text, asked: Part) -> bool:
    """Tell whether the claim is about a relation that a first-person quote does not mention."""
    if asked.subject.kind != "relation":
        return False
    kin = {lexicon.KIN.get(word, word) for word in said.words}
    pronoun = any(part.subject.kind == "pronoun" for part in said.parts)
    return asked.subject.key not in kin and not pronoun and not _same_bearer(said, asked)


def _same_bearer(said: Text, asked: Part) -> bool:
    """Tell whether the quote has the name that stands beside the relation: "colleague Tom"."""
    return any(
        token.word in lexicon.KIN and name.surface[:1].isupper() and name.word in said.words
        for token, name in pairwise(asked.tokens)
    )


def _scripts_differ(quote: Script, claim: Script) -> bool:
    if "common" in {quote, claim} or quote == claim:
        return False
    return not {quote, claim} <= _EAST_ASIAN


def score_support(quote: str, claim: str, names: Sequence[str]) -> Verdict | None:
    """Return how far a quote supports a claim; None when nothing here can tell.

    ``scores["entails"]`` is the share of the claim that the quote covers, 0.0 when a rule refused;
    ``rule`` is ``support:`` with the refusing rule's name or ``coverage``.
    """
    mine, theirs = collapse_lines(fold(quote)), collapse(fold(claim))
    kept = usable_names(names)
    scripts = dominant_script(mine), dominant_script(theirs)
    if _scripts_differ(*scripts):
        return _across_scripts(mine, theirs)
    if scripts[0] in UNSPACED_SCRIPTS or scripts[1] in UNSPACED_SCRIPTS:
        result: tuple[float, str] | None = unspaced.score(mine, theirs, kept)
    else:
        result = _spaced(fold_names(mine, kept), fold_names(theirs, kept))
    return None if result is None else _verdict(*result)


def collapse_lines(text: str) -> str:
    """Return the text with white space collapsed but line ends kept: they end sentences."""
    return "\n".join(filter(None, (collapse(line) for line in text.splitlines())))


def _across_scripts(quote: str, claim: str) -> Verdict | None:
    """Refuse when both write digits and none of the claim's is in the quote, else None."""
    said = set(re.findall(r"\d+", quote))
    wanted = set(re.findall(r"\d+", claim))
    return _verdict(0.0, "number") if said and wanted and not said & wanted else None


def _verdict(score: float, rule: str) -> Verdict:
    label: Label = "same" if score >= _FULL else "unknown" if score >= FLOOR else "distinct"
    if rule in {"polarity", "fragment", "number", "date", "slot", "order"}:
        label = "contradicts"
    return Verdict(label, f"support:{rule}", {"entails": score})
