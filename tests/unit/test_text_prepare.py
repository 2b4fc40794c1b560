"""What the index is given."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.text import prepare_fts
from retold.text.prepare import run_grams, spell

TOKENIZER = apsw.Connection(":memory:").fts5_tokenizer(
    "porter", ["unicode61", "remove_diacritics", "2"]
)
ANY_TEXT = st.text(st.characters(exclude_categories=()))
EAST_ASIAN = st.text("花生过敏的しり한국", min_size=1, max_size=8)
THAI = st.text("กขคทนเ็่ีา", min_size=2, max_size=8)


def _tokens(text):
    found = TOKENIZER(prepare_fts(text).encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None)
    return [token for _, _, *tokens in found for token in tokens]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("花生", ["花", "花生", "生"], id="han"),
        pytest.param("しりとり", ["し", "しり", "り", "りと", "と", "とり", "り"], id="kana"),
        pytest.param("끝말", ["끝", "끝말", "말"], id="hangul"),
        pytest.param("東京タワー", ["東", "東京", "京", "京タ", "タ", "タワ", "ワ", "ワー", "ー"],
                     id="han-and-kana-are-one-run"),
        pytest.param("กขค", ["กข", "กขค", "ขค"], id="thai"),
        pytest.param("ก", ["ก"], id="lone-thai-letter"),
        pytest.param("重跑gen-itgc后", ["重", "重跑", "跑", "gen", "itgc", "后"], id="mixed"),
        pytest.param("泰ก", ["泰", "ก"], id="neighbouring-scripts"),
        pytest.param("plain Words", ["plain", "word"], id="latin"),
        pytest.param("", [], id="empty"),
        pytest.param("\u2067\u2069\ud800\x00", [], id="nothing-visible"),
    ],
)  # fmt: skip
def test_prepared_text_has_the_tokens(text, tokens):
    assert _tokens(text) == tokens


def test_marks_stay_inside_their_word():
    assert [len(_tokens(text)) for text in ("हिन्दी", "தமிழ்", "Việt", "מִלָּה")] == [1, 1, 1, 1]


@given(ANY_TEXT)
def test_prepared_text_is_always_indexable(text):
    prepared = prepare_fts(text)

    prepared.encode()
    assert "\x00" not in prepared


@given(st.text(st.characters(max_codepoint=0x7F, exclude_characters="\x00")))
def test_ascii_text_is_unchanged(text):
    assert prepare_fts(text) == text


@given(ANY_TEXT, ANY_TEXT)
def test_words_apart_are_prepared_apart(one, other):
    assert _tokens(f"{one}\n{other}") == _tokens(one) + _tokens(other)


def _contains(outer, inner):
    return any(outer[i : i + len(inner)] == inner for i in range(len(outer) - len(inner) + 1))


@given(st.one_of(st.tuples(EAST_ASIAN, EAST_ASIAN), st.tuples(THAI, THAI)))
def test_grams_are_contiguous_exactly_when_the_run_is_contained(runs):
    outer, inner = runs

    assert _contains(run_grams(outer), run_grams(inner)) == (inner in outer)


@given(st.one_of(EAST_ASIAN, THAI), st.data())
def test_grams_of_a_stretch_are_contiguous_in_its_run(run, data):
    shortest = 1 if run_grams(run)[0] == run[0] else 2
    start = data.draw(st.integers(0, len(run) - shortest))
    end = data.draw(st.integers(start + shortest, len(run)))

    assert _contains(run_grams(run), run_grams(run[start:end]))


@given(ANY_TEXT)
def test_spelling_keeps_texts_apart(text):
    marks = [char for char in text if ord(char) < 0x10000]

    assert len(set(map(spell, marks))) == len(set(marks))
