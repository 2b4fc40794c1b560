"""How a quote is found in the text it was taken from."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from retold.text.scripts import UNSPACED_RUN, clusters

_FOLDS: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63", "-"),
    }
)
_QUOTE_MARKS: Final = {
    '"': '"',
    "'": "'",
    "`": "`",
    "«": "»",
    "»": "«",
    "‹": "›",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
}
# Letters that may melt into the one before them: Hangul vowels and finals, Kirat Rai vowels.
_LETTERS_THAT_COMPOSE: Final = (
    ("\u1161", "\u1175"),
    ("\u11a8", "\u11c2"),
    ("\U00016d63", "\U00016d6a"),
)

_CLAUSE_BREAK: Final = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？，、；]+|[,;](?=\s|$)|\n")
_MAX_CLAUSE_CHARS: Final = 300

UNSPACED_CLUSTER_WORDS: Final = 0.5
UNSPACED_CLUSTER_CHARACTERS: Final = 3


def fold_quote(text: str) -> str:
    """Return the form in which a quote and its source are compared.

    NFKC, curly quotes and dash variants as their ASCII forms, white space collapsed; case stays.
    """
    if text.isascii():  # which NFKC and the folds leave as it is
        return " ".join(text.split())
    return " ".join(unicodedata.normalize("NFKC", text).translate(_FOLDS).split())


def strip_quote_marks(folded: str) -> str:
    """Return folded text without the pairs of quote marks around it, ``""`` when all is marks."""
    while len(folded) > 1 and _QUOTE_MARKS.get(folded[0]) == folded[-1]:
        folded = folded[1:-1].strip()
    return folded


def locate_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return the first span of ``text`` that the quote repeats, or None.

    The span is (start, end) in characters of ``text`` as given, and ``fold_quote(text[start:end])``
    equals the folded quote without surrounding quote marks. Case-sensitive. A match that would
    begin or end inside one written character (the ``2`` of ``½``, the ``e`` of ``é``) is none.
    A blank quote is found nowhere.
    """
    wanted = strip_quote_marks(fold_quote(quote))
    if not wanted or wanted not in fold_quote(text):
        return None
    aligned = _align(text)
    start = aligned.folded.find(wanted)
    while start >= 0:
        first, last = aligned.first_at.get(start), aligned.last_at.get(start + len(wanted) - 1)
        if first is not None and last is not None:
            return first, last
        start = aligned.folded.find(wanted, start + 1)
    return None


def clause_around(text: str, span: tuple[int, int]) -> str:
    """Return the words of ``text`` from the clause break before a span to the one after it.

    Commas and the ends of sentences and lines are breaks; what ends a sentence is kept, since it
    tells a question. At most 300 characters on either side are added.
    """
    start, end = span
    first, last = max(0, start - _MAX_CLAUSE_CHARS), min(len(text), end + _MAX_CLAUSE_CHARS)
    breaks = [found.end() for found in _CLAUSE_BREAK.finditer(text, first, min(start + 1, last))]
    after = _CLAUSE_BREAK.search(text, max(end - 1, start), last)
    left = max((at for at in breaks if at <= start), default=first)
    return text[left : max(end, after.end()) if after else last].strip()


class _Aligned(NamedTuple):
    """A folded text and the places where a match in it may begin and end.

    ``first_at`` maps positions of ``folded`` that open a written character to its start in the
    source, ``last_at`` positions that close one to its end there.
    """

    folded: str
    first_at: dict[int, int]
    last_at: dict[int, int]


def _align(text: str) -> _Aligned:
    folded: list[str] = []
    first_at: dict[int, int] = {}
    last_at: dict[int, int] = {}
    space_pending = False
    for start, end in pairwise(_written_character_bounds(text)):
        piece = unicodedata.normalize("NFKC", text[start:end]).translate(_FOLDS)
        opened = False
        for char in piece:
            if char.isspace():
                space_pending = bool(folded)
                continue
            if space_pending:
                folded.append(" ")
                space_pending = False
            if not opened:
                first_at[len(folded)] = start
                opened = True
            folded.append(char)
        if opened:
            last_at[len(folded) - 1] = end
    return _Aligned("".join(folded), first_at, last_at)


def _written_character_bounds(text: str) -> list[int]:
    """Return where NFKC may be applied piecewise: between any two bounds nothing composes."""
    return [0, *(i for i in range(1, len(text)) if not _continues(text[i])), len(text)]


@lru_cache(maxsize=4096)
def _continues(char: str) -> bool:
    """Tell whether the character may compose with, or be reordered before, the one it follows."""
    opener = unicodedata.normalize("NFKD", char)[0]
    return unicodedata.category(opener)[0] == "M" or any(
        start <= opener <= end for start, end in _LETTERS_THAT_COMPOSE
    )


def evidence_length(quote: str) -> tuple[float, int]:
    """Return how much a quote says, as (words, characters).

    In spaced scripts words are what white space separates, if they hold a letter or digit, and
    characters are counted with the single spaces between them. A Han, Kana, Hangul, Thai, Lao,
    Khmer or Burmese cluster is half a word and three characters. Surrounding quote marks do not
    count.
    """
    folded = strip_quote_marks(fold_quote(quote))
    runs = [match.group() for match in UNSPACED_RUN.finditer(folded)]
    dense = sum(len(clusters(run)) for run in runs)
    spaced = UNSPACED_RUN.sub(" ", folded)
    words = sum(any(char.isalnum() for char in word) for word in spaced.split())
    others = len(folded) - sum(map(len, runs))
    return (
        words + dense * UNSPACED_CLUSTER_WORDS,
        others + dense * UNSPACED_CLUSTER_CHARACTERS,
    )
