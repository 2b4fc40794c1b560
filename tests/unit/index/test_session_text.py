"""BM25 of sessions is BM25 of rows that hold all that was said in one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from retold.index.bm25 import EligibleWords
from retold.index.columns import NEVER_US, NO_SESSION, Columns, encode_flags
from retold.index.postings import Vocabulary, encoded
from retold.index.session_text import SessionTotals, session_scores
from retold.index.words import Words
from tests.examples import examples

FLAGS = encode_flags("episodic", "confirmed", "user_statement")
TURNS = st.lists(
    st.tuples(
        st.integers(NO_SESSION, 3),
        st.sampled_from([1, 1, 1, 2]),
        st.lists(st.sampled_from("a b c d".split()), max_size=5),
    ),
    max_size=12,
)
PHRASES = st.lists(st.sampled_from("a b c e".split()).map(lambda word: (word,)), max_size=3)


def indexed(rows):
    """Return columns and words of (session, scope, words) rows.

    The words end with the last row that has some, as they do when others were added later.
    """
    columns, vocabulary = Columns(), Vocabulary()
    numbers, owners = [], []
    for row, (session, scope, words) in enumerate(rows):
        columns.append(row + 1, scope, FLAGS, NEVER_US, 0, session=session)
        numbers += [vocabulary[word] for word in words]
        owners += [row] * len(words)
    tokens = encoded(np.array(numbers, dtype=np.int32), np.zeros(len(numbers), dtype=np.int32))
    words = Words.of(vocabulary, tokens, np.array(owners, dtype=np.int32), 0)
    return columns, words


@given(TURNS, PHRASES)
def test_a_session_scores_as_one_row_of_all_its_eligible_words(turns, phrases):
    columns, words = indexed(turns)
    eligible = columns.eligible([1], now_us=0)
    found = session_scores(words, eligible, phrases, 100)

    mine = sorted({session for session, scope, _ in turns if scope == 1 and session >= 0})
    whole = [
        (0, 1, [w for session, scope, said in turns if (session, scope) == (one, 1) for w in said])
        for one in mine
    ]
    columns, words = indexed(whole)
    expected = EligibleWords(words, columns.eligible([1], now_us=0)).scores_of(
        phrases, range(1, len(whole) + 1)
    )

    assert found[mine].tolist() == pytest.approx(expected.tolist())
    assert not np.delete(found, mine).any()


def test_a_phrase_never_reaches_from_one_record_into_the_next():
    columns, words = indexed([(0, 1, ["a", "b"]), (1, 1, ["a"]), (1, 1, ["b"])])
    eligible = columns.eligible([1], now_us=0)

    one, other = session_scores(words, eligible, [("a", "b")], 100).tolist()

    assert one > 0.0 == other


def test_too_large_sessions_support_nothing_and_words_of_others_change_no_score():
    turns = [(0, 1, ["a"]), (0, 1, ["c"]), (1, 1, ["a", "b"]), (2, 1, ["d"]), (3, 1, ["d"])]
    others = [(0, 2, ["a"]), (2, 2, ["a", "a"]), (7, 2, ["b"])]
    scores = [
        session_scores(words, columns.eligible([1], now_us=0), [("a",)], 1)[:4].tolist()
        for columns, words in (indexed(turns), indexed([*turns, *others]))
    ]

    assert scores[0] == scores[1]
    assert scores[0][0] == scores[0][2] == 0.0 < scores[0][1]


def test_what_changed_since_the_postings_were_made_counts_as_it_is_now():
    columns, words = indexed([(0, 1, ["a"]), (1, 1, ["b"]), (2, 1, ["c"])])
    eligible = columns.eligible([1], now_us=0)
    number = words.vocabulary["a"]
    changed = words.with_rows({0: encoded([], []), 1: encoded([number], [0])})

    assert session_scores(words, eligible, [("a",)], 9).argmax() == 0
    assert session_scores(changed, eligible, [("a",)], 9).tolist()[0] == 0.0
    assert session_scores(changed, eligible, [("a",)], 9).argmax() == 1


def test_what_is_kept_between_searches_is_never_that_of_other_rows():
    """Another caller, and words that changed, are counted anew."""
    columns, words = indexed([(0, 1, ["a", "b"]), (0, 2, ["a"]), (1, 2, ["a", "c"])])
    kept = SessionTotals()
    for scopes in ([1], [2], [1, 2], [1], [1, 2]):
        eligible = columns.eligible(scopes, now_us=0)
        scores = [session_scores(words, eligible, [("a",)], 9, held) for held in (None, kept, kept)]
        assert scores[0].tolist() == scores[1].tolist() == scores[2].tolist()
    longer = words.with_rows({0: encoded([words.vocabulary["a"]] * 9, [0] * 9)})
    expected = session_scores(longer, eligible, [("a",)], 9)
    assert session_scores(longer, eligible, [("a",)], 9, kept).tolist() == expected.tolist()
    assert session_scores(words, eligible, [("a",)], 9).tolist() != expected.tolist()


WORDS = [f"w{at}" for at in range(12)]
SAID = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30)


@settings(max_examples=examples(60))
@example(
    ["w0 w1 w1 w1 w2 w3 w3 w4 w5 w5 w6 w6 w7 w7 w8 w8 w8 w9 w9 w10 w11".split()], [["w1"]], WORDS
)
@given(st.lists(SAID, min_size=1, max_size=6), st.lists(SAID, max_size=3), SAID)
def test_no_bit_of_a_score_depends_on_what_others_store_or_change(mine, others, asked):
    """Fails when only words found in postings are added before phrases, or one session pairwise."""
    phrases = [(WORDS[0], WORDS[1]), *((word,) for word in asked), (WORDS[2], WORDS[3])]
    own = [(len(others) + at % 2, 1, said) for at, said in enumerate(mine)]
    alone, words = indexed([(at % 2, 1, said) for at, said in enumerate(mine)])
    expected = session_scores(words, alone.eligible([1], now_us=0), phrases, 100)

    beside, words = indexed([*((at, 2, said) for at, said in enumerate(others)), *own])
    changed = words
    if others:
        last = encoded([words.vocabulary[word] for word in asked], np.zeros(len(asked), np.int32))
        changed = words.with_rows({0: last})
    for of_words in (words, changed):
        found = session_scores(of_words, beside.eligible([1], now_us=0), phrases, 100)
        assert found[len(others) :].tolist() == expected.tolist()
