"""Words of rows: when they are read, what a search holds on to, what nobody else may move."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retold.config import FTS5_BM25, Bm25Lever
from retold.errors import StoreError
from retold.index import bm25
from retold.index import words as words_module
from retold.index.postings import Vocabulary
from retold.index.vector import VectorIndex
from retold.store.lexical import LexicalRepository
from retold.store.tokenizer import tokens
from tests.examples import examples
from tests.fts_oracle import fts_of, quoted
from tests.index_support import IDENTITY, Row, change, insert, open_store, remove, scope_codes

NOW = 1_000_000
MAX = 64
ANA = "user:ana"


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "memory.db") as opened:
        yield opened


@pytest.fixture
def index(store):
    return VectorIndex(IDENTITY)


@pytest.fixture
def loads(monkeypatch):
    """Count how often all texts are read."""
    read = LexicalRepository.all_fields
    calls = []
    monkeypatch.setattr(
        LexicalRepository, "all_fields", lambda self: (calls.append(1), read(self))[1]
    )
    return calls


def add(store, *texts, scope=ANA):
    with store.write() as tx:
        seqs = [insert(tx, Row(scope=scope)) for _ in texts]
        for seq, text in zip(seqs, texts, strict=True):
            tx.lexical.insert(seq, text, "", "")
    return seqs


def look(index, store, *scopes):
    """Return the words of what a caller of these scopes may see."""
    with store.read() as tx:
        index.refresh(tx, MAX)
        eligible = index.eligible(scope_codes(store, *(scopes or [ANA])), now_us=NOW)
        return index.words(tx, eligible)


def found(index, store, *phrase):
    return [seq for seq, _ in look(index, store).search([phrase], 10)]


def test_words_need_a_loaded_index(index, store):
    with store.read() as tx, pytest.raises(StoreError):
        index.words(tx, None)


def test_all_texts_are_read_once_and_then_what_changed(index, store, loads, monkeypatch):
    monkeypatch.setattr(words_module, "MERGE_ABOVE", 6)
    add(store, "green tea", "black tea")
    assert found(index, store, "tea") == [1, 2]

    for at in range(12):
        add(store, f"tea number{at}")
        assert found(index, store, f"number{at}") == [at + 3]

    assert len(found(index, store, "tea")) == 10
    assert loads == [1]


def test_more_changes_than_can_be_followed_mean_reading_all_texts(index, store, loads, monkeypatch):
    monkeypatch.setattr(words_module, "_CATCH_UP_ROWS", 2)
    add(store, "tea")
    found(index, store, "tea")

    add(store, "tea", "green tea", "black tea")

    assert sorted(found(index, store, "tea")) == [1, 2, 3, 4]
    assert loads == [1, 1]


def test_words_of_a_snapshot_merge_while_the_columns_are_further(index, store, monkeypatch):
    monkeypatch.setattr(words_module, "MERGE_ABOVE", -1)
    add(store, "green tea")
    look(index, store)
    add(store, "black tea")
    with store.read() as old:
        index.refresh(old, MAX)
        with store.write() as tx:
            seq = insert(tx, Row())
            tx.lexical.insert(seq, "white tea", "", "")
            index.note_own_write(tx, [seq])
        mine = index.eligible(scope_codes(store, ANA), now_us=NOW)
        assert [one for one, _ in index.words(old, mine).search([("tea",)], 9)] == [1, 2]

    assert found(index, store, "tea") == [1, 2, 3]


def test_a_reload_keeps_the_words_and_reads_what_changed(index, store, loads):
    gone, *_ = add(store, "green tea", "black tea", "coffee", "milk")
    found(index, store, "tea")
    with store.write() as tx:
        tx.lexical.replace(4, "oat", "", "")
        change(tx, 4, source_kind="system")
        change(tx, 2, event_us=77)
    found(index, store, "tea")
    with store.write() as tx:
        tx.lexical.delete(gone)
        remove(tx, gone)
        tx.lexical.replace(3, "mint tea", "", "")
        change(tx, 3, source_kind="system")
    add(store, "cake", "tea cake")
    with store.read() as tx:
        assert index.refresh(tx, 1) == "reloaded"

    assert sorted(found(index, store, "tea")) == [2, 3, 6]
    assert found(index, store, "oat") == [4]
    assert [found(index, store, word) for word in ("coffe", "green", "milk")] == [[]] * 3
    assert loads == [1]
    fresh = look(VectorIndex(IDENTITY), store)
    assert look(index, store).search([("tea",), ("black",)], 9) == fresh.search(
        [("tea",), ("black",)], 9
    )


def test_a_replaced_file_is_read_anew(index, store, loads):
    add(store, "green tea")
    found(index, store, "tea")
    with store.write() as tx:
        tx.lexical.replace(1, "coffee", "", "")
        tx.meta.set_text("store_epoch", tx.new_id())

    assert found(index, store, "coffe") == [1]
    assert loads == [1, 1]


def test_texts_that_another_release_prepared_are_all_read_again(index, store, loads):
    add(store, "tea", "coffee")
    assert found(index, store, "tea") == [1]
    with store.write() as tx:
        tx.meta.set_int("fts_prepare_version", 99)
        tx.lexical.replace(2, "prepared otherwise", "", "")
        change(tx, 1, source_kind="system")

    assert found(index, store, "otherwis") == [2]
    assert loads == [1, 1]


def test_words_read_in_a_snapshot_of_the_replaced_file_do_not_stay(index, store):
    """A restored file counts its versions from further back."""
    (seq,) = add(store, "green tea")
    with store.read() as old:
        old.meta.clocks()
        with store.write() as tx:
            tx.lexical.replace(seq, "coffee", "", "")
            change(tx, seq, source_kind="system")
            tx.meta.set_text("store_epoch", tx.new_id())
        with store.write() as tx:
            tx.meta.set_int("records_version", 0)
        with store.read() as new:
            index.load(new)
        mine = index.eligible(scope_codes(store, ANA), now_us=NOW)
        assert index.words(old, mine).known([("tea",), ("coffe",)]) == [True, False]

    assert look(index, store).known([("tea",), ("coffe",)]) == [False, True]


def test_search_that_began_before_a_reload_finds_its_own_rows(index, store):
    """Fails when row numbers of the old load are used in the new one: rows moved up by one."""
    gone, *kept = add(store, "green tea", "black tea", "coffee")
    with store.read() as tx:
        index.refresh(tx, MAX)
        eligible = index.eligible(scope_codes(store, ANA), now_us=NOW)
    with store.write() as tx:
        remove(tx, gone)
        tx.lexical.delete(gone)
    with store.read() as tx:
        index.load(tx)
        words = index.words(tx, eligible)

    assert [seq for seq, _ in words.search([("tea",)], 5)] == kept[:1]
    assert words.known([("tea",), ("coffe",), ("green",)]) == [True, True, False]


def test_search_keeps_what_it_saw_while_words_change(index, store):
    (seq,) = add(store, "green tea")
    words = look(index, store)
    with store.write() as tx:
        tx.lexical.replace(seq, "coffee", "", "")
        change(tx, seq, source_kind="system")
    later = look(index, store)

    assert words.known([("tea",), ("coffe",)]) == [True, False]
    assert later.known([("tea",), ("coffe",)]) == [False, True]


def test_record_changed_again_and_again_has_its_last_words_only(index, store):
    (seq,) = add(store, "green tea")
    for text in ("black tea", "black coffee", "", "milk"):
        look(index, store)
        with store.write() as tx:
            tx.lexical.replace(seq, text, "", "")
            change(tx, seq, source_kind="system")
    words = look(index, store)

    assert words.known([("green",), ("tea",), ("black",), ("milk",)]) == [False] * 3 + [True]
    assert words.search([("tea",), ("black",), ("milk",)], 5) == [(seq, pytest.approx(1e-6))]


def test_words_of_a_removed_record_leave_memory_with_the_next_merge(index, store, monkeypatch):
    seqs = add(store, "green tea", "black walrus", "coffee")
    look(index, store)
    with store.write() as tx:
        remove(tx, seqs[1])
        tx.lexical.delete(seqs[1])
    monkeypatch.setattr(words_module, "MERGE_ABOVE", -1)
    add(store, "milk")

    held = look(index, store)._words
    assert (
        held.merged(index.live).tokens_of(1).tolist() == held.postings.tokens_of(1).tolist() == []
    )
    assert len(held.postings) == 4


def test_words_of_equal_weight_come_in_key_order_up_to_the_limit(index, store):
    add(store, *["tea time"] * 40)

    assert [seq for seq, _ in look(index, store).search([("tea",)], 7)] == list(range(1, 8))
    assert look(index, store).search([("tea",)], 0) == []


@pytest.mark.parametrize("probed_above", [0, 1_000])
@pytest.mark.parametrize("narrow_part", [0, 1_000])
def test_however_rows_are_walked_changed_ones_count_with_their_new_words(
    index, store, monkeypatch, narrow_part, probed_above
):
    monkeypatch.setattr(bm25, "NARROW_PART", narrow_part)
    monkeypatch.setattr(bm25, "_PROBE_ABOVE", probed_above)
    changed, gone, *_ = add(store, "green tea", "black tea", "coffee", "bge-m3", "tea pot")
    found(index, store, "tea")
    with store.write() as tx:
        tx.lexical.replace(changed, "bge-m3 or coffee", "", "coffee")
        change(tx, changed, source_kind="system")
        remove(tx, gone)
        tx.lexical.delete(gone)
    add(store, "coffee and tea", "tea with bge-m3", scope="user:bob")

    words = look(index, store)
    with store.read() as tx:
        mine = tx.lexical.fields([1, 3, 4, 5])
    for asked in (["tea"], ["bge-m3", "coffee"], ["green", "black"]):
        phrases = list(map(tokens, asked))
        expected = fts_of(mine, " OR ".join(map(quoted, asked)), 9)
        assert words.search(phrases, 9) == expected
        assert dict(zip(mine, words.scores_of(phrases, list(mine)), strict=True)) == {
            seq: dict(expected).get(seq, 0.0) for seq in mine
        }


def test_phrase_stands_in_one_field_of_one_record(index, store):
    with store.write() as tx:
        for fields in (("bge", "m3", ""), ("use bge", "", ""), ("m3 too", "", "bge m3")):
            tx.lexical.insert(insert(tx, Row()), *fields)

    assert found(index, store, "bge", "m3") == [3]
    assert look(index, store).known([("bge", "m3"), ("m3", "bge"), ("bge",)]) == [
        True,
        False,
        True,
    ]


def test_searches_meet_whole_changes_while_others_write(index, store):
    """No search meets a record whose old words are gone and whose new ones are not there yet."""
    seqs = add(store, *["tea time"] * 30)
    found(index, store, "tea")

    def rewrite(at):
        with store.write() as tx:
            tx.lexical.replace(seqs[at], "time for tea and cake", "", "")
            change(tx, seqs[at], source_kind="system")

    with ThreadPoolExecutor(5) as pool:
        writes = [pool.submit(rewrite, at) for at in range(30)]
        reads = [pool.submit(look, index, store) for _ in range(60)]
        counts = [len(read.result(60).search([("tea",)], 100)) for read in reads]
        for write in writes:
            write.result(60)

    assert counts == [30] * 60
    assert len(look(index, store).search([("cake",)], 100)) == 30


TEXTS = st.lists(
    st.lists(st.sampled_from("tea cake green 花生 time".split()), min_size=1, max_size=5).map(
        " ".join
    ),
    min_size=1,
    max_size=6,
)
PHRASES = (("tea",), ("green", "tea"), ("cake",), ("time",))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A store that fills with the records of one example's people after the other's."""
    with open_store(tmp_path_factory.mktemp("shared") / "memory.db") as opened:
        yield opened, VectorIndex(IDENTITY), count()


@given(mine=TEXTS, theirs=TEXTS, more=TEXTS)
@settings(max_examples=examples(25))
def test_records_of_others_move_no_bit_of_what_a_caller_gets(shared, mine, theirs, more):
    """Written, rewritten, removed, merged into the postings or loaded: nothing of it shows."""
    store, index, number = shared
    me, other = f"user:ana{next(number)}", f"user:bob{next(number)}"
    seqs = add(store, *mine, scope=me)

    def answers(one):
        words = look(one, store, me)
        scores = words.scores_of(PHRASES, seqs).tobytes()
        return words.search(PHRASES, 3), scores, words.known(PHRASES)

    alone = answers(index)
    others = add(store, *theirs, scope=other)
    assert answers(index) == alone == answers(VectorIndex(IDENTITY))
    with store.write() as tx:
        for seq, text in zip(others, more, strict=False):
            tx.lexical.replace(seq, text, "tea", "cake")
            change(tx, seq, source_kind="system")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words_module, "MERGE_ABOVE", -1)
        assert answers(index) == alone
    with store.write() as tx:
        remove(tx, others[0])
        tx.lexical.delete(others[0])

    assert answers(index) == alone == answers(VectorIndex(IDENTITY))
    assert look(index, store, me).scores_of(PHRASES, others).tolist() == [0.0] * len(others)


def test_other_constants_score_the_same_words_and_leave_the_first_scores(index, store):
    """Fails when sums or weights of FTS5's constants are taken along."""
    once, often, long = add(store, "tea pot", "tea tea tea", f"tea {'and so on ' * 9}")
    add(store, *(f"other {number}" for number in range(9)))
    words = look(index, store)
    by_fts5 = words.scores_of([("tea",)], [once, often, long]).tolist()
    neither = words.saturated(Bm25Lever(k1=0.0, b=0.0)).scores_of([("tea",)], [once, often, long])
    no_length = words.saturated(Bm25Lever(k1=1.2, b=0.0)).scores_of([("tea",)], [once, often, long])

    assert by_fts5[1] > by_fts5[0] > by_fts5[2]
    assert len(set(neither.tolist())) == 1
    assert no_length[1] > no_length[0] == no_length[2]
    assert words.scores_of([("tea",)], [once, often, long]).tolist() == by_fts5
    assert words.saturated(FTS5_BM25) is words


def test_a_word_is_numbered_by_one_thread_at_a_time():
    """Fails without the lock: a reload and a search of the load before it share the vocabulary."""

    class Asked(Vocabulary):
        def __len__(self):
            assert self._numbering.locked()
            return super().__len__()

    words = Asked()

    assert [words[word] for word in ("a", "b", "a")] == [0, 1, 0]
