import numpy as np
import pytest

from retold.index.columns import (
    NEVER_US,
    RETIRED,
    Columns,
    Eligible,
    encode_flags,
)
from retold.models import MEMORY_TYPES, RECORD_STATUSES, SOURCE_KINDS

NOW = 1_000


def flags(type_="semantic", status="confirmed", source_kind="user_statement"):
    flag = encode_flags(type_, status, source_kind)
    assert flag is not None
    return flag


def columns_of(*rows):
    """Rows are (seq, scope code, flags, expires_us, event_us)."""
    columns = Columns()
    for row in rows:
        columns.append(*row)
    return columns


def crowd(count, scope_code=9, first_seq=1000):
    """Rows of somebody else, so that a small caller is a narrow one."""
    return [(first_seq + i, scope_code, flags(), NEVER_US, 0) for i in range(count)]


def test_flags_are_distinct_for_every_combination_and_never_retired():
    found = [
        encode_flags(type_, status, source)
        for type_ in MEMORY_TYPES
        for status in RECORD_STATUSES
        for source in SOURCE_KINDS
    ]

    assert len(set(found)) == len(found)
    assert RETIRED not in found
    assert max(found) < RETIRED


def test_flags_of_an_unknown_kind_are_none():
    assert encode_flags("passage", "confirmed", "document") is None


@pytest.mark.parametrize("strangers", [0, 100], ids=["broad", "narrow"])
def test_eligible_returns_only_the_scopes_asked_for(strangers):
    columns = columns_of(
        (1, 1, flags(), NEVER_US, 0),
        (2, 2, flags(), NEVER_US, 0),
        (3, 3, flags(), NEVER_US, 0),
        *crowd(strangers),
    )

    assert columns.eligible([1, 3], now_us=NOW).seqs().tolist() == [1, 3]


@pytest.mark.parametrize("strangers", [0, 100], ids=["broad", "narrow"])
@pytest.mark.parametrize("include_history", [False, True], ids=["present", "history"])
@pytest.mark.parametrize("status", RECORD_STATUSES)
def test_eligible_follows_the_status(status, include_history, strangers):
    columns = columns_of((1, 1, flags(status=status), NEVER_US, 0), *crowd(strangers))
    active = status in ("provisional", "confirmed")
    expected = active or (include_history and status != "deleted")

    found = columns.eligible([1], now_us=NOW, include_history=include_history)

    assert (1 in found.seqs()) is expected


@pytest.mark.parametrize(
    ("expires_us", "expected"),
    [(NOW - 1, False), (NOW, False), (NOW + 1, True), (NEVER_US, True)],
    ids=["before", "this very moment", "after", "never"],
)
def test_eligible_compares_expiry_with_the_moment_of_the_query(expires_us, expected):
    columns = columns_of((1, 1, flags(), expires_us, 0))

    assert (1 in columns.eligible([1], now_us=NOW).seqs()) is expected
    assert 1 in columns.eligible([1], now_us=NOW, include_history=True).seqs()


def test_eligible_includes_since_and_excludes_until():
    columns = columns_of(*[(seq, 1, flags(), NEVER_US, seq * 10) for seq in range(1, 6)])

    found = columns.eligible([1], now_us=NOW, since_us=20, until_us=40)

    assert found.seqs().tolist() == [2, 3]


def test_eligible_filters_types():
    columns = columns_of(
        (1, 1, flags("semantic"), NEVER_US, 0),
        (2, 1, flags("episodic"), NEVER_US, 0),
        (3, 1, flags("procedural"), NEVER_US, 0),
    )

    found = columns.eligible([1], now_us=NOW, types=["episodic"])

    assert found.seqs().tolist() == [2]


@pytest.mark.parametrize("types", [[], ["procedural"]], ids=["no type", "an absent type"])
def test_eligible_is_empty_when_no_type_fits(types):
    columns = columns_of((1, 1, flags(), NEVER_US, 0))

    found = columns.eligible([1], now_us=NOW, types=types)

    assert found.count == 0
    assert found.seqs().tolist() == []
    assert not found.contains_all([1]).any()


def test_eligible_among_keys_still_checks_their_scope():
    """Line that makes it fail when removed: the scope table in ``_rows_among``."""
    columns = columns_of(
        (1, 1, flags(status="superseded"), NEVER_US, 0),
        (2, 2, flags(), NEVER_US, 0),
        (3, 1, flags(), NEVER_US, 0),
    )

    found = columns.eligible([1], now_us=NOW, include_history=True, among=[1, 2, 77])

    assert found.seqs().tolist() == [1]
    assert columns.eligible([1], now_us=NOW, among=[]).count == 0


@pytest.mark.parametrize("codes", [[], [5], [100_000]], ids=["none", "empty scope", "unknown code"])
def test_eligible_is_empty_for_scopes_without_rows(codes):
    columns = columns_of((1, 1, flags(), NEVER_US, 0), (2, 7, flags(), NEVER_US, 0))

    assert columns.eligible(codes, now_us=NOW).count == 0
    assert Columns().eligible(codes, now_us=NOW).count == 0


def test_retired_record_is_gone_and_its_row_is_never_used_again():
    columns = columns_of((1, 1, flags(), NEVER_US, 0), (2, 1, flags(), NEVER_US, 0))
    before = columns.eligible([1], now_us=NOW)

    assert columns.retire(1) == 0
    assert columns.retire(1) is None
    row = columns.append(1, 2, flags(), NEVER_US, 0)

    assert row == 2
    assert columns.retired == 1
    assert columns.eligible([1], now_us=NOW).seqs().tolist() == [2]
    assert columns.eligible([2], now_us=NOW).seqs().tolist() == [1]
    assert before.seqs().tolist() == [1, 2]


def test_seqs_are_ascending_when_a_record_came_back_in_a_new_row():
    columns = columns_of(*[(seq, 1, flags(), NEVER_US, 0) for seq in (1, 2, 3)])
    columns.retire(2)
    columns.append(2, 1, flags(), NEVER_US, 0)

    assert columns.eligible([1], now_us=NOW).seqs().tolist() == [1, 2, 3]


def test_eligible_does_not_see_rows_appended_later():
    columns = columns_of((1, 1, flags(), NEVER_US, 0))
    before = columns.eligible([1], now_us=NOW)
    for seq in range(2, 5000):
        columns.append(seq, 1, flags(), NEVER_US, 0)

    assert before.total == 1
    assert before.mask().tolist() == [True]
    assert columns.eligible([1], now_us=NOW).count == 4999


@pytest.mark.parametrize("strangers", [0, 100], ids=["broad", "narrow"])
def test_rows_and_mask_describe_the_same_choice(strangers):
    columns = columns_of(
        *[(seq, 1 + seq % 2, flags(), NEVER_US, 0) for seq in range(1, 9)], *crowd(strangers)
    )
    found = columns.eligible([1], now_us=NOW)

    assert np.flatnonzero(found.mask()).tolist() == found.rows().tolist()
    assert found.seq_column[found.rows()].tolist() == found.seqs().tolist()
    assert len(found) == found.count == int(found.mask().sum())
    assert "seq" not in repr(found)


def test_extend_equals_appending_one_by_one():
    rows = [(seq, seq % 7, flags(), NEVER_US, seq) for seq in range(1, 200)]
    loaded = Columns()
    loaded.extend(*[list(values) for values in zip(*rows, strict=True)])
    appended = columns_of(*rows)

    for codes in ([0], [1, 2], range(7)):
        one, other = (which.eligible(codes, now_us=NOW) for which in (loaded, appended))
        assert one.seqs().tolist() == other.seqs().tolist()
    assert len(loaded) == len(appended) == 199


def test_extend_with_nothing_leaves_usable_columns():
    columns = Columns()
    columns.extend([], [], [], [], [])
    columns.append(1, 1, flags(), NEVER_US, 0)

    assert columns.eligible([1], now_us=NOW).seqs().tolist() == [1]


@pytest.mark.parametrize("strangers", [0, 100], ids=["broad", "narrow"])
def test_seqs_of_interleaved_scopes_are_ascending(strangers):
    columns = columns_of(
        *[(seq, 1 + seq % 3, flags(), NEVER_US, 0) for seq in range(1, 10)], *crowd(strangers)
    )
    found = columns.eligible([3, 2, 1], now_us=NOW)

    assert found.seqs().tolist() == list(range(1, 10))
    assert found.rows().tolist() == sorted(found.rows().tolist())


def test_contains_all_answers_in_the_order_asked():
    columns = columns_of(*[(seq, 1, flags(), NEVER_US, 0) for seq in (2, 4, 6)])
    found = columns.eligible([1], now_us=NOW)

    assert found.contains_all([6, 5, 2, 99, 0]).tolist() == [True, False, True, False, False]


def test_seqs_cannot_be_written():
    found = columns_of((1, 1, flags(), NEVER_US, 0)).eligible([1], now_us=NOW)

    with pytest.raises(ValueError, match="read-only"):
        found.seqs()[0] = 2


def test_select_numbers_records_again_and_drops_unknown_ones():
    columns = columns_of(*[(seq, 1, flags(), NEVER_US, 0) for seq in (5, 6, 7)])

    found = columns.select([7, 5, 99])

    assert isinstance(found, Eligible)
    assert found.seqs().tolist() == [5, 7]


@pytest.mark.parametrize("order", [(1, 2, 3, 4), (3, 1, 4, 2)], ids=["in order", "out of order"])
@pytest.mark.parametrize("strangers", [0, 100], ids=["broad", "narrow"])
def test_narrowed_keeps_only_eligible_rows_of_the_keys(order, strangers):
    mine = {1, 2, 4}
    columns = columns_of(
        *[(seq, 1 if seq in mine else 2, flags(), NEVER_US, 0) for seq in order],
        *crowd(strangers),
    )
    eligible = columns.eligible([1], now_us=NOW)

    narrowed = eligible.narrowed([4, 3, 2, 2, 5_000_000])

    assert narrowed.seqs().tolist() == [2, 4]
    assert columns.seqs()[narrowed.rows()].tolist() == [seq for seq in order if seq in (2, 4)]
    assert eligible.narrowed([]).count == 0
    assert columns.eligible([7], now_us=NOW).narrowed([1]).count == 0


@pytest.mark.parametrize("strangers", [0, 100], ids=["broad", "narrow"])
def test_eligible_rows_give_their_own_event_times_and_sessions(strangers):
    columns = columns_of(*crowd(strangers, first_seq=100))
    for seq, session in ((1, 7), (2, 8), (3, 7)):
        columns.append(seq, 1 + (seq == 2), flags(), NEVER_US, 10 * seq, session=session)
    mine = columns.eligible([1], now_us=NOW)
    columns.append(9, 1, flags(), NEVER_US, 90, session=7)  # came later

    assert mine.seqs().tolist() == [1, 3]
    assert mine.event_us().tolist() == [10, 30]
    assert mine.sessions().tolist() == [7, 7]
    assert columns.has_place(int(mine.rows()[0]), 1, 10, session=7)
    assert not columns.has_place(int(mine.rows()[0]), 1, 10, session=8)
