"""Finding times in a text takes work in proportion to how many it names; counted, not timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from types import FrameType
from typing import Any

import pytest

from retold.retrieve.query_dates import MAX_DATED_CHARS, query_dates
from retold.text.anchors import Anchors
from retold.text.dates import find_dates
from retold.text.time_phrases import time_phrases

TODAY = date(2024, 1, 1)
NOW = datetime(2024, 1, 1, tzinfo=UTC)
FEW, MANY = 20, 80
NAMED = ["on 3 May 2023, ", "2023-05-01 ", "May 2022 to June 2022 ", "Q3 2023 ", "3/4 "]
TOLD = [*NAMED, "yesterday and ", "two weeks ago, ", "last Friday "]


def work(act: Callable[[], Any]) -> int:
    """Return how many calls, returns and resumptions of generators it takes."""
    count = 0

    def counted(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def growth(act: Callable[[int], Any]) -> float:
    """Return how much more work so many times as many dates are, as a part of so many times."""
    act(1)  # what is made once
    return work(lambda: act(MANY)) / work(lambda: act(FEW)) / (MANY / FEW)


@pytest.mark.parametrize("words", TOLD)
def test_four_times_the_dates_are_four_times_the_work(words: str) -> None:
    """Fails, with 3, when each date is compared with all that were found before."""
    assert growth(lambda count: find_dates(Anchors(words * count), TODAY)) < 1.1
    assert growth(lambda count: time_phrases(words * count, TODAY)) < 1.1


def test_a_query_of_three_hundred_words_of_dates_is_read_and_a_hundred_kilobytes_are_not() -> None:
    """The longest query that is read is read whole, whatever stands in it."""
    words = "3 May 2023 "
    longest = words * (MAX_DATED_CHARS // len(words))
    read = work(lambda: query_dates([longest], NOW))

    assert len(longest.split()) > 300
    assert query_dates([longest], NOW).intervals
    assert read < 300 * (MAX_DATED_CHARS // len(words))
    assert work(lambda: query_dates([words * 10_000], NOW)) < 100
