"""Statements that end by themselves."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retold.policy.temporal import is_temporary, stated_end

WEDNESDAY = datetime(2026, 12, 2, 15, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "This week, reply in Spanish.",
        "Use metric units until Friday.",
        "Keep answers short for the rest of the sprint.",
        "For now, call me Dr Ito.",
        "Skip the tests temporarily.",
        "No meetings during the coming month.",
        "Only today: answer in French.",
        "这周请用英文回答",
        "今週は日本語で返信してください",
        "Diese Woche bitte auf Deutsch.",
    ],
)
def test_a_temporary_form_is_recognised(text):
    assert is_temporary(text)


@pytest.mark.parametrize(
    "text",
    [
        "Walk me through it step by step.",
        "The user prefers short answers.",
        "I work with this team.",
        "The release is on 19 March.",
        "我对花生过敏",
        "She teaches during the day.",
    ],
)
def test_a_standing_statement_is_not_temporary(text):
    assert not is_temporary(text)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Until 2026-12-24 use the old office.", datetime(2026, 12, 24, tzinfo=UTC)),
        ("For today, no emoji.", datetime(2026, 12, 3, tzinfo=UTC)),
        ("This week, reply in Spanish.", datetime(2026, 12, 7, tzinfo=UTC)),
        ("This month I am in Lima.", datetime(2027, 1, 1, tzinfo=UTC)),
        ("Until the audit is over.", None),
        ("Until 2026-02-31.", None),
    ],
)
def test_the_stated_end_is_read_where_it_can_be(text, end):
    assert stated_end(text, WEDNESDAY) == end
