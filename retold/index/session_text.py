"""BM25 of whole sessions: the eligible records of one conversation as one document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from retold.index.bm25 import K1, B, Phrase, inverse_frequency
from retold.index.columns import Columns, Eligible, Rows
from retold.index.postings import NOWHERE, Counts, Occurrences, Places
from retold.index.words import Words

Owners = npt.NDArray[np.intp]
SessionScores = npt.NDArray[np.float64]
"""One score per session code of the eligible rows; 0.0 for one that holds none of the words."""


class _Totals(NamedTuple):
    """The sessions of some eligible rows.

    ``owners`` is one more than the session of every row of the words, 0 for one that is not
    eligible or has none; ``records`` and ``saturation``, FTS5's length norm, are one per session.
    """

    owners: Owners
    records: Owners
    saturation: SessionScores | None


class _AllFound(NamedTuple):
    """Where some phrases stand: ``sizes`` says how many of ``rows`` and ``times`` each has."""

    rows: Rows
    times: Places
    sizes: list[int]


class SessionTotals:
    """What ``session_scores`` counts whatever is asked, kept for the next search of the same rows.

    Rows are told apart by comparing them all, so nobody meets what belongs to another caller. Safe
    across threads: what is kept is replaced as a whole.
    """

    def __init__(self) -> None:
        self._held: tuple[Words, Columns, bytes, _Totals] | None = None

    def __repr__(self) -> str:
        return f"SessionTotals(held={self._held is not None})"

    def of(self, words: Words, eligible: Eligible) -> _Totals:
        """Return the totals of eligible rows."""
        held, mask = self._held, eligible.mask().tobytes()
        if held is not None:
            is_same = held[0] is words and held[1] is eligible.columns
            if is_same and held[2] == mask:
                return held[3]
        found = _totals(words, eligible)
        self._held = (words, eligible.columns, mask, found)
        return found


def session_scores(
    words: Words,
    eligible: Eligible,
    phrases: Sequence[Phrase],
    most_records: int,
    totals: SessionTotals | None = None,
) -> SessionScores:
    """Return FTS5's bm25 of each session as if every session were one row of the table.

    Statistics count eligible records of sessions alone, so nobody else's words change a score.
    Sessions of more than ``most_records`` eligible records score 0 and count as documents still.
    ``totals`` spares counting again what does not depend on the phrases.
    """
    owners, records, saturation = (totals or SessionTotals()).of(words, eligible)
    found = _all_found(words, phrases)
    if saturation is None or not found.sizes:
        return np.zeros(len(records))
    # One count for all phrases, each with columns of its own.
    size = len(records) + 1
    columns = np.repeat(np.arange(len(found.sizes)) * size, found.sizes)
    columns += owners.take(found.rows)
    counted = np.bincount(columns, weights=found.times, minlength=size * len(found.sizes))
    times = counted.reshape(len(found.sizes), size)[:, 1:]
    sessions, gain = int(np.count_nonzero(records)), K1 + 1.0
    # A word that no eligible session holds adds nothing, whatever its rarity.
    rarity = [
        [gain * inverse_frequency(sessions, int(np.count_nonzero(of_phrase)))]
        for of_phrase in times
    ]
    scores: SessionScores = np.zeros(len(records))
    # One by one: numpy adds in another order where there is but one session, others' included.
    for of_phrase in times / (times + saturation) * rarity:
        scores += of_phrase
    scores[records > most_records] = 0.0
    return scores


def _totals(words: Words, eligible: Eligible) -> _Totals:
    owners = eligible.columns.all_sessions(eligible.total).astype(np.intp) + 1
    owners *= eligible.mask()
    # Rows added later without words are unknown to ``words``, and their sessions count as well.
    records = np.bincount(owners)[1:]
    owners = _sized(owners, len(words.lengths))
    lengths = np.bincount(owners, weights=words.lengths, minlength=len(records) + 1)[1:]
    sessions, tokens = int(np.count_nonzero(records)), float(lengths.sum())
    if sessions == 0 or tokens == 0.0:
        return _Totals(owners, records, None)
    saturation = K1 * (1.0 - B + B * lengths / (tokens / sessions))
    return _Totals(owners, records, np.asarray(saturation, dtype=np.float64))


def _sized(owners: Owners, size: int) -> Owners:
    """Return the owners of exactly ``size`` rows; one that is not known has none."""
    if len(owners) >= size:
        return owners[:size]
    return np.concatenate([owners, np.zeros(size - len(owners), dtype=owners.dtype)])


def _all_found(words: Words, phrases: Sequence[Phrase]) -> _AllFound:
    """Return the rows that hold each phrase, whoever may see them, and how often.

    Single words come first, each kind in the order of the query, whether rows changed or not: the
    order of adding rounds.
    """
    postings = words.postings
    known = [found for one in phrases if (found := words.vocabulary.numbers(one)) is not None]
    known.sort(key=_is_phrase)
    plain: list[tuple[Rows, Counts]] = []
    others: list[Occurrences] = []
    is_changed = words.replaced is not None or len(words.recent) > 0
    for numbers in known:
        if is_changed or _is_phrase(numbers):
            others.append(_found(words, numbers))
        else:
            plain.append(postings.of(numbers[0]))
    rows = [rows for rows, _ in plain] + [one.rows for one in others]
    times = [one.times for one in others]
    if plain:
        times.insert(0, postings.code_times.take(np.concatenate([codes for _, codes in plain])))
    sizes = [len(one) for one in rows]
    if not sum(sizes):
        return _AllFound(NOWHERE.rows, NOWHERE.times, [])
    return _AllFound(np.concatenate(rows), np.concatenate(times), sizes)


def _is_phrase(numbers: Sequence[int]) -> bool:
    return len(numbers) > 1


def _found(words: Words, numbers: Sequence[int]) -> Occurrences:
    """Return the rows that hold one phrase, whatever has changed since postings were made."""
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
    recent = words.recently(numbers)
    if len(recent.rows) == 0:
        return found
    return Occurrences(
        np.concatenate([found.rows, recent.rows]), np.concatenate([found.times, recent.times])
    )
