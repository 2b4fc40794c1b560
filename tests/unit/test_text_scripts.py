"""Scripts of characters, runs and texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.text import (
    UNSPACED_SCRIPTS,
    clusters,
    dominant_script,
    is_unspaced,
    script_of,
    unspaced_runs,
)


@pytest.mark.parametrize(
    ("script", "chars"),
    [
        ("latin", "aZéßøłĐﬁＡ"),
        ("greek", "αΩἀ"),
        ("cyrillic", "яЖё"),
        ("hebrew", "אשׁ\u05b7"),
        ("arabic", "عپ\u064e"),
        ("devanagari", "हि"),
        ("thai", "กที่ๆ"),
        ("lao", "ກທີ່"),
        ("khmer", "កើ"),
        ("burmese", "ကျ"),
        ("han", "花々〇𠮷"),
        ("kana", "しシーｶゝ"),
        ("hangul", "한ㅎ\u1100"),
        ("other", "ᚠԱაᎠ"),
        ("common", " 1.,-。、・\n🙂+\u0301๑\u0660"),
    ],
)
def test_script_of_a_character(script, chars):
    assert {char: script_of(char) for char in chars} == dict.fromkeys(chars, script)


@given(st.characters(exclude_categories=()))
def test_unspaced_is_what_the_script_says(char):
    assert is_unspaced(char) == (script_of(char) in UNSPACED_SCRIPTS)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("重跑gen-itgc后", ("重跑", "后")),
        ("猫が好き。犬も", ("猫が好き", "犬も")),
        ("泰国ไทย", ("泰国", "ไทย")),
        ("3月19日", ("月", "日")),
        ("plain words", ()),
        ("", ()),
    ],
)
def test_runs_end_where_the_writing_system_does(text, runs):
    assert unspaced_runs(text) == runs


@given(st.text())
def test_runs_hold_every_unspaced_character_in_order(text):
    assert "".join(unspaced_runs(text)) == "".join(filter(is_unspaced, text))


@given(st.text("กข็่ีำาเ花か\u3099"))
def test_clusters_make_up_the_run(run):
    assert "".join(clusters(run)) == run


def test_cluster_is_a_letter_with_its_marks():
    assert clusters("ที่นี่") == ("ที่", "นี่")


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("hello 花生", "latin"),
        ("我喜欢 tea", "han"),
        ("123 !?", "common"),
        ("", "common"),
        ("aя", "latin"),
        ("เขาชอบ", "thai"),
    ],
)
def test_dominant_script_has_most_letters(text, script):
    assert dominant_script(text) == script
