"""The index equals reading the store: two writers, two indexes, any order of events."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from retold.index.vector import VectorIndex
from retold.models import MEMORY_TYPES, RECORD_STATUSES, SOURCE_KINDS
from retold.store import Store, Transaction
from retold.store.embeddings import unit_vector
from tests.examples import examples
from tests.index_support import (
    DIMS,
    IDENTITY,
    Row,
    change,
    insert,
    open_store,
    remove,
    scope_codes,
)

SCOPES = ("user:ana", "project:acme/repo", "agent:bot/ana")
MOMENTS = st.integers(0, 12)
WHICH = st.integers(0, 1)
MAX = 3

# Few distinct values, so that equal cosines, the same record twice and both ends of every
# interval come up often.
vectors = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=DIMS, max_size=DIMS).filter(any)
# Mostly active rows, asked for mostly without filters: otherwise most answers are empty.
statuses = st.sampled_from(("confirmed", "provisional", *RECORD_STATUSES))
rows = st.builds(
    Row,
    scope=st.sampled_from(SCOPES),
    vector=st.none() | vectors,
    type=st.sampled_from(MEMORY_TYPES),
    status=statuses,
    source_kind=st.sampled_from(SOURCE_KINDS),
    event_us=MOMENTS,
    expires_us=st.none() | MOMENTS,
)
filters = st.just({}) | st.fixed_dictionaries(
    {},
    optional={
        "types": st.lists(st.sampled_from(MEMORY_TYPES), unique=True),
        "since_us": MOMENTS,
        "until_us": MOMENTS,
        "include_history": st.booleans(),
    },
)


def is_eligible(row, codes, now_us, filters):
    """Say for one row of the store what the columns must say for all of them."""
    _, scope_code, type_, status, expires_us, event_us, _ = row
    history = filters.get("include_history", False)
    return (
        scope_code in codes
        and status != "deleted"
        and (history or status in ("provisional", "confirmed"))
        and (history or expires_us is None or expires_us > now_us)
        and type_ in filters.get("types", MEMORY_TYPES)
        and event_us >= filters.get("since_us", event_us)
        and event_us < filters.get("until_us", event_us + 1)
    )


def stored(tx: Transaction) -> list[tuple]:
    return list(
        tx.run(
            "select r.seq, scope_code, type, status, expires_us, event_us, vector "
            "from records as r left join embeddings as e on e.seq = r.seq"
        )
    )


class IndexFollowsStore(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.stores = [open_store(self.folder / "memory.db"), Store.open(self.folder / "memory.db")]
        self.indexes = [VectorIndex(IDENTITY), VectorIndex(IDENTITY)]
        self.now_us = 5
        self.keys: list[int] = []
        # What each index must read at its next refresh; None when only "something" is known.
        self.unread: list[set[int] | None] = [None, None]
        self.replaced = [False, False]
        # A screen from the second search by a floor on, which stores of thousands have.
        self.early = patch.multiple(
            "retold.index.matrix", SCREEN_ABOVE=1, SCREEN_PART=0.0, SCREEN_AFTER=2
        )
        self.early.start()

    def teardown(self):
        self.early.stop()
        for store in self.stores:
            store.close()
        shutil.rmtree(self.folder)

    @initialize(first=st.lists(rows, min_size=6, max_size=30))
    def begin(self, first):
        with self.stores[0].write() as tx:
            self.keys = [insert(tx, row) for row in first]

    def write(self, which: int, act: Callable[[Transaction], list[int]], *, noted: bool) -> None:
        with self.stores[which].write() as tx:
            touched = act(tx)
            if noted:
                self.indexes[which].note_own_write(tx, touched)
        for reader, unread in enumerate(self.unread):
            if unread is None:
                continue
            if noted and reader == which:
                unread.difference_update(touched)
            elif tx.committed_version:
                unread.update(touched)

    @rule(which=WHICH, noted=st.booleans(), new=st.lists(rows, min_size=1, max_size=5))
    def add(self, which, noted, new):
        def act(tx):
            added = [insert(tx, row) for row in new]
            self.keys.extend(added)
            return added

        self.write(which, act, noted=noted)

    @rule(
        which=WHICH,
        noted=st.booleans(),
        at=st.integers(0),
        values=st.fixed_dictionaries(
            {},
            optional={
                "status": statuses,
                "scope": st.sampled_from(SCOPES),
                "expires_us": st.none() | MOMENTS,
                "event_us": MOMENTS,
                "source_kind": st.sampled_from(SOURCE_KINDS),
            },
        ),
    )
    def update(self, which, noted, at, values):
        if self.keys:
            seq = self.keys[at % len(self.keys)]
            self.write(which, lambda tx: [change(tx, seq, **values), seq][1:], noted=noted)

    @rule(which=WHICH, noted=st.booleans(), at=st.integers(0), vector=st.none() | vectors)
    def embed(self, which, noted, at, vector):
        if not self.keys:
            return
        seq = self.keys[at % len(self.keys)]

        def act(tx):
            tx.embeddings.delete(seq) if vector is None else tx.embeddings.put(seq, vector)
            return [seq]

        self.write(which, act, noted=noted)

    @rule(which=WHICH, noted=st.booleans(), at=st.integers(0))
    def delete(self, which, noted, at):
        if self.keys:
            seq = self.keys.pop(at % len(self.keys))
            self.write(which, lambda tx: [remove(tx, seq), seq][1:], noted=noted)

    @rule(hours=st.integers(1, 3))
    def wait(self, hours):
        self.now_us += hours

    @rule(which=WHICH)
    def replace_file(self, which):
        with self.stores[which].write() as tx:
            tx.meta.set_text("store_epoch", tx.new_id())
        self.replaced = [True, True]

    @rule(which=WHICH, writer=WHICH, row=rows)
    def refresh_an_old_snapshot_after_a_write(self, which, writer, row):
        with self.stores[which].read() as old:
            old.meta.clocks()
            self.add(writer, True, [row])
            self.indexes[which].refresh(old, MAX)
        self.unread[which], self.replaced[which] = None, False

    def expected_freshness(self, which):
        unread = self.unread[which]
        if not self.indexes[which].is_loaded:
            return {"loaded"}
        if self.replaced[which]:
            return {"reloaded"}
        if unread is None:
            return {"current", "delta", "reloaded"}
        if not unread:
            return {"current"}
        return {"delta"} if len(unread) <= MAX else {"reloaded"}

    @rule(
        which=WHICH,
        scopes=st.just(SCOPES) | st.lists(st.sampled_from(SCOPES), unique=True, min_size=1),
        chosen=filters,
        queries=st.lists(vectors, min_size=1, max_size=3),
        k=st.integers(1, 20),
    )
    def search(self, which, scopes, chosen, queries, k):
        store, index = self.stores[which], self.indexes[which]
        codes = scope_codes(store, *scopes)
        with store.read() as tx:
            assert self.expected_freshness(which) >= {index.refresh(tx, MAX)}
            assert index.refresh(tx, 0) == "current"
            expected = [row for row in stored(tx) if is_eligible(row, codes, self.now_us, chosen)]
        self.unread[which], self.replaced[which] = set(), False
        found = index.eligible(codes, now_us=self.now_us, **chosen)

        assert found.seqs().tolist() == sorted(row[0] for row in expected)
        assert index.search_many(queries, found, k) == ranked(expected, queries)[:k]

    @rule(
        which=WHICH,
        scopes=st.just(SCOPES) | st.lists(st.sampled_from(SCOPES), unique=True, min_size=1),
        types=st.none() | st.lists(st.sampled_from(MEMORY_TYPES), unique=True),
        query=vectors,
        floor=st.sampled_from([-1.0, -0.5, 0.0, 0.5, 0.85, 1.0]),
    )
    def search_near(self, which, scopes, types, query, floor):
        store, index = self.stores[which], self.indexes[which]
        codes = scope_codes(store, *scopes)
        with store.read() as tx:
            index.refresh(tx, MAX)
            chosen = {} if types is None else {"types": types}
            expected = [row for row in stored(tx) if is_eligible(row, codes, self.now_us, chosen)]
        self.unread[which], self.replaced[which] = set(), False
        found = index.search_near(query, floor, codes, now_us=self.now_us, types=types)

        assert found == [hit for hit in ranked(expected, [query]) if hit[1] >= floor]


def ranked(expected, queries):
    """Return (key, best cosine) of rows with a vector, one at a time."""
    units = [unit_vector(query, DIMS) for query in queries]
    scored = []
    for row in expected:
        if row[-1] is not None:
            vector = np.frombuffer(row[-1], dtype="<f4")
            best = max(float(np.vecdot(vector, unit)) for unit in units)
            scored.append((row[0], min(1.0, max(-1.0, best))))
    return sorted(scored, key=lambda hit: (-hit[1], hit[0]))


TestIndexFollowsStore = IndexFollowsStore.TestCase
TestIndexFollowsStore.settings = settings(
    max_examples=examples(50), stateful_step_count=30, deadline=None
)
