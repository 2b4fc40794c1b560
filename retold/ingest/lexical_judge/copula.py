"""Claims of the form "the X is VALUE" or "X: VALUE"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import (
    CACHED_CLAIMS,
    Claim,
    attitude_of,
    is_content,
    is_negated,
)
from retold.ingest.lexical_judge.normalise import Token, stem

_MAX_LABEL: Final = 6
EXCLUSIVE_LABELS: Final = {
    stem(word): slot
    for slot, words in {
        "name": "name",
        "home": "city town home hometown residence address country",
        "employer": "employer company workplace",
        "timezone": "timezone",
        "birthplace": "birthplace",
        "birth-date": "birthday birthdate",
        "nationality": "nationality citizenship",
        "age": "age",
    }.items()
    for word in words.split()
}
"""Slot by the stem of the one-word label that names it in a note."""


@dataclass(frozen=True, slots=True)
class Copula:
    """A claim of the form "the X is VALUE" or "X: VALUE", cut at the verb or colon.

    ``label`` are the content stems of X; ``label_sign`` is -1 for a label that denies or dislikes,
    1 for one that likes, else 0.
    """

    label: frozenset[str]
    label_sign: int
    value: tuple[Token, ...]
    is_note: bool
    is_singular: bool

    @property
    def value_words(self) -> tuple[str, ...]:
        """Return the words of the value without articles, adverbs or marks."""
        return tuple(
            token.word
            for token in self.value
            if not token.is_mark
            and token.word not in lexicon.ARTICLES
            and token.word not in lexicon.DEGREE_ADVERBS
        )

    @property
    def names_value(self) -> bool:
        """Tell whether the whole value is written as a name or an identifier."""
        words = [token for token in self.value if token.word in self.value_words]
        return bool(words) and all(
            token.surface[:1].isupper() or token.is_number for token in words
        )


@lru_cache(maxsize=CACHED_CLAIMS)
def read_copula(claim: Claim) -> Copula | None:
    """Return the claim cut at its verb or colon; None for claims of another form."""
    for position, token in enumerate(claim.tokens[: _MAX_LABEL + 1]):
        note = token.word == ":"
        if not position or not (note or token.word in {"is", "are"}):
            continue
        left, right = claim.tokens[:position], claim.tokens[position + 1 :]
        label = frozenset(t.stem for t in left if is_content(t))
        sign = -1 if is_negated(left) else attitude_of(left)
        if not (label or (note and sign)) or not (note or _is_definite(left)):
            return None
        return Copula(label, sign, right, note, _is_singular(left[-1].word))
    return None


def _is_definite(label: Sequence[Token]) -> bool:
    first = label[0].word
    return first in {"the", "my", "our", "user"} or first in lexicon.ATTRIBUTE_NOUNS


def _is_singular(word: str) -> bool:
    return not word.endswith("s") or word.endswith(("ss", "us", "is"))
