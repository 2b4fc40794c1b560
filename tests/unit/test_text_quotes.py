"""Quotes found in their source."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retold.text import evidence_length, fold_quote, locate_quote, strip_quote_marks
from retold.text.quotes import _written_character_bounds, clause_around

# Characters on which normal forms, folding and white space disagree about boundaries.
TRICKY = st.text(
    st.one_of(
        st.sampled_from(
            "aé½ﬁ \n\t\u00a0\u3000\"'“”‘’„«»「」-–—−\u2011\u0301\u0323\u0308¨\u3099かｶﾞ한"
            "\u1112\u1161\u11abน้ำก็हिन\u200d🙂\ufe0f\ud800\x00Å\u212b…"
        ),
        st.characters(),
    ),
    max_size=40,
)


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        pytest.param("I like tea", "Well, I like tea.", "I like tea", id="plain"),
        pytest.param("I like  tea", "I\nlike\t tea", "I\nlike\t tea", id="white-space"),
        pytest.param("“I like tea”", "I like tea", "I like tea", id="quote-marks-around"),
        pytest.param("「我喜欢茶」", "是的,我喜欢茶。", "我喜欢茶", id="corner-brackets-around"),
        pytest.param("'\"tea\"'", "tea", "tea", id="nested-marks"),
        pytest.param("I'm here", "I’m here", "I’m here", id="curly-apostrophe"),
        pytest.param('say "hi"', "I say „hi‟ now", "say „hi‟", id="curly-quotes"),
        pytest.param("2019-2020", "in 2019–2020", "2019–2020", id="dash"),
        pytest.param("a - b", "a — b", "a — b", id="em-dash"),
        pytest.param("cafe\u0301", "the café", "café", id="composed"),
        pytest.param("café", "the cafe\u0301!", "cafe\u0301", id="decomposed"),
        pytest.param("ABC", "ＡＢＣ", "ＡＢＣ", id="full-width"),
        pytest.param("ガ", "ｶﾞ", "ｶﾞ", id="half-width-kana"),
        pytest.param("한", "\u1112\u1161\u11ab", "\u1112\u1161\u11ab", id="jamo"),
        pytest.param("1/2 cup", "1/2\u00a0cup", "1/2\u00a0cup", id="no-break-space"),
        pytest.param("ดื่มน้ำ", "เขาดื่มน้ำทุกวัน", "ดื่มน้ำ", id="thai"),
        pytest.param("wait...", "so wait… ok", "wait…", id="ellipsis"),
    ],
)
def test_quote_is_located_at_its_original_characters(quote, text, found):
    span = locate_quote(quote, text)

    assert span is not None
    assert text[slice(*span)] == found


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        pytest.param("i like tea", "I like tea", id="case"),
        pytest.param("like green tea", "I like tea", id="paraphrase"),
        pytest.param("", "anything", id="empty"),
        pytest.param(" \n", "anything", id="blank"),
        pytest.param('""', 'a ""', id="marks-only"),
        pytest.param("x", "", id="empty-text"),
        pytest.param("2", "½", id="inside-a-fraction"),
        pytest.param("e", "e\u0301", id="letter-without-its-accent"),
        pytest.param("q", "q\u0307", id="letter-without-its-uncomposed-mark"),
        pytest.param("ความ", "ความ\u0e48", id="thai-letter-without-its-sign"),
        pytest.param("tea?", "tea", id="more-than-the-text"),
    ],
)
def test_quote_is_not_located(quote, text):
    assert locate_quote(quote, text) is None


def test_quote_that_first_matches_inside_a_character_is_located_further_on():
    assert locate_quote("1", "½ or 1") == (5, 6)


def test_first_of_several_places_is_returned():
    assert locate_quote("tea", "tea and tea") == (0, 3)


@given(TRICKY, TRICKY)
@example('"', 'say "hi" ')
@example(" ", "¨")
def test_located_span_folds_to_the_quote(quote, text):
    span = locate_quote(quote, text)

    if span is not None:
        start, end = span
        assert 0 <= start < end <= len(text)
        assert fold_quote(text[start:end]) == strip_quote_marks(fold_quote(quote))


@given(TRICKY, st.data())
def test_every_stretch_of_whole_characters_is_located(text, data):
    bounds = _written_character_bounds(text)
    start, end = sorted(data.draw(st.tuples(st.sampled_from(bounds), st.sampled_from(bounds))))
    quote = text[start:end]
    wanted = strip_quote_marks(fold_quote(quote))

    if wanted and wanted == fold_quote(quote):
        span = locate_quote(quote, text)
        assert span is not None
        assert span[0] <= start + len(quote) - len(quote.lstrip())


@given(TRICKY)
@example("\u1112\u1161\u11ab")
@example("ﾞ\uff9e")
def test_normal_form_can_be_taken_piecewise_between_bounds(text):
    pieces = [text[start:end] for start, end in pairwise(_written_character_bounds(text))]

    for form in ("NFC", "NFKC"):
        whole = unicodedata.normalize(form, text)
        assert "".join(unicodedata.normalize(form, piece) for piece in pieces) == whole


def test_bounds_hold_before_every_character_that_could_compose():
    """The rule for bounds was written from the standard's classes; here it meets every character.

    Fails when `_continues` misses one that changes with what precedes it.
    """
    openers = "aeiouAEIOU\u0438\u3046\u1100\uac00\u09c7\u0b47\u0b92\u0bc6\u0cc6\u0d46\u0dd9\u1025"
    ideographs_and_syllables = range(0x3400, 0xD7A4)
    for code in range(0x110000):
        char = chr(code)
        if code in ideographs_and_syllables or unicodedata.category(char) in ("Cn", "Co", "Cs"):
            continue
        if len(_written_character_bounds("a" + char)) == 2:
            continue
        for opener in openers:
            apart = unicodedata.normalize("NFKC", opener) + unicodedata.normalize("NFKC", char)
            assert unicodedata.normalize("NFKC", opener + char) == apart, f"U+{code:04X}"


@pytest.mark.parametrize(
    ("quote", "words", "characters"),
    [
        pytest.param("I can't eat peanuts", 4, 19, id="english"),
        pytest.param("  I can't\n eat   peanuts ", 4, 19, id="white-space"),
        pytest.param("“I'm vegan.”", 2, 10, id="quote-marks-do-not-count"),
        pytest.param("- - - !!!", 0, 9, id="punctuation-is-no-word"),
        pytest.param("我对花生过敏", 3.0, 18, id="chinese"),
        pytest.param("しりとり", 2.0, 12, id="kana"),
        pytest.param("끝말잇기 좋아", 3.0, 19, id="korean"),
        pytest.param("ถั่ว", 1.0, 6, id="thai-clusters"),
        pytest.param("我用Python写代码", 3.5, 21, id="mixed"),
        pytest.param("", 0, 0, id="empty"),
        pytest.param("لدي حساسية", 2, 10, id="arabic"),
    ],
)
def test_evidence_length_counts_by_script(quote, words, characters):
    assert evidence_length(quote) == (words, characters)


@given(TRICKY, TRICKY)
def test_evidence_length_grows_with_the_quote(quote, more):
    words, characters = evidence_length(f"a {quote}")
    longer_words, longer_characters = evidence_length(f"a {quote} {more} a")

    assert longer_words >= words
    assert longer_characters >= characters


@pytest.mark.parametrize(
    ("text", "quote", "clause"),
    [
        pytest.param(
            "I do not live in Rome. Why?", "live in Rome", "I do not live in Rome.", id="."
        ),
        pytest.param("Do I live in Rome? No.", "I live in Rome", "Do I live in Rome?", id="asked"),
        pytest.param("No, I live in Rome, alas", "live in Rome", "I live in Rome,", id="commas"),
        pytest.param("Hi\nI like tea\nBye", "like tea", "I like tea", id="lines"),
        pytest.param("我不喜欢绿茶。你呢？", "喜欢绿茶", "我不喜欢绿茶。", id="chinese"),
        pytest.param("Pi is 3.5 here. No.", "5 here", "Pi is 3.5 here.", id="a number"),
        pytest.param("I like tea.", "I like tea.", "I like tea.", id="uncut"),
        pytest.param("I like tea. I do.", "I like tea. I do.", "I like tea. I do.", id="two"),
    ],
)
def test_clause_around_a_quote_is_what_it_was_cut_from(text, quote, clause):
    start = text.index(quote)

    assert clause_around(text, (start, start + len(quote))) == clause


@given(st.text(), st.integers(0, 50), st.integers(0, 50))
def test_clause_around_a_quote_holds_it_and_little_more(text, start, size):
    start = min(start, len(text))
    end = min(start + size, len(text))

    clause = clause_around(text, (start, end))

    assert text[start:end].strip() in clause
    assert len(clause) <= end - start + 600
