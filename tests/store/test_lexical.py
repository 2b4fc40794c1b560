"""The full-text index and its exact tokens."""

import threading
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.store import tokenizer
from retold.text import prepare_fts
from tests.fts_oracle import FTS_TABLE, fts_search, quoted


def index(store, *contents, subject="", aliases=""):
    """Index texts under the keys 1, 2, 3 ..."""
    with store.write() as tx:
        for seq, content in enumerate(contents, start=1):
            tx.lexical.insert(seq, content, subject, aliases)


def search(store, words):
    match = " OR ".join(map(quoted, prepare_fts(words).split()))
    with store.read() as tx:
        return fts_search(tx, match)


def found(store, words):
    return [seq for seq, _ in search(store, words)]


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Likes green teas", "tea"),
        ("She was running", "run"),
        ("Café Müller", "cafe muller"),
        ("我对花生过敏", "花生"),
        ("ฉันแพ้ถั่วลิสง", "ถั่วลิสง"),
        ("私は寿司が好きです", "寿司"),
        ("Любит зелёный чай", "чай"),
    ],
)
def test_search_finds_every_script(store, content, query):
    index(store, content, "Something else entirely")

    assert found(store, query) == [1]


def test_search_ranks_by_score_then_by_key(store):
    index(store, "tea", "tea tea coffee milk water juice", "tea")
    hits = search(store, "tea")

    assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))
    assert [seq for seq, _ in hits][:2] == [1, 3]


def test_search_weighs_aliases_above_subject_above_content(store):
    with store.write() as tx:
        tx.lexical.insert(1, "zebra", "x", "x")
        tx.lexical.insert(2, "x", "zebra", "x")
        tx.lexical.insert(3, "x", "x", "zebra")

    assert found(store, "zebra") == [3, 2, 1]


def test_replace_and_delete_leave_no_trace_of_the_old_text(store):
    index(store, "green tea", "coffee")
    with store.write() as tx:
        tx.lexical.replace(1, "black tea", "", "")
        tx.lexical.delete(2)
        tx.lexical.delete(99)

    assert found(store, "green coffee") == []
    assert found(store, "black") == [1]
    with store.read() as tx:
        assert list(tx.lexical.row_keys()) == [1]


def test_fields_are_the_prepared_texts(store):
    index(store, "我对花生过敏", subject="allergy Ana", aliases="ana anya")
    with store.read() as tx:
        fields = tx.lexical.fields([1, 2])

    assert fields == {1: (prepare_fts("我对花生过敏"), "allergy Ana", "ana anya")}


def test_all_fields_are_those_of_every_row_in_key_order(store):
    index(store, "我对花生过敏", "Likes tea", subject="allergy Ana", aliases="ana anya")
    with store.read() as tx:
        fields = tx.lexical.fields([1, 2])

        assert list(tx.lexical.all_fields()) == [(seq, *fields[seq]) for seq in (1, 2)]


def test_insert_counts_the_tokens_of_all_columns(store):
    with store.write() as tx:
        count = tx.lexical.insert(1, "Likes green tea", "drink Ana", "ana")
        stored = sum(len(tx.lexical.tokens(text)) for text in tx.lexical.fields([1])[1])

    assert count == stored == 6


# --- tokens ---------------------------------------------------------------------------

# SQLite takes no text with a lone surrogate, and its own C code stops at a NUL.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)


def indexed_terms(texts):
    """Return what FTS5 really indexes for each text, in order."""
    connection = apsw.Connection(":memory:")
    connection.execute(FTS_TABLE)
    connection.execute("create virtual table terms using fts5vocab(records_fts, instance)")
    connection.executemany("insert into records_fts(content) values (?)", [(t,) for t in texts])
    terms = [[] for _ in texts]
    for row, term in connection.execute("select doc, term from terms order by doc, offset"):
        terms[row - 1].append(term)
    connection.close()
    return [tuple(each) for each in terms]


@given(st.lists(TEXTS.map(prepare_fts), max_size=8))
def test_tokens_are_exactly_what_the_index_holds(texts):
    """Another tokenizer than the schema's makes it fail, and so would one of our own."""
    assert [tokenizer.tokens(text) for text in texts] == indexed_terms(texts)


def test_tokenizer_is_the_one_of_the_schema(store):
    with store.read() as tx:
        sql = tx.one("select sql from sqlite_schema where name = 'records_fts'")[0]
    name, options = tokenizer.TOKENIZER

    assert f"tokenize = '{name} {' '.join(options)}'" in sql


def test_tokens_serve_several_threads():
    start = threading.Barrier(8)

    def work():
        start.wait(30)
        return {tokenizer.tokens("Likes green teas") for _ in range(300)}

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(work) for _ in range(8)]

    assert [each.result() for each in done] == [{("like", "green", "tea")}] * 8


def test_tokens_take_a_lone_surrogate():
    assert tokenizer.tokens("a \ud800 b") == ("a", "b")
