"""The rule judge: labels two claims, scores a quote against a claim, without any model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from retold.ingest.lexical_judge.features import parse
from retold.ingest.lexical_judge.normalise import MAX_CHARS, collapse
from retold.ingest.lexical_judge.outcome import MAX_WORDS, Outcome
from retold.ingest.lexical_judge.pair import Pair
from retold.ingest.lexical_judge.pairs_foreign import decide_foreign, is_english
from retold.ingest.lexical_judge.pairs_unspaced import UNSPACED, decide_unspaced
from retold.ingest.lexical_judge.rules import RULES
from retold.ingest.lexical_judge.support import score_support
from retold.models.verdict import Verdict

MAX_COMPARED: Final = 250
"""Words of a claim up to which "same" is decided; beyond it the answer is unknown."""


def decide(pair: Pair) -> Outcome:
    """Return what the rule table says about two parsed claims."""
    for rule in RULES:
        outcome = rule(pair)
        if outcome is None:
            continue
        if outcome.label == "contradicts" and max(pair.a.length, pair.b.length) > MAX_WORDS:
            return Outcome("unknown", "too-long")
        return outcome
    return Outcome("unknown", "none")


class LexicalJudge:
    """Deterministic judge; every verdict names the rule that fired.

    Both methods answer for any two strings in time bounded by the caps on their input.
    """

    name = "lexical-1"
    version = "1"

    def judge(self, a: str, b: str) -> Verdict:
        """Label two claims; the answer does not depend on their order."""
        first, second = collapse(a), collapse(b)
        if first == second:
            return Verdict("same", "equal")
        if max(len(first), len(second)) > MAX_CHARS:
            return Verdict("unknown", "too-long")
        scripts = not (first.isascii() or second.isascii())
        if scripts and UNSPACED.search(first) and UNSPACED.search(second):
            found = decide_unspaced(first, second)
            if found is not None:
                return Verdict(found.label, found.rule)
        mine, theirs = parse(first), parse(second)
        if max(mine.length, theirs.length) > MAX_COMPARED:
            return Verdict("unknown", "too-long")
        if not (is_english(mine.words) or is_english(theirs.words)):
            found = decide_foreign(first, second)
            if found is not None:
                return Verdict(found.label, found.rule)
        pair = Pair(mine, theirs)
        outcome = decide(pair)
        return Verdict(outcome.label, outcome.rule, {"overlap": pair.overlap})

    def support(self, quote: str, claim: str, *, names: Sequence[str] = ()) -> Verdict | None:
        """Score how far the quote supports the claim; None when it cannot be scored.

        ``names`` are the principal's names; the score is in ``Verdict.entails``.
        """
        return score_support(quote, claim, names)
