from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from retold.retrieve.query_dates import MAX_DATED_CHARS, query_dates

NOW = datetime(2024, 3, 12, 9, tzinfo=UTC)  # a Tuesday


def asked(*queries, now=NOW):
    """Return the intervals as pairs of days, "" where one is open."""
    return [
        tuple("" if at is None else at.date().isoformat() for at in (one.since, one.until))
        for one in query_dates(queries, now).intervals
    ]


@pytest.mark.parametrize(
    ("query", "intervals"),
    [
        ("What did Caroline do in August 2023?", [("2023-08-01", "2023-09-08")]),
        ("What happened on 3 May 2023?", [("2023-05-01", "2023-05-11")]),
        ("What happened on May 3rd?", [("2023-05-01", "2023-05-11")]),
        ("What did I do last May?", [("2023-05-01", "2023-06-08")]),
        ("What did we decide in 2023?", [("2023-01-01", "2024-01-01")]),
        ("the plan of Q3 2023", [("2023-07-01", "2023-10-08")]),
        ("What did I do last week?", [("2024-03-02", "2024-03-18")]),
        ("what did I eat yesterday", [("2024-03-09", "2024-03-19")]),
        ("how was last weekend", [("2024-03-07", "2024-03-18")]),
        ("what did I say last Friday", [("2024-03-06", "2024-03-16")]),
        ("and last Tuesday", [("2024-03-03", "2024-03-13")]),
        ("letzten Freitag", [("2024-03-06", "2024-03-16")]),
        ("el viernes pasado", [("2024-03-06", "2024-03-16")]),
        ("上周五", [("2024-03-02", "2024-03-18")]),
        ("what was said two weeks ago", [("2024-02-22", "2024-03-09")]),
        ("in the past month", [("2024-02-12", "2024-03-20")]),
        ("between May and August 2023", [("2023-05-01", "2023-09-01")]),
        ("between 3 May 2023 and 7 June", [("2023-05-03", "2023-06-15")]),
        ("from 3 to 7 May 2023", [("2023-05-01", "2023-05-15")]),
        ("May 3-7, 2023", [("2023-05-01", "2023-05-15")]),
        ("from 2019 to 2021", [("2019-01-01", "2022-01-01")]),
        ("where have I worked since 2021", [("2021-01-01", "")]),
        ("my jobs before March 2022", [("", "2022-03-02")]),
        ("2023 or 2021", [("2021-01-01", "2022-01-01"), ("2023-01-01", "2024-01-01")]),
        ("on 3/5/2023", [("2023-03-03", "2023-03-13"), ("2023-05-01", "2023-05-11")]),
        ("qu'est-ce que j'ai fait en mai 2023", [("2023-05-01", "2023-06-08")]),
        ("zwischen Mai und August 2023", [("2023-05-01", "2023-09-01")]),
        ("vor zwei Wochen", [("2024-02-22", "2024-03-09")]),
        ("entre mayo y julio de 2022", [("2022-05-01", "2022-08-08")]),
        ("la ſemana paſada", [("2024-03-02", "2024-03-18")]),
        ("что я делал в мае 2023", [("2023-05-01", "2023-06-08")]),
        ("我在2023年8月做了什么", [("2023-08-01", "2023-09-08")]),
        ("两周前说了什么", [("2024-02-22", "2024-03-09")]),
        ("2023年5月から8月まで", [("2023-05-01", "2023-09-01")]),
        ("지난주에 뭐 했어?", [("2024-03-02", "2024-03-18")]),
        ("เมื่อวานทำอะไร", [("2024-03-09", "2024-03-19")]),
    ],
)
def test_a_date_in_a_query_is_an_interval_with_its_margin(query, intervals):
    assert asked(query) == intervals


@pytest.mark.parametrize(
    "query",
    [
        "what is due today", "tonight", "see you tomorrow", "what did I say on Friday",
        "next Friday", "this week", "this weekend", "next month", "in two weeks", "next May",
        "this August", "for the next 3 days", "the plan for October 2024", "on 2030-01-05",
        "between May 2024 and June 2024", "since May 2025", "heute", "nächste Woche", "mañana",
        "esta semana", "cette semaine", "demain", "oggi", "volgende week", "сегодня", "завтра",
        "今天", "明天", "下周", "今週", "来月", "내일", "이번 주", "วันนี้", "พรุ่งนี้", "สัปดาห์หน้า",
        "May I ask what April said?", "march on", "is the gym open 24/7", "what I do on Fridays",
        "every Monday", "last summer", "laſt ſummer", "version 1.2.3",
        "call me at 10:30", "它多少钱", "",
        "x" * MAX_DATED_CHARS + " in August 2023",
    ],
)  # fmt: skip
def test_the_present_the_future_and_dates_by_chance_ask_for_none(query):
    assert not query_dates([query], NOW)


def test_a_day_begins_where_the_clock_of_the_session_stands():
    """It is already 2024 in Tokyo and still 2023 in Los Angeles."""
    moment = datetime(2023, 12, 31, 23, 30, tzinfo=UTC)
    tokyo, los_angeles = (
        query_dates(["what did I do last year"], moment.astimezone(ZoneInfo(zone))).intervals[0]
        for zone in ("Asia/Tokyo", "America/Los_Angeles")
    )

    assert tokyo.since == datetime(2022, 12, 31, 15, tzinfo=UTC)
    assert los_angeles.since == datetime(2022, 1, 1, 8, tzinfo=UTC)
    assert los_angeles.until == datetime(2023, 1, 1, 8, tzinfo=UTC)


def test_a_month_in_which_the_clocks_change_is_an_hour_shorter():
    madrid = datetime(2024, 5, 1, 9, tzinfo=ZoneInfo("Europe/Madrid"))

    (year,) = query_dates(["in 2023"], madrid).intervals
    (march,) = query_dates(["in March 2024"], madrid).intervals

    assert year.until - year.since == timedelta(days=365)
    assert march.until - march.since == timedelta(days=38) - timedelta(hours=1)


@pytest.mark.parametrize(
    "now", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=ZoneInfo("Asia/Tokyo"))]
)
def test_the_ends_of_the_calendar_are_no_error(now):
    for query in (
        "yesterday",
        "next year",
        "999 years ago",
        "9999-12-31",
        "in 999 years",
        "0001",
        "since May",
    ):
        query_dates([query], now)
