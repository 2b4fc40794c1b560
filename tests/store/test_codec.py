"""Moments and JSON as SQLite holds them."""

import json
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.errors import InvalidInput
from retold.models import Scope
from retold.store import codec

# Zones with rules are left out: Python calls a moment inside a clock change unequal to itself.
OFFSETS = st.integers(-12 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=OFFSETS)


@given(MOMENTS)
def test_text_and_microseconds_round_trip(moment):
    assert codec.from_text(codec.to_text(moment)) == moment
    assert codec.from_us(codec.to_us(moment)) == moment


@given(MOMENTS, st.timedeltas(timedelta(hours=-20), timedelta(hours=20)), OFFSETS)
def test_text_order_is_time_order(moment, step, offset):
    """Keeping the offset that a moment came with makes it fail."""
    other = (moment + step).astimezone(offset)

    assert (codec.to_text(moment) < codec.to_text(other)) == (step > timedelta())


@given(MOMENTS, OFFSETS)
def test_text_does_not_depend_on_the_offset(moment, offset):
    assert codec.to_text(moment.astimezone(offset)) == codec.to_text(moment)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 11, 30, 9, 30, tzinfo=UTC), "2026-11-30T09:30:00.000000+00:00"),
        (
            datetime(2026, 11, 30, 9, 30, 0, 5, tzinfo=timezone(timedelta(hours=5.5))),
            "2026-11-30T04:00:00.000005+00:00",
        ),
    ],
)
def test_text_is_utc_of_fixed_width(moment, text):
    assert codec.to_text(moment) == text


@pytest.mark.parametrize("encode", [codec.to_text, codec.to_us, codec.require_aware])
@pytest.mark.parametrize(
    "moment",
    [
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    ],
    ids=["first day", "last day"],
)
def test_moment_that_utc_does_not_have_is_refused(encode, moment):
    with pytest.raises(InvalidInput, match="years 1 to 9999"):
        encode(moment)


def test_first_and_last_moment_of_utc_are_kept():
    for edge in (datetime.min, datetime.max):
        moment = edge.replace(tzinfo=UTC)
        assert codec.from_text(codec.to_text(moment)) == moment
        assert codec.from_us(codec.to_us(moment)) == moment


@pytest.mark.parametrize("encode", [codec.to_text, codec.to_us, codec.require_aware])
def test_naive_moment_is_refused_with_a_corrected_example(encode):
    with pytest.raises(InvalidInput, match=r"2026-11-30T09:30:00\+00:00"):
        encode(datetime(2026, 11, 30, 9, 30))


@pytest.mark.parametrize(
    "encode",
    [
        codec.to_text_or_none,
        codec.to_us_or_none,
        codec.from_text_or_none,
    ],
)
def test_none_stays_none(encode):
    assert encode(None) is None


def test_text_tells_the_two_hours_of_a_clock_set_back_apart():
    first = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    texts = [codec.to_text(first), codec.to_text(first.replace(fold=1))]

    assert texts == ["2026-10-25T00:30:00.000000+00:00", "2026-10-25T01:30:00.000000+00:00"]


def test_json_is_compact_sorted_and_keeps_every_script():
    assert codec.to_json({"b": [1, None], "a": "花生"}) == '{"a":"花生","b":[1,null]}'


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
TEXTS = st.text(st.characters(exclude_categories=()))


@given(
    st.recursive(
        SCALARS.filter(lambda value: abs(value or 0) != float("inf")) | TEXTS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=8,
    )
)
def test_json_reads_back_equal_with_its_keys_sorted(value):
    """Lone surrogates and integers of more than 64 bits included."""
    read = json.loads(codec.to_json(value), object_pairs_hook=list)

    assert read == json.loads(json.dumps(value, sort_keys=True), object_pairs_hook=list)


@pytest.mark.parametrize(
    "value", [{1, 2}, datetime(2026, 1, 1), b"x", Scope("user", "ana")], ids=repr
)
def test_json_refuses_what_would_read_back_as_something_else(value):
    with pytest.raises(TypeError):
        codec.to_json([value])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"x": float("-inf")}])
def test_json_refuses_what_json_does_not_have(value):
    with pytest.raises(ValueError, match="JSON"):
        codec.to_json(value)
