"""What the decision layer asks beyond a verdict: same object, kind of rule.

========================================  ==========================  ==============================
rules                                     kind (`kind_of`)            what the write path may do
========================================  ==========================  ==============================
``negation`` ``polarity`` ``ended``       ``state``: the same thing   supersede, under any two keys,
                                          now has the other sign      multi-valued attributes too
``slot:*`` ``name`` ``number`` ``date``   ``value``: one attribute    supersede on the same
``order`` ``only``                        has another value           single-valued key; otherwise
                                                                      insert with a conflict row
``antonym`` ``marital`` ``implied``       ``flag``: probably a        insert with conflict rows both
                                          conflict                    ways, never retire
``model``                                 ``model``: a model's        as the design says for models
                                          answer, fakes included
``equal`` ``equal-words``                 ``same``: one claim         reinforce
``equal-reordered``
every other                               ``none``: no conflict       insert
                                          found
========================================  ==========================  ==============================

Only a verdict ``contradicts`` or ``same`` has a kind other than ``none``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from retold.ingest.lexical_judge.features import CACHED_CLAIMS
from retold.ingest.lexical_judge.names import fold_names, usable_names
from retold.ingest.lexical_judge.normalise import MAX_CHARS, collapse, fold
from retold.ingest.lexical_judge.quoted import LIKED, content_stems, read_words
from retold.ingest.lexical_judge.unspaced import stems_of_unspaced
from retold.models.verdict import Verdict
from retold.text import UNSPACED_SCRIPTS, dominant_script

RuleKind = Literal["state", "value", "flag", "model", "same", "none"]

STATE_RULES: Final = frozenset({"negation", "polarity", "ended"})
VALUE_RULES: Final = frozenset({"name", "number", "date", "order", "only"})
FLAG_RULES: Final = frozenset({"antonym", "marital", "implied"})
SAME_RULES: Final = frozenset({"equal", "equal-words", "equal-reordered"})
SLOT_PREFIX: Final = "slot:"


def kind_of(verdict: Verdict) -> RuleKind:
    """Return which kind of rule gave the verdict; see the table in the module's docstring."""
    if verdict.label not in {"same", "contradicts"}:
        return "none"
    rule = verdict.rule
    if rule == "model":
        return "model"
    if rule in STATE_RULES:
        return "state"
    if rule in VALUE_RULES or rule.startswith(SLOT_PREFIX):
        return "value"
    if rule in FLAG_RULES:
        return "flag"
    return "same" if rule in SAME_RULES else "none"


def object_stems(text: str, names: Sequence[str] = ()) -> frozenset[str]:
    """Return the content stems of a claim without polarity, negation or the principal.

    ``names`` are the principal's.  Numbers and dates count.  A text of an unspaced script answers
    with its character pairs.
    """
    return _object_stems(text[:MAX_CHARS], tuple(names))


@lru_cache(maxsize=CACHED_CLAIMS)
def _object_stems(text: str, names: tuple[str, ...]) -> frozenset[str]:
    folded, kept = collapse(fold(text)), usable_names(names)
    if dominant_script(folded) in UNSPACED_SCRIPTS:
        return stems_of_unspaced(folded, kept)
    read = read_words(fold_names(folded, kept))
    endings = {token.stem for token in read.tokens if token.word in read.grammar.ending}
    return content_stems(read) - endings - {LIKED}


def same_object(a: str, b: str, names: Sequence[str] = ()) -> bool:
    """Tell whether two claims speak of the same object: equal, non-empty `object_stems`."""
    mine = object_stems(a, names)
    return bool(mine) and mine == object_stems(b, names)


def shares_object_stem(a: str, b: str, names: Sequence[str] = ()) -> bool:
    """Tell whether two claims have an object stem in common: such neighbours are always judged."""
    return not object_stems(a, names).isdisjoint(object_stems(b, names))
