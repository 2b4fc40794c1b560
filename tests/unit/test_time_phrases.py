"""Words that name a time, where they stand, and the dates they are counted out as."""

from datetime import date

import pytest

from retold.text.dates import Span, day, month
from retold.text.time_phrases import time_phrases

TUESDAY = date(2026, 3, 10)
YEAR = Span(date(2026, 1, 1), date(2026, 12, 31))
MARCH = month(2026, 3)


def on(month_number, day_number, year=2026):
    return day(date(year, month_number, day_number))


@pytest.mark.parametrize(
    ("text", "words", "wanted"),
    [
        ("it closes at the end of the month", "end of the month", MARCH),
        ("we opened at the beginning of this year", "beginning of this year", YEAR),
        ("Mitte des Monats ziehen wir um", "Mitte des Monats", MARCH),
        ("a finales de año me jubilo", "finales de año", YEAR),
        ("月底交货", "月底", MARCH),
        ("please by EOD", "EOD", on(3, 10)),
        ("vegetarian since the new year", "new year", on(1, 1)),
        ("we fly on New Year’s Eve", "New Year’s Eve", on(12, 31)),
        ("de baja desde año nuevo", "año nuevo", on(1, 1)),
        ("クリスマスに帰ります", "クリスマス", on(12, 25)),
        ("he retires on the 4th.", "on the 4th", on(4, 4)),
        ("she came back on the 28th and stayed", "on the 28th", on(2, 28)),
        ("el partido es el 15.", "el 15", on(3, 15)),
        ("Abgabe am 9.", "am 9", on(4, 9)),
        ("我15号到", "15号", on(3, 15)),
        ("from now on use metric units", "from now on", on(3, 10)),
        ("ab sofort bitte per Post", "ab sofort", on(3, 10)),
        (
            "we married three years ago",
            "three years ago",
            Span(date(2023, 1, 1), date(2023, 12, 31)),
        ),
        ("two months ago I quit", "two months ago", month(2026, 1)),
        ("the visit is in 5 days", "in 5 days", on(3, 15)),
        ("by Thursday", "Thursday", on(3, 12)),
        ("last Thursday", "Thursday", on(3, 5)),
        ("next Thursday", "Thursday", on(3, 19)),
        ("it expires in October", "October", month(2026, 10)),
    ],
)
def test_a_time_is_found_in_its_place_and_counted_out(text, words, wanted):
    (found,) = [one for one in time_phrases(text, TUESDAY) if one.gives(wanted)]

    assert words in text[found.start : found.end] or text[found.start : found.end] in words


@pytest.mark.parametrize(
    ("text", "unwanted"),
    [
        ("it expires in October", month(2027, 10)),
        ("by Thursday", on(3, 19)),
        ("every Thursday", on(3, 12)),
        ("Thursdays are busy", on(3, 12)),
        ("at the end of the month", on(3, 31)),
        ("at the end of the month", month(2026, 4)),
        ("three weeks ago", on(2, 17)),
        ("three weeks ago", month(2026, 1)),
        ("three years ago", month(2023, 3)),
        ("he retires on the 4th.", on(5, 4)),
        ("this year", on(3, 10)),
        ("since the new year", on(1, 1, 2025)),
    ],
)
def test_words_give_neither_another_date_nor_a_more_exact_one(text, unwanted):
    assert not any(one.gives(unwanted) for one in time_phrases(text, TUESDAY))


@pytest.mark.parametrize(
    "text",
    [
        "Happy New Year!", "on the 3rd floor", "for the 2nd time", "the 21st century", "3号楼",
        "5号线很挤", "he is number 4", "the end of the road", "for now", "soon", "as a child",
        "a middle name", "el 4 de copas", "am 2. Platz", "on the 45th.",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(text):
    assert time_phrases(text, TUESDAY) == ()


@pytest.mark.parametrize("today", [date.min, date.max])
def test_times_beyond_the_calendar_are_left_out(today):
    for text in ("new year", "on the 31st.", "end of the year", "in 900 years", "next Monday"):
        time_phrases(text, today)
