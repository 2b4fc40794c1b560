"""Boosts of a pool from what the index knows, and whose records count."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from retold.index.bm25 import EligibleWords
from retold.index.columns import NEVER_US, Columns
from retold.retrieve.boosts import boosts_at
from retold.retrieve.poolfacts import Spoken, boost_pool
from retold.retrieve.turns import Turns
from retold.store.codec import to_us
from tests.unit.index.test_session_text import FLAGS, indexed
from tests.unit.retrieve.test_boosts import NOW, UNDATED, levers

MINE, THEIRS = 1, 2


def boosted(rows, seqs, fused, *, cfg=None, times=None, spoken=None, scope=MINE, reloaded=False):
    """Return the amounts by name of each pool member of (session, scope, words) rows.

    ``reloaded`` numbers the rows anew after the search chose its eligible ones.
    """
    columns, words = indexed(rows)
    if times is not None:
        for seq, at in enumerate(times, start=1):
            row = columns.row_of(seq)
            columns._event[row] = to_us(at)
    eligible = columns.eligible([scope], now_us=0)
    held = EligibleWords(words, eligible)
    if reloaded:
        before = Columns()
        for seq, (session, whose, _) in [(len(rows) + 1, rows[0]), *enumerate(rows, start=1)]:
            before.append(
                seq, whose if seq <= len(rows) else THEIRS, FLAGS, NEVER_US, 0, session=session
            )
        eligible = before.eligible([scope], now_us=0)
    if spoken is not None:
        spoken = Spoken(Turns(eligible), held, spoken)
    _, raised = boost_pool(
        np.array(seqs, dtype=np.int64),
        np.array(fused),
        eligible,
        named={},
        dates=UNDATED,
        now_us=to_us(NOW),
        levers=cfg or levers(freshness={"kind": "off"}),
        spoken=spoken,
    )
    boosts = boosts_at(raised, np.arange(len(seqs)))
    return [{boost.name: pytest.approx(boost.amount) for boost in one} for one in boosts]


def test_a_session_counts_eligible_records_only():
    """What others hold of the same conversation neither makes it large enough nor too large."""
    rows = [(7, MINE, []), (8, MINE, []), (8, MINE, [])]
    small, large = [(7, THEIRS, [])], [(8, THEIRS, [])] * 50

    for others in ([], small, large, [*small, *large]):
        assert boosted([*rows, *others], [1, 2], [0.8, 0.4]) == [{}, {"session": 0.15}]


def test_the_history_is_that_of_eligible_records_only():
    cfg = levers(boosts={"session": 0})
    rows = [(-1, MINE, []), (-1, MINE, []), (-1, THEIRS, [])]
    times = [NOW - timedelta(days=days) for days in (100, 400, 4000)]

    assert boosted(rows, [1, 2], [0.5, 0.5], cfg=cfg, times=times) == [
        {"recency": 0.025},
        {"recency": 0.05 / 16},
    ]


@pytest.mark.parametrize("reloaded", [False, True])
def test_turns_are_raised_by_what_stands_beside_them_instead_of_by_the_best_of_their_session(
    reloaded,
):
    rows = [
        (1, MINE, ["tea"]),
        (1, MINE, ["why"]),
        (1, MINE, []),
        (2, MINE, []),
        (2, THEIRS, ["tea"]),
    ]

    found = boosted(
        rows, [1, 2, 3, 4], [0.8, 0.0, 0.1, 0.1], spoken=[[("tea",)], []], reloaded=reloaded
    )

    assert found == [
        {"session_text": 0.3},
        {"neighbour": 0.4, "session_text": 0.3},
        {"session_text": 0.3},
        {},
    ]


def test_a_record_that_left_before_the_words_were_read_gains_nothing_by_them():
    """It has no place there, and the last place is that of somebody else."""
    rows = [(1, MINE, ["tea"]), (1, MINE, [])]
    columns, words = indexed(rows)
    columns._session[-1] = 1
    before = Columns()
    for seq in (1, 2, 3):
        before.append(seq, MINE, FLAGS, NEVER_US, 0, session=1)
    eligible = before.eligible([MINE], now_us=0)
    held = EligibleWords(words, columns.eligible([MINE], now_us=0))

    _, raised = boost_pool(
        np.array([1, 2, 3], dtype=np.int64),
        np.array([0.8, 0.4, 0.4]),
        eligible,
        named={},
        dates=UNDATED,
        now_us=to_us(NOW),
        levers=levers(freshness={"kind": "off"}),
        spoken=Spoken(Turns(eligible), held, [[("tea",)]]),
    )

    (by_words,) = (one for one in raised if one.name == "session_text")
    assert (by_words.amounts > 0.0).tolist() == [True, True, False]
