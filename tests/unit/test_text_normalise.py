"""Normal forms and excerpts."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.text import excerpt, normalize_alias, normalize_attribute, normalize_ws

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_white_space_is_single_and_inside_only(text):
    normal = normalize_ws(text)

    assert normal.split() == text.split()
    assert normal == normal.strip()
    assert normalize_ws(normal) == normal


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        pytest.param("  José   Núñez ", "jose nunez", id="latin-accents"),
        pytest.param("O’Brien", "o'brien", id="typographic-apostrophe"),
        pytest.param("Anne‑Marie", "anne-marie", id="non-breaking-hyphen"),
        pytest.param("Jean–Luc", "jean-luc", id="dash"),
        pytest.param("İSTANBUL", "istanbul", id="dotted-capital-i"),
        pytest.param("Straße", "strasse", id="sharp-s"),
        pytest.param("ＡＢＣ", "abc", id="full-width"),
        pytest.param("Ёлка", "елка", id="cyrillic"),
        pytest.param("مُحَمَّد", "محمد", id="arabic-vowels"),
        pytest.param("שָׁלוֹם", "שלום", id="hebrew-points"),
        pytest.param("が", "が", id="kana-voicing-stays"),
        pytest.param("か\u3099", "が", id="kana-voicing-composes"),
        pytest.param("हिन्दी", "हिन्दी", id="indic-vowels-stay"),
        pytest.param("ไก่", "ไก่", id="thai-signs-stay"),
        pytest.param("St. John", "st. john", id="punctuation-stays"),
        pytest.param("\u2067דוד\u2069", "דוד", id="bidirectional-isolates"),
        pytest.param(" \x00 ", "", id="nothing"),
    ],
)
def test_alias_is_normalised(text, alias):
    assert normalize_alias(text) == alias


@given(ANY_TEXT)
def test_alias_is_stable_and_blind_to_white_space(text):
    alias = normalize_alias(text)

    assert normalize_alias(alias) == alias
    assert normalize_alias(f" {text}\n") == alias
    assert alias == normalize_ws(alias)


@given(ANY_TEXT)
def test_alias_is_blind_to_the_normal_form_of_its_input(text):
    assert normalize_alias(unicodedata.normalize("NFD", text)) == normalize_alias(text)
    assert normalize_alias(unicodedata.normalize("NFC", text)) == normalize_alias(text)


@pytest.mark.parametrize(
    ("hint", "attribute"),
    [
        pytest.param("Answer Style", "answer_style", id="words"),
        pytest.param("answer-style", "answer_style", id="hyphen"),
        pytest.param("answerStyle", "answer_style", id="camel-case"),
        pytest.param("HTTPServer port", "http_server_port", id="acronym"),
        pytest.param("user:alex/answer_style", "answer_style", id="prefix"),
        pytest.param("a/b/c", "c", id="last-slash-counts"),
        pytest.param("__home..city!!", "home_city", id="punctuation"),
        pytest.param("phone2", "phone2", id="digits"),
        pytest.param("喜欢 的食物", "喜欢_的食物", id="chinese"),
        pytest.param("ภาษาที่ชอบ", unicodedata.normalize("NFKC", "ภาษาที่ชอบ"), id="thai"),
        pytest.param("पसंदीदा रंग", "पसंदीदा_रंग", id="hindi"),
        pytest.param("Любимый Цвет", "любимый_цвет", id="russian"),
        pytest.param("naïve", "naïve", id="accents-stay"),
        pytest.param("user/", "", id="nothing-behind-the-slash"),
        pytest.param("!?🙂", "", id="no-letters"),
        pytest.param("", "", id="empty"),
    ],
)
def test_attribute_is_normalised(hint, attribute):
    assert normalize_attribute(hint) == attribute


@given(ANY_TEXT)
def test_attribute_is_stable_snake_case(hint):
    attribute = normalize_attribute(hint)

    assert normalize_attribute(attribute) == attribute
    assert not attribute.startswith("_")
    assert not attribute.endswith("_")
    assert "__" not in attribute
    assert not set(attribute) & set(" /-.:\n")


@pytest.mark.parametrize(
    ("text", "max_chars", "shown"),
    [
        pytest.param("short", 10, "short", id="fits"),
        pytest.param("one\ntwo  three", 20, "one two three", id="one-line"),
        pytest.param("one two three four", 14, "one two three…", id="cut-between-words"),
        pytest.param("abcdefghijklmnop", 6, "abcde…", id="cut-inside-a-long-word"),
        pytest.param("\x1b[31mred\x07\u202etxt", 20, "[31mred txt", id="terminal-and-direction"),
        pytest.param("ab\u0301cd", 3, "a…", id="letter-keeps-its-mark"),
        pytest.param("abc", 1, "…", id="room-for-the-mark-only"),
        pytest.param("abc", 0, "", id="no-room"),
        pytest.param("a\ud800b", 9, "a b", id="lone-surrogate"),
    ],
)
def test_excerpt_is_one_safe_line(text, max_chars, shown):
    assert excerpt(text, max_chars) == shown


@given(st.text(st.characters(exclude_categories=())), st.integers(0, 50))
def test_excerpt_is_printable_and_short(text, max_chars):
    shown = excerpt(text, max_chars)

    assert len(shown) <= max_chars
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cs", "Zl", "Zp"}
    shown.encode()
