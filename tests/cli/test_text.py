import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from retold.cli.text import clean, columns, display_width, labelled, padded, size, table, wrapped

TEXTS = st.text(
    st.sampled_from("ab/ é漢字カなไทยกำ한글🥜❤\ufe0f\u0301אבשلمرحبا, .")
    | st.characters(max_codepoint=0x2FFFF)
).map(clean)


@given(TEXTS, st.integers(8, 100))
def test_wrapped_loses_no_character_and_keeps_the_width(text, width):
    lines = wrapped(text, width)

    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(display_width(line) <= width for line in lines)


def test_wrapped_breaks_a_long_path_after_a_slash():
    assert wrapped("in /opt/venv/lib/python3.11/site-packages/model/model.onnx now", 28) == [
        "in /opt/venv/lib/python3.11/",
        "site-packages/model/",
        "model.onnx now",
    ]
    assert wrapped("a/" + "b" * 12, 10) == ["a/bbbbbbbb", "bbbb"]


@given(TEXTS)
def test_clean_leaves_one_line_without_control_or_bidirectional_characters(text):
    assert len(text.splitlines()) <= 1
    assert clean(text) == text
    assert not set(text) & set("\x00\x1b\x7f\x85\u2028\u202e\u2066\ufeff")


@given(TEXTS, st.integers(1, 40))
def test_padded_fills_to_a_display_width(text, width):
    assert wcswidth(padded(text, width)) == max(width, wcswidth(text))
    assert padded(text, width, right=True).endswith(text)


def test_labelled_goes_on_under_the_text():
    assert labelled("label", "one two three", indent=8, width=16) == [
        "label   one two",
        "        three",
    ]
    assert labelled("a longer label", "one", indent=8, width=40) == ["a longer label one"]


def test_table_aligns_cells_of_two_columns_a_character():
    lines = table(("n", "词", "last"), [("1", "花生", "x"), ("10", "b", "y")], right=(0,))

    assert lines == [" n  词    last", " 1  花生  x", "10  b     y"]


def test_table_puts_the_last_column_below_where_the_others_leave_no_room(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    rows = [("i" * 50, "one two three four"), ("short", "x")]

    assert table(("id", "last"), rows) == [
        "id" + " " * 50 + "last",
        "i" * 50,
        "    one two three four",
        "short" + " " * 47 + "x",
    ]


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1))
def test_table_loses_no_character_and_keeps_the_width(rows):
    lines = table(("one", "two"), rows)
    printed = "".join(lines).replace(" ", "")

    assert max(map(display_width, lines)) <= columns()
    assert printed == "onetwo" + "".join(one + two for one, two in rows).replace(" ", "")


@pytest.mark.parametrize(
    ("given_bytes", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (3_895_296, "3.9 MB"),
        (2_500_000_000, "2.5 GB"),
    ],
)
def test_size_takes_the_unit_that_keeps_it_short(given_bytes, shown):
    assert size(given_bytes) == shown
