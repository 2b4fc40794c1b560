"""Refused identifiers and texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.errors import InvalidInput
from retold.text import MAX_ID_CHARS, require_id, require_text

IDS = {
    "empty": "",
    "blank": " \t",
    "no-break-blank": "\u00a0\u3000",
    "zero-width": "\u200b\u2060\ufeff",
    "bidi-marks": "\u202e\u200f",
    "hangul-filler": "\u3164\u115f\u1160\uffa0",
    "nul": "a\x00b",
    "newline": "a\nb",
    "escape": "a\x1bb",
    "c1-control": "a\x85b",
    "line-separator": "a\u2028b",
    "lone-surrogate": "a\ud800",
    "too-long": "x" * (MAX_ID_CHARS + 1),
    "number": 7,
    "none": None,
    "bytes": b"alex",
}


@pytest.mark.parametrize("value", IDS.values(), ids=IDS)
def test_id_is_refused(value):
    with pytest.raises(InvalidInput, match="`user_id`") as caught:
        require_id(value, "user_id", allow_slash=True)

    assert caught.value.details == {"field": "user_id"}


@pytest.mark.parametrize(
    "value", ["alex", "用户", "a b", "x" * MAX_ID_CHARS, "e\u0301", "user@example.com", "../x~'--"]
)
def test_id_is_returned_unchanged(value):
    assert require_id(value, "project_id", allow_slash=True) == value


def test_slash_is_refused_only_where_it_separates():
    assert require_id("acme/repo", "project_id", allow_slash=True) == "acme/repo"
    with pytest.raises(InvalidInput, match="slash"):
        require_id("acme/repo", "user_id", allow_slash=False)


TEXTS = {
    "empty": "",
    "blank": " \n\u3000",
    "zero-width-space": "\u200b",
    "controls": "\x1b\x07\x85",
    "format-characters": "\u2060 \ufeff\u202e",
    "braille-blank": "\u2800",
    "nul": "a\x00b",
    "lone-high-surrogate": "a\ud83d",
    "lone-low-surrogate": "\udc00a",
    "too-long": "x" * 101,
    "number": 7,
    "none": None,
    "list": ["a"],
}


@pytest.mark.parametrize("value", TEXTS.values(), ids=TEXTS)
def test_text_is_refused(value):
    with pytest.raises(InvalidInput, match="`content`") as caught:
        require_text(value, "content", 100)

    assert caught.value.details == {"field": "content"}


@pytest.mark.parametrize(
    "value", ["x" * 100, "line\nline\t", "她对花生过敏", "🙂", "\u2067א\u2069"]
)
def test_text_is_returned_unchanged(value):
    assert require_text(value, "content", 100) == value


@given(st.text(st.characters(exclude_categories=()), min_size=12))
def test_refusal_never_repeats_the_value(value):
    for refuse in (
        lambda: require_id(value + "\x00", "f", allow_slash=False),
        lambda: require_text(value + "\x00", "f", len(value) + 1),
    ):
        with pytest.raises(InvalidInput) as caught:
            refuse()
        assert value not in str(caught.value)
