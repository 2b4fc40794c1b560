import numpy as np
import pytest

from retold.index import matrix as matrices
from retold.index.columns import NEVER_US, Columns, encode_flags
from retold.index.matrix import BLOCK_ROWS, Matrix

DIMS = 8
NOW = 0
FLAGS = encode_flags("semantic", "confirmed", "user_statement")


def unit(vectors):
    vectors = np.asarray(vectors, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def random_units(count, seed=0, dims=DIMS):
    return unit(np.random.default_rng(seed).standard_normal((count, dims)))


def filled(vectors, scope_of=lambda row: 1, seq_of=lambda row: row + 1):
    columns, matrix = Columns(), Matrix(DIMS)
    for row, vector in enumerate(vectors):
        at = columns.append(seq_of(row), scope_of(row), FLAGS, NEVER_US, 0)
        matrix.put(at, vector)
    return columns, matrix


def brute(vectors, queries, eligible, k):
    """Return the ranking computed in float64, one record at a time."""
    scored = []
    for row in eligible.rows().tolist():
        if vectors[row] is not None:
            best = max(float(np.vecdot(vectors[row], query)) for query in queries)
            scored.append((int(eligible.seq_column[row]), min(1.0, max(-1.0, best))))
    return sorted(scored, key=lambda hit: (-hit[1], hit[0]))[:k]


@pytest.mark.parametrize("count", [1, 5, BLOCK_ROWS, BLOCK_ROWS + 1, 3000])
@pytest.mark.parametrize("part", [1, 2, 3, 50], ids=["all", "half", "third", "few"])
@pytest.mark.parametrize("queries", [1, 3], ids=["one query", "three queries"])
def test_search_equals_comparing_one_by_one(count, part, queries):
    vectors = random_units(count)
    columns, matrix = filled(vectors, scope_of=lambda row: row % part)
    eligible = columns.eligible([0], now_us=NOW)
    asked = random_units(queries, seed=1)

    for k in (1, 7, count + 1):
        assert matrix.search_many(asked, eligible, k) == brute(vectors, asked, eligible, k)


@pytest.mark.parametrize("strangers", [0, 20_000], ids=["scanned", "gathered"])
def test_equal_cosines_come_in_key_order(strangers):
    same = random_units(1)[0]
    count = 600
    columns, matrix = filled(
        [same] * (count + strangers),
        scope_of=lambda row: 1 if row < count else 2,
        seq_of=lambda row: 100_000 - row,
    )
    eligible = columns.eligible([1], now_us=NOW)

    found = [seq for seq, _ in matrix.search_many([same], eligible, 5)]

    assert found == sorted(eligible.seqs().tolist())[:5]


def test_bits_of_a_cosine_do_not_depend_on_who_else_is_eligible():
    vectors = random_units(2000, dims=DIMS)
    query = random_units(1, seed=3)[0]
    columns, matrix = filled(vectors, scope_of=lambda row: 1 if row % 40 else 2)
    everyone = dict(matrix.search_many([query], columns.eligible([1, 2], now_us=NOW), 2000))
    few = dict(matrix.search_many([query], columns.eligible([2], now_us=NOW), 2000))

    assert few == {seq: everyone[seq] for seq in few}
    rows = columns.rows_of(few)
    assert matrix.cosines(query, rows).tolist() == list(few.values())


@pytest.mark.parametrize("strangers", [0, 60], ids=["scanned", "gathered"])
def test_records_without_a_vector_are_left_out(strangers):
    own = [None if row % 2 else vector for row, vector in enumerate(random_units(20))]
    vectors = own + list(random_units(strangers, seed=4))
    columns, matrix = filled(vectors, scope_of=lambda row: 1 if row < 20 else 2)
    query = random_units(1, seed=2)[0]
    eligible = columns.eligible([1], now_us=NOW)

    found = matrix.search_many([query], eligible, 100)

    assert len(matrix) == 10 + strangers
    assert found == brute(vectors, [query], eligible, 100)


@pytest.mark.parametrize("k", [0, -1])
def test_search_for_nothing_returns_nothing(k):
    columns, matrix = filled(random_units(3))

    assert matrix.search_many(random_units(1), columns.eligible([1], now_us=NOW), k) == []


def test_search_of_an_empty_matrix_returns_nothing():
    columns, matrix = Columns(), Matrix(DIMS)

    assert matrix.search_many(random_units(1), columns.eligible([1], now_us=NOW), 5) == []


def test_search_when_no_eligible_record_has_a_vector_returns_nothing():
    columns, matrix = filled([None, None])

    assert matrix.search_many(random_units(1), columns.eligible([1], now_us=NOW), 5) == []


@pytest.mark.parametrize("codes", [[1, 2], [1]], ids=["scanned", "gathered"])
@pytest.mark.parametrize("repeats", [1, 2], ids=["one query", "two queries"])
def test_cosines_stay_within_one_for_equal_vectors(codes, repeats):
    vectors = random_units(900)
    columns, matrix = filled(vectors, scope_of=lambda row: 1 if row < 300 else 2)
    eligible = columns.eligible(codes, now_us=NOW)
    queries = [np.stack([vector] * repeats) for vector in vectors[:100]]

    assert max(float(np.vecdot(vector, vector)) for vector in vectors[:100]) > 1.0
    assert all(matrix.search_many(query, eligible, 1)[0][1] <= 1.0 for query in queries)


def test_wiped_vector_is_zeroed_and_never_found():
    columns, matrix = filled(random_units(5))
    eligible = columns.eligible([1], now_us=NOW)

    matrix.wipe(2)

    assert matrix.vector(2) is None
    assert 3 not in dict(matrix.search_many(random_units(1), eligible, 5))
    assert np.isnan(matrix.cosines(random_units(1)[0], np.array([2], dtype=np.int32)))


def test_growing_keeps_what_was_written():
    vectors = random_units(10_000)
    _, matrix = filled(vectors)

    assert all(np.array_equal(matrix.vector(row), vectors[row]) for row in (0, 1023, 1024, 9999))


def test_a_search_while_the_matrix_grows_finds_all_that_was_there(monkeypatch):
    """Searching takes no lock. Fails when the longer arrays are seen before they are filled."""
    vectors = random_units(50)
    columns, matrix = filled(vectors)
    eligible = columns.eligible([1], now_us=NOW)
    expected = matrix.search_many(vectors[:1], eligible, 50)
    seen = []

    class Looking:
        """numpy, at which somebody searches whenever room is made."""

        def __getattr__(self, name):
            if name in {"empty", "zeros"}:
                with monkeypatch.context() as plain:
                    plain.setattr(matrices, "np", np)
                    seen.append(matrix.search_many(vectors[:1], eligible, 50))
            return getattr(np, name)

    monkeypatch.setattr(matrices, "np", Looking())
    matrix.put(5000, vectors[0])

    assert len(seen) >= 2
    assert all(hits == expected for hits in seen)


def test_vector_is_a_copy():
    _, matrix = filled(random_units(1))

    matrix.vector(0)[:] = 0.0

    assert matrix.vector(0).any()


def test_repair_rescales_and_reports_what_cannot_be_rescaled():
    vectors = random_units(4) * np.float32(3.0)
    matrix = Matrix(DIMS)
    for row, vector in enumerate(vectors[:3]):
        matrix.put_bytes(row, vector.tobytes())

    assert matrix.repair(4) is None
    assert np.allclose(np.linalg.norm([matrix.vector(row) for row in range(3)], axis=1), 1.0)
    assert matrix.vector(3) is None


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf], ids=["zero", "nan", "infinite"])
def test_repair_names_a_row_that_is_no_direction(value):
    matrix = Matrix(DIMS)
    matrix.put_bytes(0, random_units(1).tobytes())
    matrix.put_bytes(1, np.full(DIMS, value, dtype=np.float32).tobytes())

    assert matrix.repair(2) == 1


def test_repr_shows_sizes_only():
    _, matrix = filled(random_units(2))

    assert repr(matrix) == f"Matrix(rows=2, dims={DIMS})"


def test_memory_that_nobody_wrote_is_never_multiplied():
    """It may hold anything, and numpy warns of what is no number."""
    matrix = Matrix(DIMS)
    matrix._data[:] = np.inf
    columns, query = Columns(), unit(np.eye(1, DIMS))[0]
    matrix.refer(matrix.referred(query[None], 0), 0)
    for row, vector in enumerate([query, None]):
        matrix.put(columns.append(row + 1, 1, FLAGS, NEVER_US, 0), vector)

    found = matrix.search_many(query[None], columns.eligible([1], now_us=NOW), 2)

    assert found == [(1, 1.0)]
