"""The screen never hides a row that is near enough, and keeps nothing of one that left."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retold.index.dots import row_dots
from retold.index.matrix import SCREEN_AFTER, Matrix
from retold.index.screen import Screen
from retold.store.embeddings import UNIT_TOLERANCE

SEEDS = st.integers(0, 2**32 - 1)


def units(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def clustered(rng: np.random.Generator, count: int, dims: int, spread: float) -> np.ndarray:
    """Return unit vectors around few centres: spread 0 repeats them, a large one hides them."""
    centres = units(rng.standard_normal((5, dims)))
    noise = rng.standard_normal((count, dims)) * spread / np.sqrt(dims)
    return units(centres[rng.integers(0, 5, count)] + noise)


def screen_of(rows: np.ndarray, size: int | None = None) -> Screen:
    has = np.ones(len(rows), dtype=np.bool_)
    return Screen.fitted(rows, has, len(rows) if size is None else size)


@given(
    seed=SEEDS,
    dims=st.sampled_from([1, 2, 8, 17, 96, 384]),
    spread=st.sampled_from([0.0, 0.01, 0.5, 3.0]),
    pull=st.floats(0, 1),
    at=st.integers(0, 59),
)
def test_no_row_that_is_near_enough_is_hidden(seed, dims, spread, pull, at):
    """The floor is the very cosine of one row, so a bound that is a little low hides that row."""
    rng = np.random.default_rng(seed)
    rows = clustered(rng, 60, dims, spread)
    rows *= np.sqrt(1 + rng.uniform(-UNIT_TOLERANCE, UNIT_TOLERANCE, (60, 1))).astype(np.float32)
    query = units(pull * rows[at : at + 1] + (1 - pull) * rng.standard_normal((1, dims)))[0]
    screen = screen_of(rows, 40)
    screen.follow(rows, 60)
    cosines = row_dots(rows, query)

    possible = screen.possible(query, float(cosines[at]), 60)

    assert set(np.flatnonzero(cosines >= cosines[at])) <= set(possible.tolist())
    assert possible.tolist() == sorted(possible.tolist())


@given(seed=SEEDS, along=st.booleans())
def test_rows_along_and_across_the_directions_are_not_hidden(seed, along):
    """A row of which nothing is left beside its coordinates has the length that rounding gives."""
    rng = np.random.default_rng(seed)
    screen = screen_of(clustered(rng, 200, 96, 0.5))
    basis = np.linalg.qr(screen._directions, mode="complete").Q.astype(np.float32)
    kept = screen._directions.shape[1]
    inside = basis[:, :kept] if along else basis[:, kept:]
    rows = units(rng.standard_normal((30, inside.shape[1])) @ inside.T)
    placed = Screen(screen._directions)
    placed.follow(rows, 30)

    for row in rows:
        cosines = row_dots(rows, row)
        for floor in cosines:
            near = np.flatnonzero(cosines >= floor)
            assert set(near) <= set(placed.possible(row, float(floor), 30).tolist())


def test_most_rows_are_hidden_where_few_directions_say_most():
    """Half of the rows pass when the directions are any others."""
    rng = np.random.default_rng(4)
    turned = np.linalg.qr(rng.standard_normal((384, 384)))[0]
    steep = np.arange(1, 385) ** -0.7
    rows = units((rng.standard_normal((2000, 384)) * steep) @ turned)
    screen = screen_of(rows)

    assert max(len(screen.possible(row, 0.85, 2000)) for row in rows[:20]) < 100


def test_rows_that_arrive_one_by_one_are_bounded_like_those_of_a_load():
    """Fails when what a screen holds is not kept as it grows, or known rows are made anew."""
    rows = clustered(np.random.default_rng(5), 700, 96, 1.0)
    late, early = screen_of(rows[:400]), screen_of(rows[:400])
    early._parts[7] = 0.0
    late._parts[7] = 0.0
    for size in range(401, 701):
        early.follow(rows, size)
    late.follow(rows, 700)

    for row in rows[::50]:
        assert early.possible(row, 0.7, 700).tolist() == late.possible(row, 0.7, 700).tolist()
    assert not early._parts[7].any()


def test_nothing_of_a_wiped_row_is_left():
    """Fails when a wiped vector leaves its coordinates behind."""
    rows = clustered(np.random.default_rng(6), 50, 96, 1.0)
    screen = screen_of(rows)
    screen.wipe(7)
    gone = np.zeros(50, dtype=np.bool_)
    gone[20:30] = True
    screen.wipe(gone)

    left = np.flatnonzero(np.any(screen._parts[:50], axis=1))
    assert left.tolist() == [row for row in range(50) if row != 7 and not 20 <= row < 30]


def filled(rows: np.ndarray) -> Matrix:
    matrix = Matrix(rows.shape[1], len(rows))
    for row, vector in enumerate(rows):
        matrix.put(row, vector)
    return matrix


def test_a_matrix_wipes_its_screen_too():
    """Fails when a vector that leaves the matrix stays in the screen, which its text shows in."""
    rows = clustered(np.random.default_rng(7), 30, 96, 1.0)
    matrix = filled(rows[:20])
    matrix.screen_by(matrix.screened(20), 20)
    matrix.screen._parts[20:] = 0.0
    for row in range(20, 30):
        matrix.put(row, rows[row])
    matrix.wipe(24)

    assert np.flatnonzero(~np.any(matrix.screen._parts[:30], axis=1)).tolist() == [24]
    assert 25 in matrix.screen.possible(rows[25], 0.99, 30)


def test_a_screen_goes_with_a_row_that_it_rests_on():
    """An outlier is a direction of its own: without its row, the directions would still hold it."""
    rows = clustered(np.random.default_rng(11), 60, 96, 0.0)
    rows[33] = units(np.random.default_rng(12).standard_normal((1, 96)))[0]
    matrix = filled(rows)
    made = matrix.screened(60)
    matrix.screen_by(made, 60)
    told = made._directions.T @ rows[33]
    assert np.linalg.norm(told) > 0.99

    matrix.wipe(33)
    assert matrix.screen is None
    matrix.screen_by(made, 60)
    assert matrix.screen is None
    assert sum(matrix.has_use_for_screen(10**6, 1.0) for _ in range(SCREEN_AFTER)) == 1
    assert np.linalg.norm(matrix.screened(60)._directions.T @ rows[33]) < 0.9


def test_rows_that_change_while_a_screen_is_made_are_followed():
    rows = clustered(np.random.default_rng(8), 30, 96, 1.0)
    matrix = filled(rows[:20])
    made = Screen(matrix.screened(20)._directions, 40)
    made.follow(matrix._data, 20)
    made._parts[20:] = 0.0
    matrix.wipe(3)
    for row in range(20, 30):
        matrix.put(row, rows[row])
    matrix.screen_by(made, 30)

    assert np.flatnonzero(~np.any(matrix.screen._parts[:30], axis=1)).tolist() == [3]
    for row in range(20, 30):
        assert row in matrix.screen.possible(rows[row], 0.99, 30)


def test_rows_that_are_wiped_while_a_screen_is_made_do_not_matter(monkeypatch):
    """Fails when numpy looks through a mask that wiping changes: it counts before it fills."""
    matrix = filled(clustered(np.random.default_rng(9), 50, 96, 1.0))
    seen = []
    real = np.flatnonzero
    monkeypatch.setattr(np, "flatnonzero", lambda mask: [seen.append(mask), real(mask)][1])
    matrix.screened(50)

    assert [np.shares_memory(mask, matrix._has) for mask in seen] == [False]


def test_a_screen_that_hides_little_is_given_up():
    """Some models put all texts close together: a screen of them only costs time."""
    matrix = filled(clustered(np.random.default_rng(10), 40, 96, 0.0))
    matrix.screen_by(matrix.screened(40), 40)
    for _ in range(100):
        assert matrix.note_passed(1, 40)
    for _ in range(SCREEN_AFTER - 1):
        assert not matrix.note_passed(40, 40)
    assert matrix.screen is not None
    assert matrix.note_passed(4, 40)
    for _ in range(2):
        matrix.note_passed(40, 40)

    assert matrix.screen is None
    assert not any(matrix.has_use_for_screen(10**6, 1.0) for _ in range(3 * SCREEN_AFTER))
