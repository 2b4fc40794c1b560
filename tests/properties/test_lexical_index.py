"""Words in the process are FTS5's, over the rows of the caller and no others."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from retold.index import bm25, words
from retold.index.vector import VectorIndex
from retold.store import Store, Transaction
from retold.store.tokenizer import tokens
from retold.text import prepare_fts
from tests.examples import examples
from tests.fts_oracle import fts_of, quoted
from tests.index_support import IDENTITY, Row, change, insert, open_store, remove, scope_codes

SCOPES = ("user:ana", "user:bob", "project:acme/repo")
WHICH = st.integers(0, 1)
SAME = st.integers(0, 2)
MAX = 6
NOW = 5
LIMIT = 4

# Few words, so that rows share them; stems, accents, phrases, scripts and symbols among them.
WORDS = st.sampled_from(
    [
        *("tea", "Teas", "green", "bge-m3", "bge", "m3 bge m3", "deploy.yml", "Café", "cafe"),
        *("sushi sushi sushi", "sushi", "花生", "花生酱", "对花", "寿司が", "ケーキ", "김치"),
        *("ถั่วลิสง", "ถั่ว", "ลิส", "🙂", "the", "", "чай"),
    ]
)
TEXTS = st.lists(WORDS, max_size=7).map(" ".join)
LONG = st.tuples(WORDS, st.integers(200, 400)).map(lambda part: " ".join([part[0]] * part[1]))
FIELDS = st.tuples(TEXTS | LONG, TEXTS, TEXTS)


@dataclass(frozen=True)
class Asked:
    """Phrases of a query: prepared, as tokens, and as FTS5 takes them."""

    texts: tuple[str, ...]

    @property
    def phrases(self):
        return tuple(map(tokens, self.texts))

    @property
    def match(self):
        return " OR ".join(map(quoted, self.texts))


PHRASES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join).map(prepare_fts).filter(tokens)
ASKED = st.lists(PHRASES, min_size=1, max_size=5).map(tuple).map(Asked)


class WordsFollowStore(RuleBasedStateMachine):
    """Two processes that write, each with an index; what a caller finds is asked of FTS5."""

    def __init__(self):
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(words, "MERGE_ABOVE", 100)
        self.folder = Path(tempfile.mkdtemp())
        self.stores = [open_store(self.folder / "memory.db"), Store.open(self.folder / "memory.db")]
        self.indexes = [VectorIndex(IDENTITY), VectorIndex(IDENTITY)]
        self.keys: list[int] = []

    def teardown(self):
        self.patch.undo()
        for store in self.stores:
            store.close()
        shutil.rmtree(self.folder)

    def write(self, which: int, noted: bool, act: Callable[[Transaction], list[int]]) -> None:
        with self.stores[which].write() as tx:
            touched = act(tx)
            if noted:
                self.indexes[which].note_own_write(tx, touched)

    @initialize(new=st.lists(st.tuples(st.sampled_from(SCOPES), FIELDS), min_size=3, max_size=12))
    def begin(self, new):
        self.add(0, False, new)

    @rule(
        which=WHICH,
        noted=st.booleans(),
        new=st.lists(st.tuples(st.sampled_from(SCOPES), FIELDS), min_size=1, max_size=9),
    )
    def add(self, which, noted, new):
        def act(tx):
            added = []
            for scope, fields in new:
                seq = insert(tx, Row(scope=scope))
                tx.lexical.insert(seq, *fields)
                added.append(seq)
            self.keys.extend(added)
            return added

        self.write(which, noted, act)

    @rule(which=WHICH, noted=st.booleans(), at=SAME, fields=FIELDS)
    def merge_gives_a_record_other_words(self, which, noted, at, fields):
        if self.keys:
            seq = self.keys[at % len(self.keys)]

            def act(tx):
                change(tx, seq, source_kind="system")
                tx.lexical.replace(seq, *fields)
                return [seq]

            self.write(which, noted, act)

    @rule(
        which=WHICH,
        noted=st.booleans(),
        at=st.integers(0),
        values=st.sampled_from(
            [{"status": "superseded"}, {"status": "confirmed"}, {"expires_us": 1}, {"event_us": 9}]
            + [{"scope": scope} for scope in SCOPES]
        ),
    )
    def update(self, which, noted, at, values):
        if self.keys:
            seq = self.keys[at % len(self.keys)]
            self.write(which, noted, lambda tx: [change(tx, seq, **values), seq][1:])

    @rule(which=WHICH, noted=st.booleans(), at=st.integers(0), for_good=st.booleans())
    def forget(self, which, noted, at, for_good):
        if self.keys:
            seq = self.keys.pop(at % len(self.keys))

            def act(tx):
                tx.lexical.delete(seq)
                remove(tx, seq) if for_good else change(tx, seq, status="deleted")
                return [seq]

            self.write(which, noted, act)

    @rule(which=WHICH)
    def replace_file(self, which):
        with self.stores[which].write() as tx:
            tx.meta.set_text("store_epoch", tx.new_id())

    @rule(which=WHICH, writer=WHICH, fields=FIELDS, at=SAME)
    def search_an_old_snapshot_after_a_write(self, which, writer, fields, at):
        """Whatever it finds, it must not keep the next search from seeing what was written."""
        index = self.indexes[which]
        with self.stores[which].read() as old:
            old.meta.clocks()
            self.merge_gives_a_record_other_words(writer, True, at, fields)
            index.refresh(old, MAX)
            index.words(old, index.eligible(self.codes(SCOPES), now_us=NOW)).search([("tea",)], 5)

    @rule(
        which=WHICH,
        scopes=st.just(SCOPES) | st.lists(st.sampled_from(SCOPES), unique=True, min_size=1),
        history=st.booleans(),
        asked=ASKED,
        walked=st.sampled_from([(4, 8), (0, 0), (0, 1_000), (1_000, 8)]),
    )
    def search(self, which, scopes, history, asked, walked):
        """However rows are ``walked``, the answer is the same."""
        index = self.indexes[which]
        with self.stores[which].read() as tx, pytest.MonkeyPatch.context() as patch:
            patch.setattr(bm25, "NARROW_PART", walked[0])
            patch.setattr(bm25, "_PROBE_ABOVE", walked[1])
            index.refresh(tx, MAX)
            eligible = index.eligible(self.codes(scopes), now_us=NOW, include_history=history)
            held = index.words(tx, eligible)
            rows = tx.lexical.fields(eligible.seqs().tolist())
            found = held.search(asked.phrases, LIMIT)
            scores = dict(zip(self.keys, held.scores_of(asked.phrases, self.keys), strict=True))
            known = held.known(asked.phrases)

        assert sorted(rows) == eligible.seqs().tolist()
        expected = fts_of(rows, asked.match, len(rows) + 1)
        assert [seq for seq, _ in found] == [seq for seq, _ in expected[:LIMIT]]
        assert {seq: score for seq, score in scores.items() if score} == pytest.approx(
            dict(expected), rel=1e-9
        )
        assert all(scores[seq] == score for seq, score in found)
        assert known == [bool(fts_of(rows, quoted(text), 1)) for text in asked.texts]

    def codes(self, scopes):
        return scope_codes(self.stores[0], *scopes)


TestWordsFollowStore = WordsFollowStore.TestCase
TestWordsFollowStore.settings = settings(
    max_examples=examples(40), stateful_step_count=20, deadline=None
)
