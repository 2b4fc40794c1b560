"""Cosines with fixed vectors: the same bits however rows arrive, and none of a wiped row."""

from __future__ import annotations

import numpy as np

from retold.index.matrix import BLOCK_ROWS, Matrix, row_dots

DIMS = 24


def units(count: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, DIMS)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def rows(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


def filled(vectors: np.ndarray, *, without: int | None = None) -> Matrix:
    matrix = Matrix(DIMS, len(vectors))
    for row, vector in enumerate(vectors):
        matrix.put(row, None if row == without else vector)
    return matrix


def test_rows_that_arrive_one_by_one_have_the_bits_of_a_load():
    """Fails when the products of new rows are left out, or made by a matrix product."""
    vectors, bank = units(BLOCK_ROWS + 5, 1), units(7, 2)
    early, late = Matrix(DIMS), filled(vectors, without=3)
    early.refer(early.referred(bank, 0), 0)
    for row, vector in enumerate(vectors):
        early.put(row, None if row == 3 else vector)
    late.refer(late.referred(bank, len(vectors)), len(vectors))

    for chosen in (rows(0), rows(3), rows(2, 3, 260), np.arange(len(vectors), dtype=np.int32)):
        ours, theirs = (one.references[0].nearest(chosen) for one in (early, late))
        assert ours.tobytes() == theirs.tobytes()
        wanted = [row for row in chosen.tolist() if row != 3]
        expected = [max((row_dots(vectors[wanted], one)), default=-np.inf) for one in bank]
        assert ours.tolist() == np.array(expected, dtype=np.float32).tolist()


def test_a_wiped_row_is_nearest_to_nothing():
    """Fails when a wiped vector leaves its products behind."""
    vectors, bank = units(4, 3), units(5, 4)
    matrix = filled(vectors)
    matrix.refer(matrix.referred(bank, 4), 4)
    matrix.wipe(2)

    assert np.isneginf(matrix.references[0].nearest(rows(2))).all()
    assert np.isfinite(matrix.references[0].nearest(rows(1, 2))).all()
    assert np.isneginf(matrix.references[0].nearest(rows())).all()


def test_rows_that_change_while_products_are_made_are_followed():
    vectors, bank = units(6, 5), units(5, 6)
    matrix = filled(vectors[:4])
    made = matrix.referred(bank, 4)
    matrix.wipe(1)
    matrix.put(4, vectors[4])
    matrix.refer(made, 5)

    assert np.isneginf(made.nearest(rows(1))).all()
    assert made.nearest(rows(4)).tolist() == [row_dots(vectors[4:5], one)[0] for one in bank]
