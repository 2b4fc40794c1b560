"""Whether a quote supports a claim: the support rule of the decisions, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final, NamedTuple

from retold.ingest.lexical_judge import lexicon, unspaced
from retold.ingest.lexical_judge.clauses import SENTENCE_END
from retold.ingest.lexical_judge.faults import (
    counterpart_of,
    excludes,
    fault_of,
    names_beside_relation,
)
from retold.ingest.lexical_judge.features import Claim, parse
from retold.ingest.lexical_judge.grounding import (
    missing_date,
    missing_name,
    missing_number,
    proper_names,
)
from retold.ingest.lexical_judge.languages import ENGLISH
from retold.ingest.lexical_judge.names import fold_names, usable_names
from retold.ingest.lexical_judge.normalise import collapse, fold, snowball
from retold.ingest.lexical_judge.quoted import LIKED, Part, Text, read_text
from retold.ingest.lexical_judge.reported import without_quotations
from retold.ingest.lexical_judge.rivals import (
    COLLECTIVE,
    counts_otherwise,
    fills_slot_otherwise,
    likes_otherwise,
    mixes_clauses,
    orders_alike,
    orders_otherwise,
    predicate_of,
    says_other_value,
)
from retold.ingest.lexical_judge.roles import swaps_principal, swaps_roles
from retold.ingest.lexical_judge.scope import overreach_of
from retold.models.verdict import Label, Verdict
from retold.text import UNSPACED_SCRIPTS, Script, dominant_script, unspaced_runs

FLOOR: Final = 0.5
"""Coverage from which the caller accepts a quote; here it only picks the verdict's label."""
_MIN_UNKNOWN_WORDS: Final = 3
_SHORT_TURN: Final = 3
_FULL: Final = 1.0
_ASKED_FOR: Final = frozenset(
    snowball(word) for word in lexicon.ATTRIBUTE_NOUNS | {"favourite", "favorite"}
)
"""Stems that a question supplies, so that a short answer need not repeat them."""
_FALSE: Final = frozenset("wrong false untrue incorrect".split())
_EAST_ASIAN: Final[frozenset[Script]] = frozenset({"han", "kana"})


def _claim_part(claim: Text) -> Part:
    """Return the first clause that says something; a claim is one statement."""
    return next((part for part in claim.parts if part.stems), claim.parts[0])


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
    refused = _refused(said, asked_text, asked, quote, claim)
    if refused:
        return 0.0, refused
    wanted = _wanted(said, asked_text)
    coverage = _cover(said, asked_text, asked, wanted)
    if coverage.fault:
        return 0.0, coverage.fault
    if swaps_principal(said, asked_text):
        return 0.0, "order"
    beyond = _rival(said, asked_text, asked, claim, coverage) or overreach_of(
        said, asked_text, coverage.parts
    )
    if beyond:
        return 0.0, beyond
    share = len(coverage.usable) / len(wanted)
    if share <= FLOOR and _of_things(said, coverage.parts, asked):
        return 0.0, "other-subject"
    return share, "coverage"


def _refused(said: Text, asked_text: Text, asked: Part, quote: Claim, claim: Claim) -> str:
    """Return the rule by which the texts as wholes do not fit, "" when none applies."""
    if _is_task(said, asked):
        return "question"
    if said.grammar is ENGLISH and _retracts(said, asked_text):
        return "polarity"
    if excludes(said, asked_text) and not orders_alike(quote, claim):
        return "fragment"
    if _names_otherwise(said, asked_text):
        return "slot"
    if _kin_missing(said, asked):
        return "other-subject"
    otherwise = orders_otherwise(quote, claim) or likes_otherwise(said, claim)
    return "order" if otherwise or swaps_roles(said, asked_text) else ""


def _retracts(said: Text, claim: Text) -> bool:
    """Tell whether a quote calls wrong what the claim says: "I live in Porto, which is wrong".

    Behind it in the same sentence: "no, that's wrong" opens a correction.
    """
    words = [token.word for token in said.tokens]
    triples = zip(words, words[1:], words[2:], [*words[3:], "."], strict=False)
    for at, (first, copula, last, follows) in enumerate(triples):
        ends = follows in SENTENCE_END | {","}
        points = first in {"that", "which", "this", "it"} and copula in lexicon.BE
        if ends and points and last in _FALSE and words[at - 1 : at] != ["because"]:
            before = takewhile(lambda token: token.word not in SENTENCE_END, said.tokens[:at][::-1])
            if any(token.stem in claim.stems for token in before):
                return True
    return False


_TASKS: Final = frozenset(
    "write explain describe draw translate summarise summarize compose generate draft list find "
    "search recommend suggest book convert fix solve calculate debug refactor rewrite rephrase "
    "proofread compare sketch paint simulate imagine".split()
)


def _is_task(said: Text, asked: Part) -> bool:
    """Tell whether a quote only sets a task, where the claim is a fact about the principal.

    "Write a poem about cats" does not say who has any.
    """
    first = next((token.word for token in said.tokens if not token.is_mark), "")
    if first not in _TASKS or said.grammar is not ENGLISH or said.words & {"i", "my", "we", "our"}:
        return False
    wishes = {token.word for token in asked.tokens} & {"want", "wants", "needs", "prefers", "asked"}
    return asked.subject.kind == "principal" and not asked.attitude and not wishes


def _names_otherwise(said: Text, claim: Text) -> bool:
    """Tell whether the claim says what somebody is called and the quote only mentions the name.

    "I'm Erik", "Erik here", "my dog Rex" are as good as "my name is Erik"; "I met Erik" is not.
    """
    if "name" not in claim.stems or "name" in said.stems or said.grammar is not ENGLISH:
        return False
    called = proper_names(claim)
    answers = said.tokens[0].word in called and _spoken(said) <= _SHORT_TURN + 1
    if not called or answers:
        return False
    return not any(
        (first.word in lexicon.BE and second.word in called)
        or (first.word in called and second.word in lexicon.BE | {"here"})
        or (first.word in lexicon.KIN and second.word in called)
        for first, second in pairwise(token for token in said.tokens if token.word != ",")
    )


def _rival(said: Text, asked_text: Text, asked: Part, claim: Claim, coverage: _Coverage) -> str:
    """Return the rule by which the quote has another value than the claim, "" when it has none."""
    if counts_otherwise(said, coverage.wanted):
        return "number"
    comparable = said.grammar is asked_text.grammar and coverage.best < len(coverage.wanted)
    otherwise = (
        fills_slot_otherwise(said, claim, coverage.parts)
        or _mentions_only(said, coverage.parts, asked)
        or mixes_clauses(coverage.parts, asked, said.grammar)
        or (comparable and says_other_value(said, asked_text, asked))
    )
    return "slot" if otherwise else ""


_COPULAS: Final = lexicon.BE | frozenset("become becomes became becoming".split())


def _mentions_only(said: Text, parts: Sequence[Part], asked: Part) -> bool:
    """Tell whether a claim "is a nurse" meets a quote that mentions a nurse and equates nobody."""
    words = [token.word for token in asked.tokens]
    kinds = [n for n, pair in enumerate(pairwise(words)) if _is_kind(*pair)]
    if not kinds or said.grammar is not ENGLISH or _spoken(said) <= _SHORT_TURN:
        return False
    wanted = {token.stem for token in asked.tokens[kinds[0] + 2 :]} & asked.stems
    held = [part for part in parts if part.stems & wanted]
    return bool(held) and not any(_equates(part, wanted) for part in held)


def _is_kind(first: str, second: str) -> bool:
    return first in lexicon.BE and second in {"a", "an"}


def _equates(part: Part, wanted: set[str]) -> bool:
    """Tell whether a copula, or nothing at all, stands before one of the wanted words."""
    copulas = [n for n, token in enumerate(part.tokens) if token.word in _COPULAS]
    if not copulas:
        return not any(token.word in lexicon.PRINCIPAL for token in part.tokens)
    return any(token.stem in wanted for token in part.tokens[copulas[0] :])


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
    """How far a quote covers a claim.

    ``usable`` is what the usable clauses ``parts`` cover of the ``wanted`` stems, ``best`` the most
    that any one clause covers, ``fault`` the rule that refuses that clause, "" when none does.
    """

    wanted: frozenset[str]
    usable: frozenset[str]
    best: int
    fault: str
    parts: tuple[Part, ...]


def _cover(said: Text, claim: Text, asked: Part, wanted: frozenset[str]) -> _Coverage:
    """Cover the wanted stems clause by clause; among equals a usable clause is the best."""
    best, fault = 0, ""
    usable: frozenset[str] = frozenset()
    parts: list[Part] = []
    predicate = predicate_of(asked, claim.grammar) if asked.subject.kind == "principal" else ""
    denied: dict[str, str] = {}
    for part in said.parts:
        covered = part.stems & wanted
        reason = fault_of(part, claim, counterpart_of(part, claim, asked))
        if not reason:
            usable |= covered
            parts.append(part)
        elif reason == "polarity":
            denied[part.predicate] = reason
        elif predicate in covered and reason != "question":
            denied[predicate] = reason
        if len(covered) > best or (len(covered) == best and not reason):
            best, fault = len(covered), reason
    refused = next((r for stem, r in denied.items() if stem in wanted - usable), "")
    return _Coverage(wanted, usable, best, fault or refused, tuple(parts))


def _wanted(said: Text, claim: Text) -> frozenset[str]:
    """Return the stems of the claim that the quote has to cover; never none."""
    wanted = claim.stems
    if said.words & lexicon.WE:
        wanted = wanted - COLLECTIVE or wanted
    if claim.grammar is ENGLISH:
        wanted = wanted - _understood(said, claim) or wanted
    if _requests(said):
        wanted = wanted - {LIKED} or wanted
    if _spoken(said) <= _SHORT_TURN:
        wanted = wanted - (_ASKED_FOR - said.stems) or wanted
    return wanted


def _understood(said: Text, claim: Text) -> set[str]:
    """Return what "my daughter Ida" says without the word: that she is a child, and named Ida."""
    heard = {word for word in said.words if word in lexicon.KIN}
    stems = {
        token.stem
        for token in claim.tokens
        if token.word in lexicon.KIN
        and token.stem not in said.stems
        and any(lexicon.names_relation(word, lexicon.KIN[token.word]) for word in heard)
    }
    return stems | {"name"} if heard and "name" not in said.stems else stems


def _spoken(said: Text) -> int:
    return sum(not token.is_mark for token in said.tokens)


def _requests(said: Text) -> bool:
    """Tell whether a quote asks for something in few words: that is a preference unsaid."""
    brief = "please" in said.words or _spoken(said) <= _SHORT_TURN
    return LIKED not in said.stems and brief


def _kin_missing(said: Text, asked: Part) -> bool:
    """Tell whether the claim is about a relation that a first-person quote does not mention."""
    if asked.subject.kind != "relation":
        return False
    if asked.subject.key in lexicon.COLLECTIVES and said.words & lexicon.WE:
        return False
    key = asked.subject.key
    held = lexicon.mention_relation(said.words, key)
    pronoun = any(part.subject.kind == "pronoun" for part in said.parts)
    return not held and not pronoun and not names_beside_relation(asked) & said.words


def _scripts_differ(quote: Script, claim: Script) -> bool:
    if "common" in {quote, claim} or quote == claim:
        return False
    return not {quote, claim} <= _EAST_ASIAN


_ASKS: Final = ("?", "？", "؟")
"""A question supports nothing, not even itself."""


def score_support(quote: str, claim: str, names: Sequence[str]) -> Verdict | None:
    """Return how far a quote supports a claim; None when nothing here can tell.

    ``scores["entails"]`` is the share of the claim that the quote covers, 0.0 when a rule refused;
    ``rule`` is ``support:`` with the refusing rule's name or ``coverage``.
    """
    mine, theirs = collapse_lines(fold(quote)), collapse(fold(claim))
    if theirs and collapse(mine) == theirs and not claim.rstrip().endswith(_ASKS):
        return Verdict("same", "support:equal", {"entails": 1.0})
    mine = without_quotations(mine)
    kept = usable_names(names)
    scripts = _script(mine), _script(theirs)
    if _scripts_differ(*scripts):
        return _across_scripts(mine, theirs)
    if scripts[0] in UNSPACED_SCRIPTS or scripts[1] in UNSPACED_SCRIPTS:
        result: tuple[float, str] | None = unspaced.score(mine, theirs, kept)
    else:
        result = _spaced(fold_names(mine, kept), fold_names(theirs, kept))
    return None if result is None else _verdict(*result)


def _script(text: str) -> Script:
    """Return the script of a text; an address or a brand in Latin letters counts as one word."""
    unspaced_chars = "".join(unspaced_runs(text))
    words = len(_WORD.findall(text))
    return dominant_script(unspaced_chars if len(unspaced_chars) > words else text)


_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f][\w.@+-]*")


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
