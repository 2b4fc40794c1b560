"""How much of what a query in an unspaced script says stands in a record."""

from __future__ import annotations

import pytest

from retold.retrieve.generators import lexical_matches
from retold.retrieve.stretches import LETTERS, WRITTEN_CHARACTERS, stretches_of
from retold.retrieve.terms import MAX_STRETCHES, QueryTerm, TermCoverage, query_terms
from retold.store.tokenizer import tokens
from retold.text import prepare_fts
from retold.text.token_text import fields_text


def indexed(text: str) -> str:
    return fields_text([tokens(prepare_fts(text))])


def share(query: str, record: str) -> float | None:
    return TermCoverage(query_terms(query, tokens), (), tokens).of(indexed(record)).share


@pytest.mark.parametrize(
    ("query", "record", "expected"),
    [
        pytest.param("花生过敏", "用户对花生过敏", 1.0, id="all of it"),
        pytest.param("过敏花生", "用户对花生过敏", 1.0, id="the words in another order"),
        pytest.param("花生油炸", "用户对花生过敏", 0.5, id="one of two words"),
        pytest.param("什么花生", "花生", 1.0, id="function words say nothing"),
        pytest.param("花生 python", "花生", 0.5, id="a spaced word says as much as a pair"),
        pytest.param("花生 python", "Python", 0.5, id="and is found by itself"),
        pytest.param("量子力学", "用户对花生过敏", 0.0, id="nothing of it"),
        pytest.param("แพ้ถั่วลิสง", "ผู้ใช้แพ้ถั่วลิสง", 1.0, id="thai, all of it"),
        pytest.param("green tea", "green tea", None, id="words of spaced scripts are counted"),
    ],
)
def test_characters_count_and_not_pairs(query: str, record: str, expected: float | None) -> None:
    """Fails when halves of two words, which no record holds, count as missed."""
    assert share(query, record) == (None if expected is None else pytest.approx(expected))


def test_pairs_of_thai_letters_are_found_anywhere_and_six_letters_are_not() -> None:
    """Every pair of this question stands somewhere in a record that is about something else."""
    query, record = "ราคากาแฟ", "นาฬิกาแพง ราตรีสวัสดิ์ กาคาบแฟ้ม ราคาคง"
    terms = query_terms(query, tokens)
    found = TermCoverage(terms, (), tokens).of(indexed(record))

    assert len(found.terms) >= len(terms) / 2
    assert found.part < 0.5


def test_a_run_shorter_than_a_stretch_is_one_and_says_less() -> None:
    short, long = stretches_of("ชา", tokens), stretches_of("ชาเขียวร้อน", tokens)

    assert short.found_in(indexed("ชา")) == short.worth == pytest.approx(2 / LETTERS)
    assert short.worth < long.worth
    assert stretches_of("茶", tokens).worth == 1 / WRITTEN_CHARACTERS


def test_the_best_query_is_the_one_of_which_most_was_found() -> None:
    """Of the first query all characters are found and 2 of 3 pairs, of the second 4 of 5 each."""
    asked = [query_terms(query, tokens) for query in ("过敏花生", "用户对花生敏")]
    texts = {1: indexed("用户对花生过敏")}
    (by_stretches,) = lexical_matches(asked, texts, (), tokens).values()
    (by_pairs,) = lexical_matches(asked, texts, ()).values()

    assert (by_stretches.total_terms, by_stretches.share) == (3, 1.0)
    assert (by_pairs.total_terms, by_pairs.share) == (5, None)


def test_the_work_for_one_query_is_bounded() -> None:
    """Runs of two characters in every length are few terms and would be thousands of stretches."""
    runs = ["甲乙" * length for length in range(1, 140)]
    terms: tuple[QueryTerm, ...] = query_terms(" ".join(runs), tokens)
    coverage = TermCoverage(terms, (), tokens)
    needles = sum(len(run.needles) for run in coverage._runs)

    assert needles <= MAX_STRETCHES + 300
    assert coverage.of(indexed("甲乙")).share == pytest.approx(1.0)
