"""The audit trail and its chain of hashes."""

import itertools
from datetime import UTC, datetime, timedelta, timezone

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retold.store import Store
from retold.store.events import GENESIS, EventRepository, chain_hash, payload_digest
from tests.examples import examples


def append(tx, count):
    return [
        tx.events.append(f"kind.{number}", "assistant", payload={"n": number})
        for number in range(1, count + 1)
    ]


def append_and_fail(tx, count):
    append(tx, count)
    raise RuntimeError


def tamper(store, sql, **bindings):
    """Change the file behind the library's back, as somebody with an SQLite shell would."""
    with store.write() as tx:
        tx.connection.pragma("defer_foreign_keys", 1)
        tx.run(sql, bindings)


def test_events_append_returns_what_was_stored(store, clock):
    with store.write() as tx:
        event = tx.events.append(
            "record.created",
            "assistant",
            record_id="r1",
            entity_id="e1",
            session_id="s1",
            user_id="ana",
            payload={"b": 1, "a": [True, None]},
        )

    with store.read() as tx:
        assert tx.events.list_for_record("r1") == [event]
        assert tx.events.list_for_entity("e1") == [event]
        assert tx.events.list_by_kind("record.created") == [event]
        assert event.at == clock.now
        assert (event.seq, event.actor, event.user_id) == (1, "assistant", "ana")


def test_events_chain_starts_at_genesis_and_hashes_every_field(store):
    with store.write() as tx:
        append(tx, 2)
        rows = list(
            tx.run(
                "select seq, id, at, kind, payload, payload_salt, payload_digest, prev_hash, hash"
                " from events order by seq"
            )
        )

    assert rows[0][7] == GENESIS
    assert rows[1][7] == rows[0][8]
    assert len({row[5] for row in rows}) == 2
    for seq, event_id, at, kind, payload, salt, digest, prev_hash, link_hash in rows:
        assert len(salt) == 16
        assert digest == payload_digest(salt, payload)
        assert link_hash == chain_hash(
            seq=seq, event_id=event_id, at=at, kind=kind, digest=digest, prev_hash=prev_hash
        )


def test_events_chain_hash_separates_neighbouring_fields():
    """Without the lengths in ``chain_hash`` these two links would share one hash."""
    common = {"seq": 1, "kind": "kind", "digest": GENESIS, "prev_hash": GENESIS}

    one = chain_hash(event_id="ab", at="c", **common)
    two = chain_hash(event_id="a", at="bc", **common)

    assert one != two


def test_events_salt_comes_from_the_given_source(store):
    with store.write() as tx:
        events = EventRepository(tx, random_bytes=lambda size: b"\x07" * size)
        events.append("kind", "assistant")

        assert tx.one("select payload_salt from events") == (b"\x07" * 16,)


def test_events_append_keeps_the_time_and_id_of_imported_history(store):
    moment = datetime(2020, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=2)))
    with store.write() as tx:
        tx.events.append("kind", "assistant", at=moment, event_id="old-1")

        (stored,) = tx.events.list_by_kind("kind")
        assert (stored.id, stored.at) == ("old-1", moment.astimezone(UTC))


def test_events_of_a_rolled_back_transaction_leave_no_gap(store):
    with store.write() as tx:
        append(tx, 1)
    with pytest.raises(RuntimeError), store.write() as tx:
        append_and_fail(tx, 3)
    with store.write() as tx:
        append(tx, 1)

    with store.read() as tx:
        assert [event.seq for event in tx.events.list_since()] == [1, 2]
        assert tx.events.verify() is None


def test_events_of_a_rolled_back_savepoint_leave_the_chain_whole(store):
    with store.write() as tx:
        append(tx, 1)
        with pytest.raises(RuntimeError), tx.savepoint():
            append_and_fail(tx, 2)
        append(tx, 1)

        assert tx.events.verify() is None


def test_events_lists_page_by_seq(store):
    with store.write() as tx:
        for _ in range(5):
            tx.events.append("same", "assistant")

    with store.read() as tx:
        first = tx.events.list_by_kind("same", limit=3)
        rest = tx.events.list_by_kind("same", after_seq=first[-1].seq, limit=3)
        assert [event.seq for event in first + rest] == [1, 2, 3, 4, 5]
        assert [event.seq for event in tx.events.list_since(2, limit=2)] == [3, 4]


@pytest.mark.parametrize("batch", [1, 2, 3, 4, 1000])
def test_events_verify_accepts_an_untouched_chain_in_any_batch(store, batch):
    with store.write() as tx:
        append(tx, 4)

        assert tx.events.verify(batch=batch) is None


def test_events_verify_accepts_an_empty_chain(store):
    with store.read() as tx:
        assert tx.events.verify() is None


def test_events_verify_accepts_blanked_payloads_and_changed_references(store):
    """Retention nulls payloads, erasure replaces ids: neither is an alteration of the chain."""
    with store.write() as tx:
        append(tx, 4)
    tamper(store, "update events set payload = null, payload_salt = x'' where seq <= 3")
    tamper(store, "update event_refs set user_id = 'pseudonym', record_id = null, actor = 'x'")

    with store.read() as tx:
        assert tx.events.verify() is None
        assert tx.events.list_since()[0].payload == {}


def test_events_never_reuse_the_seq_of_a_tail_that_was_cut_off(store):
    with store.write() as tx:
        append(tx, 3)
    tamper(store, "delete from event_refs where seq = 3")
    tamper(store, "delete from events where seq = 3")

    with store.write() as tx:
        append(tx, 1)

        assert [event.seq for event in tx.events.list_since()] == [1, 2, 4]


@pytest.mark.parametrize("seq", [1, 2, 4])
def test_events_verify_finds_a_deleted_event(store, seq):
    """Without ``prev_hash`` in ``is_intact`` or ``last_allocated`` this passes unnoticed."""
    with store.write() as tx:
        append(tx, 4)
    tamper(store, "delete from event_refs where seq = :seq", seq=seq)
    tamper(store, "delete from events where seq = :seq", seq=seq)

    with store.read() as tx:
        assert tx.events.verify() == (seq if seq == 4 else seq + 1)


EDITS = {
    "seq": "update events set seq = 100 + seq where seq = :seq",
    "id": "update events set id = id || 'x' where seq = :seq",
    "at": "update events set at = '2020-01-01T00:00:00.000000+00:00' where seq = :seq",
    "kind": "update events set kind = kind || 'x' where seq = :seq",
    "payload": "update events set payload = '{\"n\":99}' where seq = :seq",
    "payload spelling": "update events set payload = payload || ' ' where seq = :seq",
    "payload_digest": "update events set payload_digest = zeroblob(32) where seq = :seq",
    "prev_hash": "update events set prev_hash = zeroblob(31) where seq = :seq",
    "hash": "update events set hash = zeroblob(32) where seq = :seq",
}


@settings(max_examples=examples(40))
@given(
    edit=st.sampled_from(sorted(EDITS)),
    count=st.integers(1, 6),
    where=st.integers(0, 5),
    batch=st.integers(1, 4),
)
def test_events_verify_finds_any_edit_of_any_event(tmp_path_factory, edit, count, where, batch):
    """Leave any field out of ``chain_hash``, or the digest out of ``is_intact``, and this fails."""
    seq = where % count + 1
    with Store.open(tmp_path_factory.mktemp("chain") / "memory.db") as store:
        with store.write() as tx:
            append(tx, count)
            tx.run("delete from event_refs")
        tamper(store, EDITS[edit], seq=seq)

        with store.read() as tx:
            found = tx.events.verify(batch=batch)
    assert found is not None
    assert found in {seq, seq + 1, 100 + seq}


@pytest.mark.parametrize(("one", "two"), list(itertools.combinations([1, 2, 3, 4], 2)))
def test_events_verify_finds_two_events_that_changed_places(store, one, two):
    with store.write() as tx:
        append(tx, 4)
        tx.run("delete from event_refs")
    for old, new in ((one, 99), (two, one), (99, two)):
        tamper(store, "update events set seq = :new where seq = :old", old=old, new=new)

    with store.read() as tx:
        assert tx.events.verify() == one


def test_events_refuse_a_payload_without_canonical_json(store):
    with store.write() as tx, pytest.raises(ValueError, match="JSON compliant"):
        tx.events.append("kind", "assistant", payload={"score": float("nan")})


def test_events_append_fails_in_a_read_transaction(store):
    with pytest.raises(Exception, match="read-only") as caught, store.read() as tx:
        tx.events.append("kind", "assistant")

    assert isinstance(caught.value.__cause__, apsw.ReadOnlyError)
