import subprocess
import sys
import threading
from contextlib import suppress
from itertools import count

import numpy as np
import pytest

from retold.errors import EmbeddingError, EmbeddingProfileMismatch, StoreError
from retold.index.columns import NO_SESSION
from retold.index.matrix import Matrix
from retold.index.screen import Screen
from retold.index.vector import VectorIndex
from retold.store import Store
from retold.store.projection import ProjectionRepository
from tests.index_support import (
    DIMS,
    IDENTITY,
    OTHER_IDENTITY,
    Row,
    axis,
    change,
    insert,
    open_store,
    remove,
    scope_codes,
)

NOW = 1_000_000
MAX = 4


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def store(path):
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def other(path, store):
    """A second store object on the same file, as another process has."""
    with Store.open(path) as opened:
        yield opened


@pytest.fixture
def index(store):
    return VectorIndex(IDENTITY)


def write(store, *rows, index=None):
    with store.write() as tx:
        seqs = [insert(tx, row) for row in rows]
        if index is not None:
            index.note_own_write(tx, seqs)
    return seqs


def refresh(index, store, limit=MAX):
    with store.read() as tx:
        return index.refresh(tx, limit)


def eligible(index, store, *scopes, **filters):
    codes = scope_codes(store, *(scopes or ["user:ana"]))
    return index.eligible(codes, now_us=NOW, **filters)


def near(index, store, query, floor, *scopes):
    codes = scope_codes(store, *(scopes or ["user:ana"]))
    return index.search_near(query, float(floor), codes, now_us=NOW)


def seqs(index, store, *scopes, **filters):
    return eligible(index, store, *scopes, **filters).seqs().tolist()


def test_refresh_loads_first_then_reports_current(index, store):
    expected = write(store, Row(vector=axis(0)), Row())

    assert not index.is_loaded
    assert refresh(index, store) == "loaded"
    assert index.is_loaded
    assert refresh(index, store) == "current"
    assert seqs(index, store) == expected
    assert len(index) == 2


def test_load_reads_everything_without_a_refresh(index, store):
    expected = write(store, Row(vector=axis(0)))
    with store.read() as tx:
        index.load(tx)

    assert seqs(index, store) == expected
    assert refresh(index, store) == "current"


def test_search_of_an_empty_store_finds_nothing(index, store):
    refresh(index, store)

    assert index.search(axis(0), eligible(index, store), 5) == []


def test_index_that_was_never_loaded_says_so(index):
    with pytest.raises(StoreError, match="not loaded"):
        index.eligible([1], now_us=NOW)


@pytest.mark.parametrize("act", [VectorIndex.load, lambda i, tx: i.refresh(tx, MAX)])
def test_index_refuses_to_read_uncommitted_rows(index, store, act):
    with pytest.raises(StoreError, match="read transaction"), store.write() as tx:
        act(index, tx)


def test_own_write_is_visible_at_once_and_refresh_has_nothing_to_do(index, store):
    """LLD 7 and completions 10: an index never re-applies its own writes."""
    refresh(index, store)
    (seq,) = write(store, Row(vector=axis(3)), index=index)

    assert seqs(index, store) == [seq]
    assert index.search(axis(3), eligible(index, store), 1) == [(seq, 1.0)]
    rows = len(index.seqs)
    assert refresh(index, store) == "current"
    assert len(index.seqs) == rows


def test_burst_of_own_writes_above_the_maximum_does_not_reload(index, store):
    refresh(index, store)
    expected = [write(store, Row(vector=axis(0)), index=index)[0] for _ in range(MAX * 5)]

    assert refresh(index, store) == "current"
    assert seqs(index, store) == expected


def test_own_write_that_was_rolled_back_never_arrives(index, store):
    refresh(index, store)
    with suppress(RuntimeError), store.write() as tx:
        index.note_own_write(tx, [insert(tx, Row(vector=axis(0)))])
        raise RuntimeError

    assert seqs(index, store) == []
    assert refresh(index, store) == "current"


def test_own_write_shows_the_state_at_commit_not_at_the_call(index, store):
    refresh(index, store)
    with store.write() as tx:
        seq = insert(tx, Row(vector=axis(0)))
        index.note_own_write(tx, [seq])
        change(tx, seq, status="superseded")

    assert seqs(index, store) == []
    assert seqs(index, store, include_history=True) == [seq]
    assert refresh(index, store) == "current"


def test_own_write_of_an_undone_savepoint_leaves_nothing(index, store):
    refresh(index, store)
    with store.write() as tx:
        kept = insert(tx, Row(vector=axis(0)))
        index.note_own_write(tx, [kept])
        with suppress(RuntimeError), tx.savepoint():
            index.note_own_write(tx, [insert(tx, Row(vector=axis(1)))])
            raise RuntimeError

    assert seqs(index, store) == [kept]
    assert refresh(index, store) == "current"


def test_own_removal_is_current_too(index, store):
    first, second = write(store, Row(vector=axis(0)), Row(vector=axis(1)))
    refresh(index, store)
    with store.write() as tx:
        remove(tx, first)
        index.note_own_write(tx, [first])

    assert seqs(index, store) == [second]
    assert refresh(index, store) == "current"


def test_own_write_before_the_first_load_is_found_by_the_load(index, store):
    expected = write(store, Row(vector=axis(0)), index=index)

    assert refresh(index, store) == "loaded"
    assert seqs(index, store) == expected


def test_foreign_write_arrives_as_a_delta(index, store, other):
    (first,) = write(store, Row(vector=axis(0)))
    refresh(index, store)
    (second,) = write(other, Row(vector=axis(1)))

    assert refresh(index, store) == "delta"
    assert seqs(index, store) == [first, second]
    assert refresh(index, store) == "current"


def test_write_of_another_process_arrives_as_a_delta(index, store, path):
    refresh(index, store)
    code = (
        "import sys\n"
        "from retold.store import Store\n"
        "from tests.index_support import Row, axis, insert\n"
        "with Store.open(sys.argv[1]) as store, store.write() as tx:\n"
        "    print(insert(tx, Row(vector=axis(5))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )

    assert refresh(index, store) == "delta"
    assert index.search(axis(5), eligible(index, store), 9) == [(int(done.stdout), 1.0)]


def test_only_foreign_changes_count_towards_the_maximum(index, store, other):
    refresh(index, store)
    for _ in range(MAX * 3):
        write(store, Row(vector=axis(0)), index=index)
    write(other, *[Row(vector=axis(1)) for _ in range(MAX)])

    assert refresh(index, store) == "delta"
    assert len(index) == MAX * 4


@pytest.mark.parametrize(
    ("changed", "expected"), [(MAX, "delta"), (MAX + 1, "reloaded"), (MAX * 3, "reloaded")]
)
def test_more_foreign_changes_than_the_maximum_reload(index, store, other, changed, expected):
    write(store, Row(vector=axis(0)))
    refresh(index, store)
    write(other, *[Row(vector=axis(1)) for _ in range(changed)])

    assert refresh(index, store) == expected
    assert len(index) == changed + 1


def test_record_changed_by_both_ends_in_the_newest_state(index, store, other):
    (seq,) = write(store, Row(vector=axis(0)), index=index)
    refresh(index, store)
    with store.write() as tx:
        change(tx, seq, scope="user:ben")
        index.note_own_write(tx, [seq])
    with other.write() as tx:
        change(tx, seq, scope="user:eve")

    assert refresh(index, store) == "delta"
    assert seqs(index, store, "user:eve") == [seq]
    assert seqs(index, store, "user:ana", "user:ben") == []


@pytest.mark.parametrize(
    ("values", "left"),
    [
        ({"status": "deleted"}, 0),
        ({"status": "superseded"}, 0),
        ({"expires_us": NOW}, 0),
        ({"scope": "user:ben"}, 0),
        ({"event_us": 5}, 1),
        ({"source_kind": "tool_result"}, 1),
        ({"type": "passage"}, 0),
    ],
    ids=["deleted", "superseded", "expired", "moved", "dated", "upgraded", "other family"],
)
def test_foreign_change_decides_eligibility(index, store, other, values, left):
    (seq,) = write(store, Row(vector=axis(0)))
    refresh(index, store)
    assert len(seqs(index, store)) == 1
    with other.write() as tx:
        change(tx, seq, **values)

    assert refresh(index, store) == "delta"
    assert len(seqs(index, store)) == left


def test_hard_deleted_row_disappears_with_its_vector(index, store, other):
    kept, gone = write(store, Row(vector=axis(0)), Row(vector=axis(1)))
    refresh(index, store)
    with other.write() as tx:
        remove(tx, gone)

    assert refresh(index, store) == "delta"
    assert seqs(index, store, include_history=True) == [kept]
    assert index.vector_for(gone) is None
    assert index.live.tolist() == [True, False]
    assert index.pos == {kept: 0}


def test_vector_of_a_removed_row_leaves_the_memory(index, store, other):
    """Line that makes it fail when removed: ``wipe`` in ``Generation.remove``."""
    (gone,) = write(store, Row(vector=axis(1)))
    refresh(index, store)
    matrix = index._projection.loaded().matrix
    assert matrix.vector(0).any()
    with other.write() as tx:
        remove(tx, gone)
    refresh(index, store)

    assert matrix.vector(0) is None
    assert not matrix._data[0].any()


def test_late_and_repeated_calls_change_nothing(index, store):
    """Hooks of two threads may run in either order after their commits."""
    refresh(index, store)
    (seq,) = write(store, Row(vector=axis(0)))
    with store.read() as tx:
        older, before = tx.projection.rows([seq], IDENTITY), tx.meta.records_version()
    with store.write() as tx:
        change(tx, seq, status="superseded")
    with store.read() as tx:
        newer, after = tx.projection.rows([seq], IDENTITY), tx.meta.records_version()

    for version, rows in ((after, newer), (before, older), (after, newer)):
        index.apply_committed(version, rows)
        assert seqs(index, store) == []
    assert refresh(index, store) == "current"
    index.apply_committed(before, older)
    index.apply_committed(before, [], [seq])

    assert seqs(index, store, include_history=True) == [seq]


def test_older_snapshot_does_not_turn_the_projection_back(index, store, other):
    (seq,) = write(store, Row(vector=axis(0)))
    refresh(index, store)
    with store.read() as old:
        old.meta.clocks()
        (newer,) = write(other, Row(vector=axis(1)))
        assert refresh(index, store) == "delta"

        assert index.refresh(old, MAX) == "current"
    assert seqs(index, store) == [seq, newer]
    assert refresh(index, store) == "current"


def test_own_write_newer_than_the_snapshot_survives_a_delta(index, store, other):
    refresh(index, store)
    (seq,) = write(other, Row(vector=axis(0)))
    with store.read() as old:
        old.meta.clocks()
        with store.write() as tx:
            change(tx, seq, status="superseded")
            index.note_own_write(tx, [seq])
        index.refresh(old, MAX)

    assert seqs(index, store) == []
    assert refresh(index, store) == "current"
    assert seqs(index, store, include_history=True) == [seq]


@pytest.mark.parametrize("gone", [False, True], ids=["changed", "removed"])
def test_own_write_that_overtakes_a_delta_being_read_is_kept(
    index, store, other, monkeypatch, gone
):
    """Line that makes it fail when removed: the comparison with ``_own_writes`` in ``_advance``."""
    refresh(index, store)
    (seq,) = write(other, Row(vector=axis(0)))
    read_rows = ProjectionRepository.rows

    def slow_rows(repository, wanted, identity):
        found = read_rows(repository, wanted, identity)
        monkeypatch.undo()
        with store.write() as tx:
            remove(tx, seq) if gone else change(tx, seq, status="superseded")
            index.note_own_write(tx, [seq])
        return found

    monkeypatch.setattr(ProjectionRepository, "rows", slow_rows)
    refresh(index, store)

    assert seqs(index, store) == []
    assert refresh(index, store) == "current"


def test_own_write_newer_than_a_reloaded_snapshot_comes_back(index, store, other):
    refresh(index, store)
    write(other, *[Row(vector=axis(0)) for _ in range(MAX * 2)])
    with store.read() as old:
        old.meta.clocks()
        (seq,) = write(store, Row(vector=axis(1)), index=index)
        assert index.refresh(old, MAX) == "reloaded"

    assert refresh(index, store) == "delta"
    assert seq in seqs(index, store)


def test_another_epoch_reloads_even_at_the_same_version(index, store, other):
    write(store, Row(vector=axis(0)))
    refresh(index, store)
    with other.write() as tx:
        tx.run("delete from embeddings")
        tx.run("delete from records")
        tx.meta.set_text("store_epoch", "another")

    assert refresh(index, store) == "reloaded"
    assert len(index) == 0
    assert refresh(index, store) == "current"


def test_reload_drops_retired_rows_when_most_are(index, store, monkeypatch):
    monkeypatch.setattr("retold.index.projection.COMPACT_ABOVE", 3)
    written = write(store, *[Row(vector=axis(0)) for _ in range(6)])
    refresh(index, store)
    for seq in written[:4]:
        with store.write() as tx:
            remove(tx, seq)
            index.note_own_write(tx, [seq])
    assert refresh(index, store) == "reloaded"

    assert index.seqs == written[4:]


def test_eligible_made_before_a_reload_still_searches(index, store, other):
    first, second = write(store, Row(vector=axis(0)), Row(vector=axis(1)))
    refresh(index, store)
    before = eligible(index, store)
    with other.write() as tx:
        remove(tx, first)
        tx.meta.set_text("store_epoch", "another")
    write(other, *[Row(scope="user:ben", vector=axis(1)) for _ in range(9)])
    assert refresh(index, store) == "reloaded"

    assert index.search(axis(1), before, 9) == [(second, 1.0)]


def test_new_embedding_generation_ends_dense_search_only(index, store, other):
    (seq,) = write(store, Row(vector=axis(0)))
    refresh(index, store)
    with other.write() as tx:
        tx.meta.set_int("embedding_generation", 77)
        tx.version()

    assert refresh(index, store) == "delta"
    assert "replaced all vectors" in index.dense_unavailable
    assert seqs(index, store) == [seq]
    assert index.vector_for(seq) is None
    assert np.isnan(index.cosines_to(axis(0), [seq])).all()
    with pytest.raises(EmbeddingProfileMismatch):
        index.search(axis(0), eligible(index, store), 1)
    with store.read() as tx, pytest.raises(EmbeddingProfileMismatch):
        index.require_embedding(tx)


def test_lost_dense_search_stays_lost_over_a_reload_and_returns_with_a_load(index, store, other):
    write(store, Row(vector=axis(0)))
    refresh(index, store)
    with other.write() as tx:
        tx.meta.set_int("embedding_generation", 77)
    assert refresh(index, store) == "delta"
    write(other, *[Row(vector=axis(1)) for _ in range(MAX * 2)])
    assert refresh(index, store) == "reloaded"
    assert index.dense_unavailable

    with store.read() as tx:
        index.load(tx)
        index.require_embedding(tx)
    assert index.dense_unavailable is None
    assert len(index.search(axis(1), eligible(index, store), 99)) == MAX * 2 + 1


def test_unnoticed_generation_is_refused_before_a_write(index, store, other):
    refresh(index, store)
    with other.write() as tx:
        tx.meta.set_int("embedding_generation", 77)

    with store.read() as tx, pytest.raises(EmbeddingProfileMismatch):
        index.require_embedding(tx)


def test_store_of_another_model_loads_without_dense_search(store):
    write(store, Row(vector=axis(0)))
    index = VectorIndex(OTHER_IDENTITY)
    refresh(index, store)

    assert "test/model" in index.dense_unavailable
    assert len(seqs(index, store)) == 1
    with store.read() as tx, pytest.raises(EmbeddingProfileMismatch):
        index.require_embedding(tx)


@pytest.mark.parametrize(
    "damage",
    [
        "update embeddings set version = '9'",
        "update embeddings set dims = 4",
        "update embeddings set vector = x'00000000'",
        "update embeddings set vector = zeroblob(32)",
        "update embeddings set vector = cast(x'0000c07f' || zeroblob(28) as blob)",
    ],
    ids=["other version", "other dims", "short", "zero", "nan"],
)
@pytest.mark.parametrize("when", ["load", "delta"])
def test_vector_that_does_not_fit_ends_dense_search_with_a_reason(
    store, other, damage, when, caplog
):
    """A row number would count the rows of everybody, so only the log may hold it."""
    index = VectorIndex(IDENTITY)
    if when == "delta":
        refresh(index, store)
    (seq,) = write(other, Row(vector=axis(0)))
    with other.write() as tx:
        tx.run(damage)
    refresh(index, store)

    assert index.dense_unavailable in (
        f"a stored vector does not come from {IDENTITY}; the file was damaged or changed from "
        "outside: restore a snapshot",
        "a stored vector cannot be used; the file was damaged or changed from outside: restore a "
        "snapshot",
    )
    assert [record.seq for record in caplog.records if hasattr(record, "seq")] == [seq]
    assert seqs(index, store) == [seq]


@pytest.mark.parametrize(
    "query",
    [np.zeros(DIMS), np.full(DIMS, np.nan), np.ones(DIMS + 1), np.full(DIMS, np.inf)],
    ids=["zero", "nan", "wrong size", "infinite"],
)
def test_search_refuses_a_query_that_is_no_direction(index, store, query):
    write(store, Row(vector=axis(0)))
    refresh(index, store)

    with pytest.raises(EmbeddingError):
        index.search(query, eligible(index, store), 1)
    with pytest.raises(EmbeddingError):
        index.cosines_to(query, [1])


def test_search_normalises_the_query(index, store):
    (seq,) = write(store, Row(vector=axis(0, 1)))
    refresh(index, store)

    assert index.search(axis(0, 1) * 40, eligible(index, store), 1)[0] == (
        seq,
        pytest.approx(1.0),
    )


def test_search_many_keeps_the_best_cosine_and_caps_the_union(index, store):
    written = write(store, *[Row(vector=axis(place)) for place in range(4)])
    refresh(index, store)

    found = index.search_many([axis(0), axis(1), axis(2)], eligible(index, store), 2)

    assert found == [(written[0], 1.0), (written[1], 1.0)]
    assert index.search_many([], eligible(index, store), 2) == []


def test_cosines_compare_records_and_say_where_a_vector_is_missing(index, store):
    first, second, bare = write(store, Row(vector=axis(0)), Row(vector=axis(0, 1)), Row())
    refresh(index, store)

    assert index.cosine(first, second) == pytest.approx(np.sqrt(0.5))
    assert index.cosine(first, bare) is None
    assert index.cosine(bare, first) is None
    assert index.cosine(first, 999) is None
    found = index.cosines_to(axis(0), [999, second, bare, first])
    assert np.isnan(found).tolist() == [True, False, True, False]
    assert index.cosines_to(axis(0), [second])[0] == np.float32(index.cosine(first, second))


def test_cosines_to_repeat_the_bits_of_search(index, store):
    rng = np.random.default_rng(0)
    write(store, *[Row(vector=rng.standard_normal(DIMS)) for _ in range(300)])
    refresh(index, store)
    query = rng.standard_normal(DIMS)
    found = index.search(query, eligible(index, store), 300)

    assert index.cosines_to(query, [seq for seq, _ in found]).tolist() == [c for _, c in found]


def test_search_near_finds_what_search_finds_above_the_floor(index, store):
    """A float32 may round the floor up or down: the floor holds as it is written."""
    rng = np.random.default_rng(1)
    write(store, *[Row(vector=rng.standard_normal(DIMS)) for _ in range(300)], Row())
    refresh(index, store)
    query = rng.standard_normal(DIMS)
    found = index.search(query, eligible(index, store), 301)

    third = found[2][1]
    for floor in (-1.0, 0.3, third, np.nextafter(third, 2.0), np.nextafter(third, -2.0), 1.0):
        assert near(index, store, query, floor) == [hit for hit in found if hit[1] >= floor]
    assert len(near(index, store, query, np.nextafter(third, 2.0))) == 2


def test_search_near_finds_the_same_through_a_screen(index, store, monkeypatch):
    """Fails when rows that arrived after the screen was made are left out, or others let in."""
    monkeypatch.setattr("retold.index.matrix.SCREEN_ABOVE", 300)
    monkeypatch.setattr("retold.index.matrix.SCREEN_AFTER", 3)
    rng = np.random.default_rng(2)
    centres = rng.standard_normal((6, DIMS))

    def some(count, scope):
        chosen = centres[rng.integers(0, 6, count)]
        return [Row(scope, vector=one + rng.normal(0, 0.2, DIMS)) for one in chosen]

    write(store, *some(300, "user:ana"), *some(50, "user:ben"), Row(), index=index)
    refresh(index, store, 1000)
    for _ in range(4):
        near(index, store, centres[0], 0.85)
    late = write(store, *some(60, "user:ana"), *some(5, "user:ben"), Row(), index=index)
    with store.write() as tx:
        remove(tx, late[0])
        index.note_own_write(tx, late[:1])

    rows = eligible(index, store)
    for query in centres:
        found = index.search(query, rows, len(rows))
        for floor in (-1.0, 0.0, 0.5, 0.85, found[3][1], 1.0):
            assert near(index, store, query, floor) == [hit for hit in found if hit[1] >= floor]


def test_search_near_goes_by_the_rows_of_the_latest_load(index, store, monkeypatch):
    """Fails when row numbers of a screen that was replaced meanwhile choose among new rows."""
    monkeypatch.setattr("retold.index.matrix.SCREEN_ABOVE", 2)
    monkeypatch.setattr("retold.index.matrix.SCREEN_AFTER", 1)
    first, *_ = write(store, *[Row(vector=axis(at)) for at in range(DIMS)])
    refresh(index, store)
    possible = Screen.possible

    def reload_meanwhile(*args):
        rows = possible(*args)
        with store.write() as tx:
            remove(tx, first)
            tx.meta.set_text("store_epoch", tx.new_id())
        refresh(index, store)
        return rows

    monkeypatch.setattr(Screen, "possible", reload_meanwhile)

    assert [hit[1] for hit in near(index, store, axis(3), 0.9)] == [1.0]


def test_rows_that_are_written_while_a_screen_is_made_pass_it(index, store, monkeypatch):
    """Fails when the screen is brought to the rows that there were when it was begun."""
    monkeypatch.setattr("retold.index.matrix.SCREEN_ABOVE", 20)
    monkeypatch.setattr("retold.index.matrix.SCREEN_AFTER", 1)
    rng = np.random.default_rng(6)
    write(store, *[Row(vector=rng.standard_normal(DIMS)) for _ in range(40)])
    refresh(index, store)
    late = []
    fitted = Screen.fitted

    def write_meanwhile(*args):
        made = fitted(*args)
        late.extend(write(store, Row(vector=axis(0)), index=index))
        return made

    monkeypatch.setattr(Screen, "fitted", write_meanwhile)
    near(index, store, axis(0), 0.9)

    assert near(index, store, axis(0), 0.99) == [(late[0], 1.0)]


def test_a_screen_whose_vectors_were_dropped_meanwhile_is_not_used(index, store, monkeypatch):
    """Fails when rows without vectors are looked for in a matrix that follows them no longer."""
    monkeypatch.setattr("retold.index.matrix.SCREEN_ABOVE", 20)
    monkeypatch.setattr("retold.index.matrix.SCREEN_AFTER", 1)
    write(store, *[Row(vector=axis(at % DIMS)) for at in range(40)])
    refresh(index, store)
    fitted = Screen.fitted

    def lose_meanwhile(*args):
        made = fitted(*args)
        index._projection.loaded().end_dense("replaced meanwhile")
        write(store, *[Row()] * 1100, index=index)
        return made

    monkeypatch.setattr(Screen, "fitted", lose_meanwhile)

    with pytest.raises(EmbeddingProfileMismatch, match="replaced meanwhile"):
        near(index, store, axis(0), 0.9)


def test_only_rows_that_pass_the_screen_are_compared(index, store, monkeypatch):
    """Fails when the screen is made and not used."""
    monkeypatch.setattr("retold.index.matrix.SCREEN_ABOVE", 20)
    monkeypatch.setattr("retold.index.matrix.SCREEN_AFTER", 1)
    write(store, *[Row(vector=axis(at % DIMS)) for at in range(40)])
    refresh(index, store)
    compared = []
    search_many = Matrix.search_many

    def counted(matrix, queries, rows, *args, **options):
        compared.append(len(rows))
        return search_many(matrix, queries, rows, *args, **options)

    monkeypatch.setattr(Matrix, "search_many", counted)

    assert len(near(index, store, axis(0), 0.9)) == 5
    assert compared == [5]


def test_a_screen_that_cannot_be_made_is_tried_again_later(index, store, monkeypatch):
    """An optimisation that fails must not fail the write that wanted it."""
    monkeypatch.setattr("retold.index.matrix.SCREEN_ABOVE", 20)
    monkeypatch.setattr("retold.index.matrix.SCREEN_AFTER", 3)
    tried = []
    fitted = Screen.fitted

    def fails_once(*args):
        tried.append(args[-1])
        if len(tried) == 1:
            raise MemoryError
        return fitted(*args)

    monkeypatch.setattr(Screen, "fitted", fails_once)
    write(store, *[Row(vector=axis(at % DIMS)) for at in range(40)])
    refresh(index, store)

    for _ in range(10):
        assert len(near(index, store, axis(0), 0.9)) == 5
    assert tried == [40, 40]


def test_searches_by_a_floor_make_a_screen_once_it_pays(index, store, monkeypatch):
    """Narrow callers never do: for them comparing all of their rows is less work."""
    monkeypatch.setattr("retold.index.matrix.SCREEN_ABOVE", 20)
    monkeypatch.setattr("retold.index.matrix.SCREEN_PART", 0.5)
    monkeypatch.setattr("retold.index.matrix.SCREEN_AFTER", 3)
    made = []
    fitted = Screen.fitted
    monkeypatch.setattr(Screen, "fitted", lambda *a: [made.append(a[-1]), fitted(*a)][1])
    rng = np.random.default_rng(3)
    rows = [Row(vector=rng.standard_normal(DIMS)) for _ in range(40)]
    write(store, *rows, *[Row("user:ben", vector=axis(0)) for _ in range(20)])
    refresh(index, store)
    for _ in range(5):
        near(index, store, axis(0), 0.9, "user:ben")
    assert made == []

    for times in range(5):
        near(index, store, axis(0), 0.9)
        assert len(made) == (times >= 2)
    assert made == [60]


def test_vector_for_is_a_copy(index, store):
    (seq,) = write(store, Row(vector=axis(0)))
    refresh(index, store)
    index.vector_for(seq)[:] = 0

    assert index.search(axis(0), eligible(index, store), 1) == [(seq, 1.0)]
    assert index.vector_for(999) is None


def test_update_that_changes_no_vector_keeps_the_row(index, store, other):
    (seq,) = write(store, Row(vector=axis(0)))
    refresh(index, store)
    with other.write() as tx:
        change(tx, seq, status="provisional")
        tx.embeddings.put(seq, axis(0))
    refresh(index, store)

    assert index.seqs == [seq]


def test_replaced_vector_is_found_under_the_new_one_only(index, store, other):
    (seq,) = write(store, Row(vector=axis(0)))
    refresh(index, store)
    with other.write() as tx:
        tx.embeddings.put(seq, axis(1))
    refresh(index, store)

    assert index.search(axis(1), eligible(index, store), 9) == [(seq, 1.0)]


def test_repr_names_no_record(index, store):
    write(store, Row(vector=axis(0)))
    refresh(index, store)

    assert repr(index) == "VectorIndex(records=1, version=1)"


def test_threads_search_while_one_writes(index, store):
    """Results are a subset of the eligible rows, of the caller's scope and in order."""
    write(store, *[Row(scope=f"user:u{i % 4}", vector=axis(i % DIMS)) for i in range(400)])
    refresh(index, store)
    owner = {seq: f"user:u{i % 4}" for i, seq in enumerate(index.seqs)}
    stop, failures, rounds = threading.Event(), [], count()

    def search(number):
        scope = f"user:u{number % 4}"
        try:
            while not stop.is_set():
                with store.read() as tx:
                    index.refresh(tx, MAX)
                    codes = list(tx.scopes.codes([scopes[scope]]).values())
                chosen = index.eligible(codes, now_us=NOW)
                found = index.search(axis(number % DIMS), chosen, 20)
                keys = [seq for seq, _ in found]
                assert chosen.contains_all(keys).all()
                assert {owner.get(seq, scope) for seq in keys} <= {scope}
                assert found == sorted(found, key=lambda hit: (-hit[1], hit[0]))
                next(rounds)
        except BaseException as error:
            failures.append(error)
            raise

    with store.read() as tx:
        scopes = {
            str(s): s for s in (tx.scopes.get(c) for c in scope_codes(store, *owner.values()))
        }
    threads = [threading.Thread(target=search, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for turn in range(60):
        with store.write() as tx:
            seq = insert(tx, Row(scope=f"user:u{turn % 4}", vector=axis(turn % DIMS)))
            victim = turn * 5 + 1
            remove(tx, victim) if turn % 2 else change(tx, victim, status="superseded")
            if turn % 3:
                index.note_own_write(tx, [seq, victim])
    stop.set()
    for thread in threads:
        thread.join()

    assert not failures
    assert next(rounds) > 16
    refresh(index, store)
    fresh = VectorIndex(IDENTITY)
    refresh(fresh, store)
    everyone = list(scopes)
    assert seqs(index, store, *everyone) == seqs(fresh, store, *everyone)


def test_records_of_one_conversation_share_a_session_however_they_arrive(index, store):
    write(store, Row(source_ref="session:a#1"), Row(source_ref="host:call-7#2"), Row())
    refresh(index, store)
    late = [
        "session:a#9", "session:a", "host:call-7#x", "host:alone", "tool_call:9", "host:#1", "#"
    ]  # fmt: skip
    written = write(store, *[Row(source_ref=ref) for ref in late], index=index)
    found = eligible(index, store).sessions().tolist()
    a, host, none = found[:3]

    assert none == NO_SESSION
    assert len({a, host, none}) == 3
    assert found[3:] == [a, a, host, none, none, none, none]

    with store.write() as tx:
        change(tx, written[0], source_ref="host:call-7#3")
        index.note_own_write(tx, written[:1])
    assert eligible(index, store).narrowed(written[:1]).sessions().tolist() == [host]
