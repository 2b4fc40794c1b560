"""Which rows count when words and columns are of different moments."""

from __future__ import annotations

from retold.index.bm25 import EligibleWords
from tests.unit.index.test_session_text import indexed


def test_a_row_that_only_the_words_know_is_not_found():
    rows = [(1, 1, ["a", "b"]), (1, 1, ["a"])]
    _, later = indexed([*rows, (1, 1, ["a", "a"])])
    columns, words = indexed(rows)
    eligible = columns.eligible([1], now_us=0)

    found = EligibleWords(later, eligible).search([("a",)], 9)

    assert found == EligibleWords(words, eligible).search([("a",)], 9)
