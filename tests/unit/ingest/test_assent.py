"""Only a clear yes to what was said confirms it."""

from __future__ import annotations

import pytest

from retold.ingest.assent import asks_anything_else, is_assent


@pytest.mark.parametrize(
    "answer",
    [
        "Yes.",
        "yes",
        "Yes, that's right.",
        "Yes, exactly!",
        "Yeah I do",
        "Yep",
        "That's correct, thanks for asking.",
        "That\u2019s right",
        "Right.",
        "I am.",
        "Indeed",
        "Yes! Where is the nearest hospital?",
        "Oui, c'est ça.",
        "Ja genau",
        "Sí, así es.",
        "Да, верно.",
        "是的。",
        "没错！",
        "对，没错",
        "はい、そうです。",
        "ใช่ค่ะ",
        "네, 맞아요.",
        "نعم",
        "हाँ",
        "👍",
        "👍🏽",
    ],
)
def test_clear_yes_is_an_assent(answer):
    assert is_assent(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "No.",
        "No, I am not!",
        "I am not!",
        "Nope, that was my sister.",
        "Yes and no.",
        "Yes, but not any more.",
        "Yes, I used to.",
        "Yes... actually, no.",
        "Yeah, I don't think so",
        "Yes?",
        "Right?",
        "Right now I want pizza.",
        "Correct me if I'm wrong.",
        "Ok, what's the weather in Oslo?",
        "What's the weather in Oslo?",
        "Almonds, actually.",
        "Let's talk about something else.",
        "Non.",
        "Oui, mais plus maintenant.",
        "Nein, gar nicht.",
        "Ya no.",
        "Ja mieszkam w Oslo",
        "不是。",
        "不对",
        "是的，但是现在不了",
        "是吗",
        "いいえ、違います。",
        "はい、でも今は違います。",
        "ไม่ใช่ค่ะ",
        "ใช่ไหม",
        "아니요.",
        "لا",
        "नहीं",
        "👎",
        "...",
        "1",
    ],
)
def test_anything_else_is_none(answer):
    assert not is_assent(answer)


@pytest.mark.parametrize(
    ("statement", "asks"),
    [
        ("So you are allergic to nuts.", False),
        ("So you are allergic to nuts. Is that right?", False),
        ("So you are allergic to nuts. Did I get that right?", False),
        ("You are allergic to nuts, aren't you?", False),
        ("你对花生过敏，对吗？", False),
        ("Du bist allergisch. Stimmt das?", False),
        ("Shall I book it? You are allergic to nuts.", True),
        ("You are allergic to nuts. Shall I book the table?", True),
        ("You are allergic to nuts. Shall I book it? :)", True),
        ("你对花生过敏。要我订位吗？", True),
        ("", False),
    ],
)
def test_a_question_takes_the_yes_for_itself_unless_it_only_verifies(statement, asks):
    assert asks_anything_else(statement) is asks
