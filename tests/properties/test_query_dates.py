"""Laws of the dates in a query."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from retold.retrieve.query_dates import query_dates
from retold.text.anchors import Anchors
from retold.text.calendar_words import COUNTS, DAYS_NEAR, MONTHS, PERIODS, UNITS, WEEKDAYS
from retold.text.dates import _FORMS, find_dates

PIECES = st.one_of(
    st.sampled_from([*MONTHS, *WEEKDAYS, *DAYS_NEAR, *PERIODS, *UNITS, *COUNTS]),
    st.sampled_from(
        "in on since between and to of the May 2023年 8月 - , . / 3rd ago 前 vor".split()
    ),
    st.integers(0, 9999).map(str),
    st.text(max_size=5),
)
TEXTS = st.lists(PIECES, max_size=8).flatmap(
    lambda pieces: st.sampled_from([" ", ""]).map(lambda between: between.join(pieces))
)
MOMENTS = st.datetimes(
    datetime(1, 1, 1),
    datetime(9999, 12, 31),
    timezones=st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours))),
)


@given(st.lists(TEXTS, max_size=3), MOMENTS, st.randoms())
def test_intervals_ascend_and_do_not_depend_on_the_order_of_the_queries(texts, now, random):
    found = query_dates(texts, now).intervals
    bounds = [at for one in found for at in (one.since, one.until) if at is not None]
    random.shuffle(texts)

    assert bounds == sorted(bounds)
    assert len(set(bounds)) == len(bounds)
    assert query_dates(texts, now).intervals == found


@given(TEXTS, st.integers(-14, 14))
def test_a_date_with_its_year_moves_with_the_zone_and_with_nothing_else(text, hours):
    """Years are written or not named at all: then the moment asked at changes nothing."""
    here = timezone(timedelta(hours=hours))
    asked = f"{text} in August 2023".rpartition(" in ")[1:]
    early, late = (
        query_dates(["".join(asked)], datetime(year, 6, 1, tzinfo=here)) for year in (2024, 2031)
    )

    assert early == late
    assert early.intervals[0].since == datetime(2023, 8, 1, tzinfo=here).astimezone(UTC)


@given(TEXTS, st.dates())
def test_dates_found_at_anchors_are_those_found_anywhere(text, said_on):
    """A form is tried only where a word stands that it can begin with."""
    anchors = Anchors(text)
    for pattern, begins in _FORMS:
        assert [found.span() for found in anchors.matches(pattern, begins)] == [
            found.span() for found in pattern.finditer(text)
        ]
    find_dates(anchors, said_on)
