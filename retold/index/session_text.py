"""BM25 of whole sessions: the eligible records of one conversation as one document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from retold.index.bm25 import K1, B, Phrase, inverse_frequency
from retold.index.columns import Eligible, Mask, Rows
from retold.index.postings import Occurrences, occurrences
from retold.index.words import Words

SessionScores = npt.NDArray[np.float64]
"""One score per session code of the eligible rows; 0.0 for one that holds none of the words."""


def session_scores(
    words: Words, eligible: Eligible, phrases: Sequence[Phrase], most_records: int
) -> SessionScores:
    """Return FTS5's bm25 of each session as if every session were one row of the table.

    Statistics count eligible records of sessions alone, so nobody else's words change a score.
    Sessions of more than ``most_records`` eligible records score 0 and count as documents still.
    """
    owners = _owners(eligible, len(words.lengths))
    # Rows added later without words are unknown to ``words``, and their sessions count as well.
    records = np.bincount(eligible.sessions() + 1)[1:]
    lengths = np.bincount(owners, weights=words.lengths, minlength=len(records) + 1)[1:]
    sessions = int(np.count_nonzero(records))
    scores = np.zeros(len(records))
    tokens = float(lengths.sum())
    if sessions == 0 or tokens == 0.0:
        return scores
    saturation = K1 * (1.0 - B + B * lengths / (tokens / sessions))
    for phrase in phrases:
        found = _found(words, phrase)
        at = owners[found.rows]
        times = np.bincount(at, weights=found.times, minlength=len(records) + 1)[1:]
        holding = int(np.count_nonzero(times))
        if holding:
            idf = inverse_frequency(sessions, holding)
            scores += idf * (K1 + 1.0) * times / (times + saturation)
    scores[records > most_records] = 0.0
    return scores


def _owners(eligible: Eligible, size: int) -> Rows:
    """Return one more than the session of every row, 0 for one that is not eligible or has none."""
    seen = eligible.mask()[:size]
    owners = np.zeros(size, dtype=np.int32)
    owners[: len(seen)] = np.where(seen, eligible.columns.sessions(_all(len(seen))) + 1, 0)
    return owners


def _all(size: int) -> Mask:
    return np.ones(size, dtype=np.bool_)


def _found(words: Words, phrase: Phrase) -> Occurrences:
    """Return the rows that hold a phrase, whoever may see them, and how often."""
    numbers = words.vocabulary.numbers(phrase)
    if numbers is None:
        return Occurrences(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))
    postings = words.postings
    rows, codes = postings.of(numbers[0])
    for number in numbers[1:]:
        rows = np.intersect1d(rows, postings.of(number)[0], assume_unique=True)
    if len(numbers) == 1:
        found = Occurrences(rows, postings.code_times[codes])
    else:
        found = postings.within(rows, numbers)
    if words.replaced is not None:
        still = ~words.replaced[found.rows]
        found = Occurrences(found.rows[still], found.times[still])
    if len(words.recent) == 0:
        return found
    recent = occurrences(words.recent, words.recent_owners, numbers)
    return Occurrences(
        np.concatenate([found.rows, recent.rows]), np.concatenate([found.times, recent.times])
    )
