"""Which of two things a claim puts first: "prefers X over Y"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import Claim, is_content

_COMPARING: Final = frozenset("prefer prefers preferred preferring prefer".split())
_ADDRESSED: Final = lexicon.SECOND_PERSON | lexicon.THIRD_PERSON
_MORE: Final = frozenset({"more", "better", "rather", "less"})


@dataclass(frozen=True, slots=True)
class Preference:
    """The stems of the preferred thing, the stems of the other."""

    better: frozenset[str]
    worse: frozenset[str]


def preference_order(claim: Claim) -> Preference | None:
    """Return the order that the claim states; None when it compares nothing."""
    tokens = claim.tokens
    words = [token.word for token in tokens]
    start = next((n for n, word in enumerate(words) if word in lexicon.LIKING), -1)
    if start < 0:
        start = next((n for n, word in enumerate(words) if word in {"use", "uses", "choose"}), -1)
    if start < 0:
        return None
    links = {"over"} | ({"to"} if words[start] in _COMPARING else set())
    for position in range(start + 1, len(words)):
        if words[position] in _ADDRESSED:
            links.discard("to")
        than = words[position] == "than" and (
            words[position - 1] in _MORE or words[start] in _COMPARING
        )
        if words[position] in links or than:
            better = frozenset(t.stem for t in tokens[start:position] if is_content(t))
            worse = frozenset(t.stem for t in tokens[position:] if is_content(t))
            better, worse = better - worse, worse - better
            if not better or not worse:
                return None
            less = words[position - 1] == "less"
            return Preference(worse, better) if less else Preference(better, worse)
    return None
