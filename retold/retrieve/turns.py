"""Turns of a conversation lend each other their scores: for stores of raw transcripts.

A turn answers the one before it, so what a query looks for often stands beside what it matches
(retrieval_quality.md 2.3). Only episodic records of one session count, and only eligible ones.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from retold.index.columns import NO_SESSION, Eligible, Rows, Seqs
from retold.index.session_text import SessionScores
from retold.retrieve.boosts import Amounts, Codes, Raised

NOBODY: Final = -1

_LEAST: Final = 1e-6
_SMALL_CODES: Final = 2**15


class Turns:
    """The eligible turns of every session in the order in which they were said."""

    def __init__(self, eligible: Eligible) -> None:
        rows = eligible.rows()
        sessions = eligible.columns.sessions(rows)
        said = np.flatnonzero((sessions != NO_SESSION) & eligible.columns.are(rows, "episodic"))
        order = _order(sessions[said], eligible.columns.event_us(rows[said]))
        self._rows: Rows = rows[said][order]
        self._sessions: Codes = sessions[said][order]
        self._seq_column = eligible.seq_column
        self._place = np.full(eligible.total, NOBODY, dtype=np.int32)
        self._place[self._rows] = np.arange(len(self._rows), dtype=np.int32)

    def beside(self, rows: Rows) -> npt.NDArray[np.int32]:
        """Return the rows before and after each of some rows, (n, 2); ``NOBODY`` where none is."""
        places = self._place[rows]
        found = np.full((len(rows), 2), NOBODY, dtype=np.int32)
        for column, step in enumerate((-1, 1)):
            near = places + step
            here = np.flatnonzero((places != NOBODY) & (near >= 0) & (near < len(self._rows)))
            same = self._sessions[near[here]] == self._sessions[places[here]]
            found[here[same], column] = self._rows[near[here[same]]]
        return found

    def neighbours(self, rows: Rows) -> Seqs:
        """Return the keys of the turns beside some rows, ascending, without those rows' own."""
        beside = np.unique(self.beside(rows))
        beside = np.setdiff1d(beside[beside != NOBODY], rows)
        return np.sort(self._seq_column[beside])


def _order(sessions: Codes, event_us: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """Return the order by session, then time, then row, without sorting what is in order."""
    if np.all(sessions[1:] >= sessions[:-1]):
        order = np.arange(len(sessions))
    else:
        # Sorting 16-bit numbers is counting them.
        small = int(sessions.max()) < _SMALL_CODES
        order = np.argsort(sessions.astype(np.int16) if small else sessions, kind="stable")
    told, codes = event_us[order], sessions[order]
    if np.any((told[1:] < told[:-1]) & (codes[1:] == codes[:-1])):
        order = np.lexsort((event_us, sessions))
    return order


def raised_by_neighbour(fused: Amounts, rows: Rows, turns: Turns, part: float) -> Raised | None:
    """Raise turns to a part of the better score of their two neighbours in the pool.

    ``rows`` are those of the pool, in the order of ``fused``.
    """
    if part <= 0.0 or len(rows) == 0:
        return None
    beside = turns.beside(rows)
    order = np.argsort(rows)
    at = np.minimum(np.searchsorted(rows, beside, sorter=order), len(rows) - 1)
    places = order[at]
    scores = np.where((beside != NOBODY) & (rows[places] == beside), fused[places], 0.0)
    amounts: Amounts = np.maximum(part * scores.max(axis=1) - fused, 0.0)
    amounts[amounts < _LEAST] = 0.0
    return Raised("neighbour", amounts, ("said right beside a good match",))


def raised_by_session_text(sessions: Codes, scores: SessionScores, weight: float) -> Raised | None:
    """Raise records by how well all that was said in their session matches the words.

    ``sessions`` are codes of the pool; ``scores`` are those of ``session_scores``.
    """
    best = float(scores.max(initial=0.0))
    if weight <= 0.0 or best <= 0.0:
        return None
    amounts: Amounts = scores.take(sessions) * (weight / best)
    # The session of those that have none is -1, which stands for the last one.
    amounts[(sessions == NO_SESSION) | (amounts < _LEAST)] = 0.0
    reason = "its conversation holds the words that were looked for"
    return Raised("session_text", amounts, (reason,))
