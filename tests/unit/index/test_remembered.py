"""What the index remembers of records is what the store says, whoever wrote and whenever."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retold.index.remembered import Remembered
from retold.index.vector import VectorIndex
from retold.store import Store
from retold.store.candidates import CandidateRepository
from retold.testing import FakeClock
from retold.text.token_text import fields_text
from tests.examples import examples
from tests.index_support import IDENTITY, Row, change, insert, open_store, remove

ROWS = 4
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "supersede", "expire", "index", "remove", "look", "hold"]),
        st.integers(0, ROWS - 1),
        st.booleans(),
    ),
    min_size=1,
    max_size=14,
)


@contextmanager
def _two_processes() -> Iterator[tuple[Store, Store, VectorIndex]]:
    with ExitStack() as stack:
        path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "memory.db"
        ours = stack.enter_context(open_store(path))
        theirs = stack.enter_context(Store.open(path))
        yield ours, theirs, VectorIndex(IDENTITY)


def _write(store: Store, index: VectorIndex | None, step: str, seq: int) -> None:
    with store.write() as tx:
        known = tx.one("select status from records where seq = ?", (seq,))
        if step == "insert":
            seq = insert(tx, Row())
            tx.lexical.insert(seq, f"words {seq}", "", "")
        elif known is None:
            return
        elif step == "supersede":
            change(tx, seq, status="superseded")
        elif step == "expire":
            change(tx, seq, expires_us=1)
        elif step == "index":
            tx.lexical.replace(seq, f"other words {tx.version()}", "", "")
            change(tx, seq, status=known[0])
        elif step == "remove":
            tx.lexical.delete(seq)
            remove(tx, seq)
        if index is not None:
            index.note_own_write(tx, [seq])


def _require_equal_to_the_store(store: Store, index: VectorIndex) -> None:
    seqs = list(range(1, 40))
    with store.read() as tx:
        index.refresh(tx, 2)
        for _ in range(2):
            assert index.rows_of(tx, seqs) == CandidateRepository(tx).rows(seqs)
            assert index.texts_of(tx, seqs) == {
                seq: fields_text([tx.lexical.tokens(text) for text in texts if text])
                for seq, texts in tx.lexical.fields(seqs).items()
            }


@given(STEPS)
@settings(max_examples=examples(60), deadline=None)
def test_remembered_rows_and_words_equal_the_store_at_every_refresh(
    steps: list[tuple[str, int, bool]],
) -> None:
    with _two_processes() as (ours, theirs, index), ExitStack() as old:
        held: Any = None
        for step, place, is_own in [("insert", 0, True), *steps]:
            if step == "hold":
                # Somebody's snapshot that grows old, and is asked late.
                held = old.enter_context(ours.read())
                index.refresh(held, 2)
            elif step == "look":
                if held is not None:
                    index.rows_of(held, range(1, 40))
                    index.texts_of(held, range(1, 40))
                _require_equal_to_the_store(ours, index)
            else:
                store = ours if is_own else theirs
                _write(store, index if is_own else None, step, place + 1)
        _require_equal_to_the_store(ours, index)


@pytest.mark.parametrize("is_own", [False, True], ids=["another's write", "an own write"])
def test_what_an_old_snapshot_says_is_remembered_for_nobody_else(is_own: bool) -> None:
    """Fails without the look at the counters, and for own writes without that at those."""
    with _two_processes() as (ours, theirs, index):
        _write(ours, index, "insert", 1)
        with ours.read() as held:
            index.refresh(held, 2)
            for step in ("supersede", "index"):
                _write(ours if is_own else theirs, index if is_own else None, step, 1)
            if not is_own:
                with theirs.read() as tx:
                    index.refresh(tx, 2)
            assert index.rows_of(held, [1])[1].status == "confirmed"
            assert "other" not in index.texts_of(held, [1])[1]
        _require_equal_to_the_store(ours, index)


def test_words_of_a_removed_record_are_remembered_no_longer() -> None:
    with _two_processes() as (ours, theirs, index):
        _write(ours, index, "insert", 1)
        _require_equal_to_the_store(ours, index)
        generation = index._projection.loaded()
        assert (len(generation.rows), len(generation.texts)) == (1, 1)

        _write(theirs, None, "remove", 1)
        with ours.read() as tx:
            index.refresh(tx, 2)

        assert (len(generation.rows), len(generation.texts)) == (0, 0)


def test_a_remembered_row_expires_when_its_moment_comes(tmp_path: Path) -> None:
    clock = FakeClock()
    with Store.open(tmp_path / "memory.db", clock=clock) as store:
        with store.write() as tx:
            tx.meta.set_embedding_identity(IDENTITY)
            moment = int(clock().timestamp() * 1_000_000) + 60_000_000
            seq = insert(tx, Row(expires_us=moment))
        index = VectorIndex(IDENTITY)
        statuses = []
        for _ in range(3):
            with store.read() as tx:
                index.refresh(tx, 2)
                statuses.append(index.rows_of(tx, [seq])[seq].status)
            clock.advance(timedelta(seconds=30))

        assert statuses == ["confirmed", "confirmed", "expired"]


def test_the_oldest_facts_are_given_up_first() -> None:
    remembered: Remembered[str] = Remembered(2)
    remembered.keep({1: "a"})
    remembered.keep({2: "b", 3: "c"})

    assert remembered.known([3, 1, 2]) == {3: "c", 2: "b"}


@pytest.mark.parametrize("most", [0, 1])
def test_more_facts_than_there_is_room_for_are_not_kept(most: int) -> None:
    remembered: Remembered[str] = Remembered(most)
    remembered.keep({1: "a", 2: "b"})

    assert len(remembered) == most


def test_a_fact_that_another_thread_forgets_meanwhile_is_known_or_unknown() -> None:
    """Fails when a fact is looked up twice: it may go between the two."""

    class Leaving(dict[int, str]):
        def __contains__(self, seq: object) -> bool:
            return self.pop(seq, None) is not None  # type: ignore[call-overload]

    remembered = Remembered[str]()
    remembered._facts = Leaving({1: "a"})

    assert remembered.known([1, 2]) == {1: "a"}
