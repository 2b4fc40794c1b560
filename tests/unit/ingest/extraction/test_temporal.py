import re
from datetime import UTC, datetime, timedelta

import pytest

from retold.ingest.extraction.prompts import EXTRACT_PROMPT, prompt_text
from retold.ingest.extraction.temporal import is_plan, spoken_times, unsupported_dates

SAID = datetime(2026, 3, 10, 9, tzinfo=UTC)  # a Tuesday


def on(month, day, year=2026):
    return datetime(year, month, day, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("quote", "moment"),
    [
        ("We moved the release to 19 March.", on(3, 19)),
        ("due on March 19th, 2027", on(3, 19, 2027)),
        ("since June", on(6, 15, 2025)),
        ("in May", on(5, 3)),
        ("by 2027", on(8, 1, 2027)),
        ("the deadline is 2026-04-01", on(4, 1)),
        ("on 3/4 we fly", on(4, 3)),
        ("on 3/4 we fly", on(3, 4)),
        ("am 3.4. fliegen wir", on(4, 3)),
        ("Q3 is busy", on(8, 1)),
        ("see you tomorrow", on(3, 11)),
        ("last night I slept badly", on(3, 9)),
        ("on Thursday", on(3, 12)),
        ("every Friday", on(3, 13)),
        ("next week", on(3, 18)),
        ("last year", on(5, 1, 2025)),
        ("in two weeks", on(3, 24)),
        ("within 3 days", on(3, 12)),
        ("three years ago", on(3, 10, 2023)),
        ("for the past 2 months", on(1, 10)),
        ("until the end of the sprint", on(3, 20)),
        ("我明天去北京", on(3, 11)),
        ("下周开会", on(3, 17)),
        ("2026年4月1日搬家", on(4, 1)),
        ("来月引っ越します", on(4, 15)),
        ("내일 만나요", on(3, 11)),
        ("พรุ่งนี้เจอกัน", on(3, 11)),
        ("el 19 de marzo salimos", on(3, 19)),
        ("nos vemos mañana", on(3, 11)),
        ("am 3. April 2026", on(4, 3)),
        ("la semaine prochaine", on(3, 17)),
    ],
)
def test_a_time_that_was_said_is_covered_and_a_far_one_is_not(quote, moment):
    times = spoken_times(quote, SAID)

    assert times.covers(moment)
    assert times.is_open or not times.covers(moment + timedelta(days=2000))


@pytest.mark.parametrize(
    "quote",
    [
        "I'm allergic to peanuts", "for now I use tabs", "I may march on", "he has 2000 euros",
        "it took 1.5 hours and 10.30 euros", "room 1984b", "walk me through it", "Mark 5 of 7",
        "我对花生过敏", "",
    ],
)  # fmt: skip
def test_what_names_no_time_supports_none(quote):
    assert not spoken_times(quote, SAID)


@pytest.mark.parametrize(
    ("quote", "plans"),
    [
        ("My flight leaves on 19 March.", True),
        ("We moved the release to 19 March.", True),
        ("The visa expires in June.", True),
        ("We agreed on a review next Friday.", True),
        ("I visited Rome in June.", False),
        ("If all goes well I fly in June.", False),
        ("I might move to Rome next year.", False),
        ("I was ill last week, but my trip starts on Friday.", True),
        ("My dentist is on Dec. 5", True),
        ("Could you send it by Friday, if possible?", True),
        ("I would like it by Friday if that could be done.", False),
    ],
)
def test_a_past_or_supposed_time_is_no_plan(quote, plans):
    assert is_plan(quote, SAID) == plans


@pytest.mark.parametrize(
    ("claim", "quote", "unsupported"),
    [
        ("The release is on 19 March 2026", "We moved the release to 19 March.", False),
        ("The release is on 20 March", "We moved the release to 19 March.", True),
        ("The flight is on 2026-03-12", "my flight is on Thursday", False),
        ("The flight is on 2026-03-13", "my flight is on Thursday", True),
        ("The user moves in 2027", "I move next year", False),
        ("The user moves on 5 March 2027", "I move next year", True),
        ("The user likes tea", "I like tea", False),
        ("The user said on 10 March 2026 that tea is fine", "tea is fine", False),
        ("The user was born in 1990", "I was born in 1990", False),
        ("The user was born in 1991", "I was born in 1990", True),
        ("用户2026年4月1日搬家", "我4月1日搬家", False),
        ("用户2026年4月2日搬家", "我4月1日搬家", True),
    ],
)
def test_a_date_in_the_claim_must_have_been_said(claim, quote, unsupported):
    assert unsupported_dates(claim, quote, SAID) == unsupported


def test_times_beyond_the_calendar_are_none_and_raise_nothing():
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)

    for moment in (first, last):
        for quote in ("999 years ago", "in 999 years", "next year", "last week", "31 February"):
            spoken_times(quote, moment)


@pytest.mark.parametrize(
    "said",
    [
        "on 3 May 2027", "on Friday", "in June", "in the third quarter, Q3", "in 2027",
        "at Christmas", "yesterday", "today", "this morning", "tonight", "tomorrow", "last week",
        "this month", "next year", "last winter", "this summer", "next season: next spring",
        "three days ago", "two weeks ago", "a month ago", "five years ago", "in six weeks",
        "two weeks from now", "at the beginning of the month", "in the middle of the year",
        "at the end of the week", "from now on", "on the 9th",
    ],
)  # fmt: skip
def test_each_time_that_the_prompt_lists_is_one(said):
    assert spoken_times(f"It was {said}", SAID)


def test_each_word_that_the_prompt_takes_for_no_time_is_none():
    listed = re.search(r"Null when it names none \(([^)]*)\)", prompt_text(EXTRACT_PROMPT))
    supposed = re.search(r"when it only supposes \(([^)]*)\)", prompt_text(EXTRACT_PROMPT))

    words = re.findall(r'"([^"]+)"', listed[1])
    assert len(words) > 4
    assert [word for word in words if spoken_times(f"I lived there {word}.", SAID)] == []
    doubts = re.findall(r'"([^"]+)"', supposed[1])
    assert [word for word in doubts if is_plan(f"we {word} go there in June", SAID)] == []


def test_the_dates_that_the_prompt_counts_out_may_be_written():
    text = prompt_text(EXTRACT_PROMPT)
    said_at = datetime(2021, 5, 4, 12, tzinfo=UTC)
    assert "said on 4 May 2021" in text

    counted = re.findall(r'"([^"]+)" becomes "((?:on|in) [^"]+)"', text)

    assert len(counted) == 3
    for words, written in counted:
        assert not unsupported_dates(f"The user left {written}", f"I left {words}", said_at)
        other = written.replace("2021", "2020")
        assert unsupported_dates(f"The user left {other}", f"I left {words}", said_at)
