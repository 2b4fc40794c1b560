"""Words of a query before tokenization."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.retrieve.words import (
    Run,
    fold_contraction,
    is_slash_compound,
    split_query,
    split_scripts,
    strip_punctuation,
)
from retold.text import is_unspaced

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("aditya's", "aditya"),
        ("don't", "do"),
        ("I'm", "I"),
        ("we're", "we"),
        ("they've", "they"),
        ("she'll", "she"),
        ("he'd", "he"),
        ("can't", "can"),
        ("Won't", "will"),
        ("ISN'T", "IS"),
        ("couldn't've", "could"),
        ("o'clock", "o'clock"),
        ("plain", "plain"),
        ("'s", "'s"),
        ("'", "'"),
    ],
)
def test_contraction_folds_to_its_stem(word, stem):
    assert fold_contraction(word) == stem


@pytest.mark.parametrize(
    ("part", "bare"),
    [
        ("deploy.yml.", "deploy.yml"),
        ("(.env)", ".env"),
        ("/etc/hosts,", "/etc/hosts"),
        ("src/", "src/"),
        ("'quoted'", "quoted"),
        ("C++", "C"),
        ("_private", "_private"),
        ("./", ""),
        ("...", ""),
        ("", ""),
    ],
)
def test_punctuation_is_stripped_at_the_ends(part, bare):
    assert strip_punctuation(part) == bare


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("and/or", True),
        ("follow-up/review", True),
        ("/etc", False),
        ("src/", False),
        ("a/b/c", False),
        ("app/Main2", False),
        ("app/mainFile", False),
        ("plain", False),
    ],
)
def test_slash_compound_is_two_plain_words(word, expected):
    assert is_slash_compound(word) == expected


@given(ANY_TEXT)
def test_script_pieces_make_up_the_text_and_never_mix(text):
    pieces = list(split_scripts(text))

    assert "".join(pieces) == text
    assert all(len({is_unspaced(char) for char in piece}) == 1 for piece in pieces)


def test_split_query_leaves_out_stop_words_but_no_name_that_is_spelled_like_one():
    assert [part.text for part in split_query("did Will talk to the IT team?")] == [
        "Will",
        "talk",
        "IT",
        "team",
    ]


def test_words_of_a_query_are_not_in_their_repr():
    shown = repr(list(split_query("secret 秘密")))

    assert "secret" not in shown
    assert "秘" not in shown


@given(ANY_TEXT)
def test_split_query_yields_only_parts_that_hold_something(query):
    for part in split_query(query):
        assert part.text
        assert all(map(is_unspaced, part.text)) == isinstance(part, Run)
