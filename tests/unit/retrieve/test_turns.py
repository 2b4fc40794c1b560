"""Turns that lend each other their scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.index.columns import NEVER_US, NO_SESSION, Columns, encode_flags
from retold.retrieve.turns import (
    NOBODY,
    Turns,
    raised_by_neighbour,
    raised_by_session_text,
)


def turns_of(*rows, scope=1):
    """Return the turns of (session, event time) rows and their eligible rows."""
    columns = Columns()
    for seq, (session, event_us, *rest) in enumerate(rows, start=1):
        flags = encode_flags("semantic" if "fact" in rest else "episodic", "confirmed", "system")
        columns.append(
            seq, 2 if "foreign" in rest else 1, flags, NEVER_US, event_us, session=session
        )
    return Turns(columns.eligible([scope], now_us=0))


def rows(*numbers):
    return np.array(numbers, dtype=np.int32)


def test_neighbours_are_the_turns_before_and_after_in_the_same_session():
    turns = turns_of((0, 1), (1, 1), (0, 2), (1, 2), (0, 3))

    assert turns.beside(rows(0, 2, 4, 3)).tolist() == [
        [NOBODY, 2], [0, 4], [2, NOBODY], [1, NOBODY]
    ]  # fmt: skip
    assert turns.neighbours(rows(2, 3)).tolist() == [1, 2, 5]


def test_order_is_that_of_being_said_whatever_was_stored_first():
    turns = turns_of((0, 30), (0, 10), (0, 20), (0, 20))

    assert turns.beside(rows(0, 1, 2)).tolist() == [[3, NOBODY], [NOBODY, 2], [1, 3]]


def test_facts_records_without_session_and_those_of_others_are_no_neighbours():
    turns = turns_of((0, 1), (0, 2, "fact"), (0, 3, "foreign"), (0, 4), (NO_SESSION, 5), (-1, 6))

    assert turns.beside(rows(0, 1, 3, 4)).tolist() == [
        [NOBODY, 3], [NOBODY, NOBODY], [0, NOBODY], [NOBODY, NOBODY]
    ]  # fmt: skip


def test_a_turn_has_at_least_half_of_its_better_neighbours_score():
    turns = turns_of(*[(0, at) for at in range(5)])
    fused = np.array([0.8, 0.1, 0.5])

    raised = raised_by_neighbour(fused, rows(1, 2, 4), turns, 0.5)

    assert raised.amounts.tolist() == pytest.approx([0.0, 0.3, 0.0])
    boosts = raised.at(np.arange(3))
    assert [boost and boost.name for boost in boosts] == [None, "neighbour", None]
    assert raised_by_neighbour(fused, rows(1, 2, 4), turns, 0.0) is None


def test_a_session_that_holds_the_words_raises_what_was_said_in_it():
    sessions = rows(0, 1, 1, NO_SESSION)

    raised = raised_by_session_text(sessions, np.array([1.0, 4.0]), 0.3)

    assert raised.amounts.tolist() == pytest.approx([0.075, 0.3, 0.3, 0.0])
    assert raised_by_session_text(sessions, np.zeros(2), 0.3) is None


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 4)), min_size=1, max_size=12),
    st.data(),
)
def test_neighbours_do_not_depend_on_the_order_of_the_pool(said, data):
    turns = turns_of(*said)
    pool = data.draw(st.permutations(range(len(said))))
    fused = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(said), max_size=len(said))))
    amounts = raised_by_neighbour(fused, rows(*pool), turns, 0.5).amounts
    order = np.argsort(pool)
    again = raised_by_neighbour(fused[order], rows(*range(len(said))), turns, 0.5).amounts

    assert amounts[order].tolist() == again.tolist()
