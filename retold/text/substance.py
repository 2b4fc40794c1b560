"""What two near-identical texts must agree in before one may stand for the other."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final

from retold.text.calendar_words import COUNTS, DAYS_NEAR, MONTHS, WEEKDAYS
from retold.text.normalise import normalize_alias, normalize_ws
from retold.text.scripts import UNSPACED_RUN, unspaced_runs

_WORD: Final = re.compile(r"[^\W_]+(?:[-'’._@/:,+][^\W_]+)*(?:\+\+|#)?")
_POSSESSIVE: Final = re.compile(r"['’]s?$", re.IGNORECASE)
_TENS: Final = (
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty"
    " seventy eighty ninety hundred thousand million billion dozen half quarter twice once first"
    " second third fourth fifth sixth seventh eighth ninth tenth last"
).split()
_ARTICLES: Final = frozenset("a an ein eine einem einer un une uno una um uma een".split())
_TURNING: Final = frozenset(
    """not no never none nobody nothing neither nor without cannot from before after since until
    against less over under off out down former formerly ex used was were had will would nicht kein
    keine keinen nie ohne ne pas jamais sans nunca sin non mai senza não nem sem niet geen nooit не
    нет без""".split()
)
"""Words that turn a statement around, or its direction or time: one of each pair is enough."""
_TELLING: Final = (
    frozenset({*COUNTS, *_TENS, *MONTHS, *WEEKDAYS, *DAYS_NEAR}) - _ARTICLES
) | _TURNING
_OPENERS: Final = frozenset(
    """the a an my our his her their this that these those user user's he she they it i we der die
    das ein eine el la los las un una le les il lo o a os as""".split()
)
"""Words whose capital at the start of a sentence says nothing."""
_SENTENCE_ENDS: Final = ".!?…"


@dataclass(frozen=True, slots=True)
class Substance:
    """The names, numbers and turning words of a text in order, and all it says without spaces."""

    telling: tuple[str, ...] = field(repr=False)
    unspaced: tuple[str, ...] = field(repr=False)


def substance_of(text: str) -> Substance:
    """Return what another text must have too, in the same order, to say the same as this one.

    A name is a word with a capital, unless it is an article or the like at the start of a
    sentence; a number any word with a digit or the name of one. Text without spaces shows no names,
    so all of it counts. Case, possessives and kinds of apostrophe do not matter.
    """
    spaced = UNSPACED_RUN.sub(" ", text)
    telling: list[str] = []
    for found in _WORD.finditer(spaced):
        word = _POSSESSIVE.sub("", found[0])
        key = normalize_alias(word)
        if _is_telling(word, key) and not (key in _OPENERS and _opens(spaced, found.start())):
            telling.append(key)
    return Substance(tuple(telling), unspaced_runs(text))


def same_words(one: str, other: str) -> bool:
    """Return whether two texts are equal but for case and white space."""
    return folded(one) == folded(other)


def folded(text: str) -> str:
    """Return the text in one case with single spaces; equal for texts with ``same_words``."""
    return normalize_ws(unicodedata.normalize("NFKC", text)).casefold()


def _is_telling(word: str, key: str) -> bool:
    if key in _TELLING or key.endswith(("n't", "n’t")):
        return True
    return word != word.lower() or any(char.isdecimal() for char in word)


def _opens(text: str, start: int) -> bool:
    before = text[max(start - 4, 0) : start].rstrip(" \n\"'([“‘")
    return not before or before[-1] in _SENTENCE_ENDS
