"""BM25 over the rows that one caller may see, with statistics of those rows alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from retold.config import FTS5_BM25, Bm25Lever
from retold.index.columns import Eligible, Mask, Rows, Seqs
from retold.index.matrix import BLOCK_ROWS, Hit
from retold.index.postings import Counts, Occurrences, Places
from retold.index.words import Words

Phrase = tuple[str, ...]
"""Index tokens that stand one after the other in one field; most have one."""
Weights = npt.NDArray[np.float64]

K1: Final = FTS5_BM25.k1
B: Final = FTS5_BM25.b
_LEAST_IDF: Final = 1e-6

NARROW_PART: Final = 4
"""Callers who see less than 1/4 of the rows are scored row by row (hotpath.md 3)."""
_PROBE_ABOVE: Final = 8
"""Postings this many times longer than a narrow caller's rows are searched for each row."""


class _Found(NamedTuple):
    """A phrase: where it stands, what one occurrence there weighs, in how many eligible rows.

    ``places`` are row numbers for a broad caller, positions among the eligible rows for a narrow
    one.
    """

    places: Places | Rows
    weights: Weights
    records: int


_NOWHERE = _Found(np.empty(0, dtype=np.int64), np.empty(0), 0)


class EligibleWords:
    """FTS5's bm25, weights 1, 2, 3, as if the eligible rows were the whole table.

    Its two constants can be others: see ``saturated``.
    The number of rows, the average length and the number of rows with a phrase count eligible rows
    only, so nobody else's records change a score. Immutable from outside, cheap to make and meant
    for one search: phrases and sums of scores are remembered. Not for several threads at once.
    """

    def __init__(self, words: Words, eligible: Eligible) -> None:
        self._constants = FTS5_BM25
        self._words = words
        self._eligible = eligible
        size = len(words.lengths)
        self._rows: Rows | None = None
        if eligible.count * NARROW_PART < size:
            rows = eligible.rows()
            self._rows = rows[: np.searchsorted(rows, size)]
        self._mask = _sized(eligible.mask(), size)
        # Which rows the postings speak for.
        self._posted = self._mask if words.replaced is None else self._mask & ~words.replaced
        is_whole = eligible.count == eligible.total == size and words.replaced is None
        self._keeps_all = self._rows is None and is_whole
        lengths = words.lengths
        if not self._keeps_all:
            lengths = lengths[self._mask if self._rows is None else self._rows]
        tokens = int(lengths.sum(dtype=np.int64))
        self._average = tokens / eligible.count if tokens else 0.0
        self._codes: Weights | None = None
        self._phrases: dict[Phrase, _Found] = {}
        self._sums: dict[tuple[Phrase, ...], Weights] = {}

    def __repr__(self) -> str:
        return f"EligibleWords(rows={self._eligible.count}, average_length={self._average:.1f})"

    @property
    def snapshot(self) -> Words:
        """Return the words of all rows; another object as soon as any of them changes."""
        return self._words

    @property
    def rows(self) -> Eligible:
        """Return the rows that count, by their numbers in ``snapshot``."""
        return self._eligible

    def saturated(self, constants: Bm25Lever) -> EligibleWords:
        """Return the same words, scored with these constants in place of FTS5's."""
        if constants == self._constants:
            return self
        made = copy(self)
        made._constants, made._codes = constants, None
        made._phrases, made._sums = {}, {}
        return made

    def search(self, phrases: Sequence[Phrase], limit: int) -> list[Hit]:
        """Return up to ``limit`` (record key, score) that hold a phrase, best first, ties by key.

        A phrase given twice counts twice, as it does in an FTS5 expression.
        """
        if limit <= 0:
            return []
        sums = self._summed(phrases)
        near = _best_places(sums, limit)
        keys = self._eligible.seq_column[near if self._rows is None else self._rows[near]]
        scores = sums[near]
        order = np.lexsort((keys, -scores))[:limit]
        return list(zip(keys[order].tolist(), scores[order].tolist(), strict=True))

    def scores_of(self, phrases: Sequence[Phrase], seqs: Sequence[int] | Seqs) -> Weights:
        """Return the score of each record, with the bits that ``search`` gives, in order.

        0.0 for a record that holds no phrase or is not eligible.
        """
        rows = self._eligible.rows_of(seqs)
        scores = np.zeros(len(rows))
        sums = self._summed(phrases)
        here = np.flatnonzero((rows >= 0) & (rows < len(self._words.lengths)))
        wanted = rows[here]
        scores[here] = sums[wanted if self._rows is None else np.searchsorted(self._rows, wanted)]
        return scores

    def known(self, phrases: Sequence[Phrase]) -> list[bool]:
        """Return for each phrase whether an eligible record holds it."""
        return [self._found(phrase).records > 0 for phrase in phrases]

    def _summed(self, phrases: Sequence[Phrase]) -> Weights:
        """Return the score of every place; those of rows that are not eligible are zero."""
        key = tuple(phrases)
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = self._sum(key)
        return sums

    def _sum(self, phrases: Sequence[Phrase]) -> Weights:
        size = len(self._words.lengths) if self._rows is None else len(self._rows)
        found = [one for phrase in phrases if (one := self._found(phrase)).records > 0]
        if not found:
            return np.zeros(size)
        idf = [self._idf(one.records) for one in found]
        weights = np.concatenate([one.weights for one in found])
        weights *= np.repeat(idf, [len(one.weights) for one in found])
        places = np.concatenate([one.places for one in found])
        # Added one by one in the order of the query: so the rounding is FTS5's.
        sums: Weights = np.bincount(places, weights, size).astype(np.float64, copy=False)
        if self._rows is None and not self._keeps_all:
            sums[~self._mask] = 0.0
        return sums

    @property
    def _of_code(self) -> Weights:
        """Return what one occurrence weighs, by the codes of the postings."""
        if self._codes is None:
            postings = self._words.postings
            self._codes = self._weighed(postings.code_times, postings.code_lengths)
        return self._codes

    def _idf(self, count: int) -> float:
        return inverse_frequency(self._eligible.count, count)

    def _found(self, phrase: Phrase) -> _Found:
        found = self._phrases.get(phrase)
        if found is None:
            found = self._phrases[phrase] = self._find(phrase)
        return found

    def _find(self, phrase: Phrase) -> _Found:
        numbers = self._words.vocabulary.numbers(phrase)
        if numbers is None or self._average == 0.0:
            return _NOWHERE
        posted = self._find_word(numbers[0]) if len(numbers) == 1 else self._find_posted(numbers)
        held = self._words.recently(numbers)
        if len(held.rows) == 0:
            return posted
        recent = self._placed(held, self._mask)
        if posted.records == 0 or recent.records == 0:
            return posted if recent.records == 0 else recent
        return _Found(
            np.concatenate([posted.places, recent.places]),
            np.concatenate([posted.weights, recent.weights]),
            posted.records + recent.records,
        )

    def _find_word(self, number: int) -> _Found:
        rows, codes = self._words.postings.of(number)
        if self._keeps_all:
            return _Found(rows, self._of_code.take(codes), len(rows))
        if self._rows is None and self._words.replaced is None:
            # Rows of others are scored along and wiped from the sum: cheaper than leaving them out.
            return _Found(rows, self._of_code.take(codes), int(np.count_nonzero(self._mask[rows])))
        places, at = self._matching(rows)
        return _Found(places, self._of_code.take(codes[at]), len(places))

    def _matching(self, rows: Rows) -> tuple[Places | Rows, Places]:
        """Return the places of the eligible ones among rows of the postings, and where they are."""
        mine = self._rows
        if mine is None or len(rows) <= len(mine) * _PROBE_ABOVE:
            at = np.flatnonzero(self._posted[rows])
            held = rows[at]
            return (held if mine is None else np.searchsorted(mine, held)), at
        nearest = np.minimum(np.searchsorted(rows, mine), len(rows) - 1)
        places = np.flatnonzero((rows[nearest] == mine) & self._posted[mine])
        return places, nearest[places]

    def _find_posted(self, numbers: Sequence[int]) -> _Found:
        """Find a phrase among the rows that hold all its words."""
        postings = self._words.postings
        rarest, *others = sorted((postings.of(number)[0] for number in set(numbers)), key=len)
        rows = rarest[self._matching(rarest)[1]]
        for other in others:
            if len(rows) == 0:
                break
            nearest = np.minimum(np.searchsorted(other, rows), len(other) - 1)
            rows = rows[other[nearest] == rows]
        return self._placed(postings.within(rows, numbers), self._posted)

    def _placed(self, found: Occurrences, mask: Mask) -> _Found:
        keep = mask[found.rows]
        rows, times = found.rows[keep], found.times[keep]
        places = rows if self._rows is None else np.searchsorted(self._rows, rows)
        return _Found(places, self._weighed(times, self._words.lengths[rows]), len(rows))

    def _weighed(self, times: Places, lengths: Places | Counts) -> Weights:
        """Return the weight of so many occurrences in records of so many tokens."""
        if self._average == 0.0:
            return np.zeros(len(times))
        k1, b = self._constants.k1, self._constants.b
        weights: Weights = (times * (k1 + 1.0)) / (
            times + k1 * (1.0 - b + b * lengths / self._average)
        )
        return weights


def inverse_frequency(documents: int, holding: int) -> float:
    """Return FTS5's idf of what so many documents hold; never 0, however common it is."""
    idf = math.log((documents - holding + 0.5) / (holding + 0.5))
    return idf if idf > 0.0 else _LEAST_IDF


def _sized(mask: Mask, size: int) -> Mask:
    """Return the mask over exactly ``size`` rows; a row that it does not know is not eligible."""
    if len(mask) >= size:
        return mask[:size]
    sized = np.zeros(size, dtype=np.bool_)
    sized[: len(mask)] = mask
    return sized


def _best_places(sums: Weights, limit: int) -> Places:
    """Return places that hold the ``limit`` best scores above zero, and few others."""
    bound = 0.0
    if limit < len(sums):
        pool = sums
        if len(sums) > limit * BLOCK_ROWS:
            pool = np.maximum.reduceat(sums, np.arange(0, len(sums), BLOCK_ROWS))
        bound = float(np.partition(pool, len(pool) - limit)[len(pool) - limit])
    places: Places = np.flatnonzero(sums >= bound) if bound > 0.0 else np.flatnonzero(sums)
    return places
