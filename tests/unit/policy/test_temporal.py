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
        "This week, reply in Spanish",
        "Reply in Spanish this sprint.",
        "No meetings this week, please.",
        "Until 2026-12-24 use the old office.",
        "Until I'm back, answer in French.",
        "Keep the flag on until the release.",
        "The user prefers short answers this week.",
        "The user wants answers in French until Friday.",
        "I am in Lima this month.",
        "The user is working from Lima until March 2027.",
        "The office is closed until Monday.",
        "I'm exhausted. Until the end of the week, no long answers.",
        "Call me Jo for the time being, since I moved.",
        "Por ahora, responde en español.",
        "Cette semaine, réponds en anglais.",
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
        "To this day the user drinks tea.",
        "直到今天用户还喝茶",
        "The user lived in Oslo until 2019.",
        "Lived in Oslo until 2019",
        "The user worked at Google until 2021-05-01.",
        "Worked at Google until 2021-05-01",
        "The user graduated this year.",
        "The user moved to Porto this year.",
        "Moved to Porto this year",
        "Left the company this month",
        "Got married this week.",
        "Quit smoking this year.",
        "Ana turns forty this year.",
        "The user turns forty this year.",
        "The user is moving to Porto this year.",
        "The user likes the job she started this year.",
        "Earlier this week the user was in Lima.",
        "The user likes the minutes of this week.",
        "The user needs this week's report every Friday.",
        "The user works until six.",
        "The shop is open until 8 pm.",
        "The user is at work until Friday every week.",
        "The user prefers to wait until CI is green before merging.",
        "The user worked temporarily at a bakery.",
        "El usuario vivió en Oslo hasta el verano.",
        "L'utilisateur a déménagé cette année.",
        "Der Nutzer wohnte bis Ende Mai in Oslo.",
        "用户直到2019年住过奥斯陆",
        "今週引っ越しました。",
    ],
)
def test_a_standing_statement_is_not_temporary(text):
    """A fact wrongly taken for temporary is lost after a month; the other error loses nothing."""
    assert not is_temporary(text)
    assert not is_temporary(text, "procedural")


@pytest.mark.parametrize(
    ("text", "temporary"),
    [
        ("Wait until CI is green before merging.", False),
        ("Retry the deploy until it succeeds.", False),
        ("Run the linter until I say stop.", False),
        ("Keep the flag on until the release.", False),
        ("Deploy from the old branch until 2026-12-24.", True),
        ("For now, deploy by hand.", True),
        ("This sprint, squash every commit.", True),
    ],
)
def test_a_step_that_waits_for_a_condition_is_not_temporary(text, temporary):
    assert is_temporary(text, "procedural") is temporary


@pytest.mark.parametrize(
    "text",
    [
        "Is at Google until 2021-05-01",
        "The user is head of sales until 2019",
        "用户直到2019年住在奥斯陆",
        "Hasta el 2019 vive en Oslo",
    ],
)
def test_a_statement_whose_end_had_passed_when_it_was_made_is_history_not_temporary(text):
    assert not is_temporary(text, said_at=WEDNESDAY)
    assert stated_end(text, WEDNESDAY) is None


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Until 2026-12-24 use the old office.", datetime(2026, 12, 24, tzinfo=UTC)),
        ("For today, no emoji.", datetime(2026, 12, 3, tzinfo=UTC)),
        ("This week, reply in Spanish.", datetime(2026, 12, 7, tzinfo=UTC)),
        ("This month I am in Lima.", datetime(2027, 1, 1, tzinfo=UTC)),
        ("Until the audit is over.", None),
        ("Until 2026-02-31.", None),
        ("The user is at Google until 2021-05-01.", None),
        ("The visa is valid until 2028.", datetime(2029, 1, 1, tzinfo=UTC)),
        ("I am in Lima until March 2027.", datetime(2027, 4, 1, tzinfo=UTC)),
        ("I am in Lima until March.", datetime(2027, 4, 1, tzinfo=UTC)),
        ("I am in Lima until December.", datetime(2027, 1, 1, tzinfo=UTC)),
        ("This quarter, no travel.", datetime(2027, 1, 1, tzinfo=UTC)),
        ("This year, no travel.", datetime(2027, 1, 1, tzinfo=UTC)),
        ("No travel for the next two weeks.", datetime(2026, 12, 17, tzinfo=UTC)),
        ("Stay on leave for the next year.", datetime(2027, 12, 4, tzinfo=UTC)),
    ],
)
def test_the_stated_end_is_read_where_it_can_be(text, end):
    assert stated_end(text, WEDNESDAY) == end
