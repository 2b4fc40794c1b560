"""Rows of records and their disagreements, on a real file."""

from dataclasses import replace
from datetime import timedelta

import pytest

from retold.errors import NotFound, StoreError
from retold.models import RECORD_STATUSES, Scope
from tests.store_support import SCOPE, new_record

OTHER = Scope("project", "acme/repo")


def insert(tx, content="Likes green tea", **fields):
    return tx.records.insert(new_record(content, **fields))


def entity(tx, name="Ana", scope=SCOPE):
    return tx.entities.insert("person", name, scope, [name.casefold()])


# --- one row --------------------------------------------------------------------------


def test_record_reads_back_as_it_was_written(store, clock):
    with store.write() as tx:
        ana = entity(tx)
        moments = {
            name: clock() + timedelta(days=days)
            for days, name in enumerate(
                ("event_at", "expires_at", "valid_from", "valid_until", "review_at"), start=1
            )
        }
        written = insert(
            tx,
            "喜欢绿茶 \x00 \u202e’",
            type="procedural",
            subject_entity_id=ana.id,
            attribute="drink",
            attribute_derived=True,
            source_kind="tool_result",
            source_ref="session:x#1",
            evidence="quoted",
            confidence=0.25,
            status="provisional",
            version=3,
            temporary=True,
            tags=("b", "a"),
            **moments,
        )

    with store.read() as tx:
        read = tx.records.require(written.id)
    assert read == written
    assert read.subject == f"{ana.id}/drink"
    assert read.tags == ("b", "a")
    assert (read.created_at, read.closed_at) == (clock(), None)
    assert {name: getattr(read, name) for name in moments} == moments


def test_record_without_a_subject_has_none(store):
    with store.write() as tx:
        assert insert(tx).subject is None
        assert insert(tx, subject_entity_id=entity(tx).id).subject.endswith("/-")


def test_record_that_arrives_closed_is_closed_from_its_first_moment(store, clock):
    with store.write() as tx:
        assert insert(tx, status="superseded").closed_at == clock()


def test_record_of_an_unknown_kind_is_refused_by_the_schema(store):
    for wrong in ({"type": "rumour"}, {"status": "maybe"}, {"confidence": 1.5}):
        with pytest.raises(StoreError), store.write() as tx:
            insert(tx, **wrong)
    with store.read() as tx:
        assert tx.meta.row_counts()["records"] == 0


def test_absent_record_is_none_or_not_found(store):
    with store.read() as tx:
        assert tx.records.get("nowhere") is None
        assert tx.records.by_ids(["nowhere"]) == {}
        assert tx.records.by_seqs([17]) == {}
        with pytest.raises(NotFound):
            tx.records.require("nowhere")


def test_records_come_in_the_order_asked_each_once(store):
    with store.write() as tx:
        a, b, c = (insert(tx, name) for name in "abc")

    with store.read() as tx:
        assert list(tx.records.by_seqs([c.seq, a.seq, 99, c.seq])) == [c.seq, a.seq]
        assert list(tx.records.by_ids([b.id, "x", a.id, b.id])) == [b.id, a.id]


def test_keys_of_removed_records_are_never_given_out_again(store):
    """Removing AUTOINCREMENT from ``records.seq`` makes it fail."""
    with store.write() as tx:
        insert(tx)
        last = insert(tx)
        tx.run("delete from records where seq = ?", (last.seq,))
    with store.write() as tx:
        assert insert(tx).seq > last.seq


# --- changes --------------------------------------------------------------------------


def test_update_bumps_the_revision_and_keeps_the_rest(store):
    with store.write() as tx:
        before = insert(tx)
    with store.write() as tx:
        after = tx.records.update(replace(before, confidence=0.5))

    assert after == replace(before, confidence=0.5, revision=2)


@pytest.mark.parametrize(
    ("change", "moves"),
    [
        pytest.param({"status": "confirmed"}, True, id="status"),
        pytest.param({"source_kind": "tool_result"}, True, id="source kind"),
        pytest.param({"attribute": "food"}, True, id="attribute"),
        pytest.param({"expires_at": None}, True, id="expiry"),
        pytest.param({"reinforcements": 1}, False, id="reinforcement"),
        pytest.param({"confidence": 0.1}, False, id="confidence"),
        pytest.param({"evidence": "said so"}, False, id="evidence"),
    ],
)
def test_update_moves_the_index_version_when_an_index_would_see_it(store, clock, change, moves):
    with store.write() as tx:
        before = insert(tx, status="provisional", expires_at=clock() + timedelta(days=1))
    with store.write() as tx:
        after = tx.records.update(replace(before, **change))
        assert (tx.committed_version > 0) == moves

    assert (after.index_version > before.index_version) == moves


def test_closing_moment_is_set_when_a_record_is_closed_and_kept_afterwards(store, clock):
    with store.write() as tx:
        record = insert(tx)
    closed_at = clock() + timedelta(hours=1)
    clock.advance(hours=1)
    with store.write() as tx:
        record = tx.records.update(replace(record, status="superseded"))
    assert record.closed_at == closed_at
    clock.advance(hours=1)
    with store.write() as tx:
        record = tx.records.update(replace(record, status="deleted"))
    assert record.closed_at == closed_at
    with store.write() as tx:
        assert tx.records.update(replace(record, status="confirmed")).closed_at is None


# --- lists ----------------------------------------------------------------------------


def test_subject_scan_finds_active_unexpired_records_of_the_entity(store, clock):
    with store.write() as tx:
        ana, bob = entity(tx, "Ana"), entity(tx, "Bob")
        about = {"subject_entity_id": ana.id, "attribute": "diet"}
        expected = insert(tx, "here", **about)
        insert(tx, "closed", status="superseded", **about)
        insert(tx, "over", expires_at=clock(), **about)
        insert(tx, "another type", type="episodic", **about)
        insert(tx, "another scope", scope=OTHER, **about)
        insert(tx, "another person", subject_entity_id=bob.id)
        insert(tx, "nobody")

        rows, truncated = tx.records.list_subject(ana.id, "semantic", "city", max_others=9)

    assert [row.seq for row in rows] == [expected.seq]
    assert not truncated


def test_subject_scan_begins_with_what_was_reinforced_last(store, clock):
    with store.write() as tx:
        ana = entity(tx)
        old, middle, new = (
            insert(tx, name, subject_entity_id=ana.id, attribute="diet") for name in "abc"
        )
    clock.advance(days=1)
    with store.write() as tx:
        old = tx.records.update(replace(old, reinforcements=1, last_reinforced_at=clock()))
        found, _ = tx.records.list_subject(ana.id, "semantic", "city", max_others=9)
        capped, truncated = tx.records.list_subject(ana.id, "semantic", "city", max_others=2)

    assert [row.seq for row in found] == [old.seq, new.seq, middle.seq]
    assert [row.seq for row in capped] == [old.seq, new.seq]
    assert truncated


def test_subject_scan_never_leaves_out_the_attribute_asked_for(store):
    with store.write() as tx:
        ana = entity(tx)
        own = [insert(tx, n, subject_entity_id=ana.id, attribute="city") for n in "ab"]
        insert(tx, "other", subject_entity_id=ana.id, attribute="diet")
        rows, truncated = tx.records.list_subject(ana.id, "semantic", "city", max_others=0)

    assert {row.seq for row in rows} == {record.seq for record in own}
    assert truncated


def test_nearby_version_follows_type_and_scope(store):
    with store.write() as tx:
        code = tx.scopes.require(SCOPE)
        assert tx.records.nearby_version([code], "semantic") == 0
        insert(tx)
    with store.write() as tx:
        insert(tx, type="episodic")
        insert(tx, scope=OTHER)

        assert tx.records.nearby_version([code], "semantic") == 1
        assert tx.records.nearby_version([code], "episodic") == 2
        assert tx.records.nearby_version([], "episodic") == 0


def test_pages_walk_through_everything_once_newest_first(store):
    with store.write() as tx:
        seqs = [insert(tx, f"claim {number}").seq for number in range(7)]
        insert(tx, "hidden", status="deleted")
        insert(tx, "elsewhere", scope=OTHER)
        code = tx.scopes.require(SCOPE)

    found, after = [], None
    with store.read() as tx:
        while page := tx.records.list_page(
            [code], types=("semantic",), statuses=("confirmed",), after_seq=after, limit=3
        ):
            found += [record.seq for record in page]
            after = found[-1]
        assert (
            tx.records.list_page(
                [code], types=("episodic",), statuses=("confirmed",), after_seq=None, limit=3
            )
            == []
        )
    assert found == seqs[::-1]


def test_counts_by_status_include_zeros_and_no_other_scope(store):
    with store.write() as tx:
        insert(tx)
        insert(tx, status="superseded")
        insert(tx, scope=OTHER)
        counts = tx.records.count_by_status([tx.scopes.require(SCOPE)])

    assert counts == {
        status: int(status in ("confirmed", "superseded")) for status in RECORD_STATUSES
    }


def test_active_row_past_its_expiry_counts_and_lists_as_expired(store, clock):
    with store.write() as tx:
        due = insert(tx, expires_at=tx.now + timedelta(days=1))
        kept = insert(tx, expires_at=tx.now + timedelta(days=9))
        code = tx.scopes.require(SCOPE)
    clock.advance(days=1)

    with store.read() as tx:
        counts = tx.records.count_by_status([code])
        listed = {
            status: [
                record.id
                for record in tx.records.list_page(
                    [code], types=None, statuses=(status,), after_seq=None, limit=9
                )
            ]
            for status in ("confirmed", "expired")
        }

    assert (counts["confirmed"], counts["expired"]) == (1, 1)
    assert listed == {"confirmed": [kept.id], "expired": [due.id]}


def test_conflicts_are_noted_in_both_directions_once(store, clock):
    with store.write() as tx:
        one, two = insert(tx, "redundant"), insert(tx, "useful", status="provisional")
        for _ in range(2):
            tx.records.insert_conflict(one, two, kind="flag", rule="negation", score=0.5)
        found = tx.records.conflicts_of([one.seq, two.seq])

    assert [(row.record_seq, row.other_seq) for row in found] == [
        (one.seq, two.seq),
        (two.seq, one.seq),
    ]
    conflict = found[0].conflict
    assert (conflict.record_id, conflict.other_id) == (one.id, two.id)
    assert (conflict.kind, conflict.rule, conflict.score) == ("flag", "negation", 0.5)
    assert conflict.noted_at == clock()


def test_only_one_summary_of_a_session_lives(store):
    """Removing the index ``records_live_summary`` makes it fail."""
    summary = {"source_kind": "session_summary", "source_ref": "session:x", "type": "episodic"}
    with store.write() as tx:
        live = insert(tx, "first", **summary)
        assert tx.records.get_live_by_source_ref("session:x", "session_summary") == live
        assert tx.records.get_live_by_source_ref("session:y", "session_summary") is None
    with pytest.raises(StoreError), store.write() as tx:
        insert(tx, "second", **summary)


# --- the past -------------------------------------------------------------------------


def test_known_at_and_as_of_are_two_questions(store, clock):
    """``known_at`` asks what the store believed, ``as_of`` what was true."""
    start = clock()
    with store.write() as tx:
        oslo = insert(tx, "Oslo", event_at=start - timedelta(days=100))
        code = tx.scopes.require(SCOPE)
    clock.advance(days=10)
    with store.write() as tx:
        tx.records.update(replace(oslo, status="superseded"))
        lyon = insert(tx, "Lyon", event_at=start - timedelta(days=50), supersedes_id=oslo.id)

    def at(which, days):
        with store.read() as tx:
            found = tx.records.seqs_at(
                which, start + timedelta(days=days), [code], types=None, since=None, until=None
            )
        return {oslo.seq: "Oslo", lyon.seq: "Lyon"}.get(found[0]) if found else None

    assert [at("known_at", days) for days in (-1, 0, 9, 10)] == [None, "Oslo", "Oslo", "Lyon"]
    assert [at("as_of", days) for days in (-101, -100, -51, -50, 0)] == [
        None, "Oslo", "Oslo", "Lyon", "Lyon",
    ]  # fmt: skip


def seqs_as_of(tx, moment, code):
    return tx.records.seqs_at("as_of", moment, [code], types=None, since=None, until=None)


def test_a_row_superseded_on_arrival_was_true_until_its_winner(store, clock):
    """Taking the end from rows that name what they supersede makes it fail."""
    start = clock()
    with store.write() as tx:
        winner = insert(tx, "Porto", event_at=start)
        late = insert(
            tx,
            "Lisbon",
            event_at=start - timedelta(days=300),
            status="superseded",
            superseded_by_id=winner.id,
        )
        code = tx.scopes.require(SCOPE)

        assert seqs_as_of(tx, start - timedelta(days=1), code) == [late.seq]
        assert seqs_as_of(tx, start, code) == [winner.seq]


def test_a_sibling_that_went_with_the_superseded_row_ends_where_that_does(store, clock):
    start = clock()
    with store.write() as tx:
        old = insert(tx, "Oslo", event_at=start - timedelta(days=9))
        sibling = insert(tx, "In Lyon", event_at=start - timedelta(days=8))
        for one in (old, sibling):
            tx.records.update(replace(one, status="superseded"))
        new = insert(tx, "Lyon", event_at=start - timedelta(days=5), supersedes_id=old.id)
        tx.records.set_superseder([sibling.id], new.seq)
        code = tx.scopes.require(SCOPE)

        assert seqs_as_of(tx, start - timedelta(days=6), code) == [old.seq, sibling.seq]
        assert seqs_as_of(tx, start, code) == [new.seq]


@pytest.mark.parametrize("swept", [False, True])
def test_an_expired_row_was_true_until_it_expired(store, clock, swept):
    start = clock()
    with store.write() as tx:
        record = insert(tx, event_at=start, expires_at=start + timedelta(days=30))
        code = tx.scopes.require(SCOPE)
    clock.advance(days=40)
    with store.write() as tx:
        if swept:
            tx.records.update(replace(record, status="expired"))

        assert seqs_as_of(tx, start + timedelta(days=29), code) == [record.seq]
        assert seqs_as_of(tx, start + timedelta(days=30), code) == []


def test_a_row_that_was_expired_by_hand_was_true_until_then(store, clock):
    start = clock()
    with store.write() as tx:
        record = insert(tx, event_at=start)
        code = tx.scopes.require(SCOPE)
    clock.advance(days=4)
    with store.write() as tx:
        tx.records.update(replace(record, status="expired"))

        assert seqs_as_of(tx, start + timedelta(days=3), code) == [record.seq]
        assert seqs_as_of(tx, start + timedelta(days=4), code) == []


@pytest.mark.parametrize("which", ["known_at", "as_of"])
def test_the_past_holds_nothing_that_was_forgotten(store, clock, which):
    """Removing ``r.status <> 'deleted'`` from either statement makes it fail."""
    with store.write() as tx:
        record = insert(tx)
        code = tx.scopes.require(SCOPE)
    clock.advance(days=1)
    with store.write() as tx:
        tx.records.update(replace(record, status="deleted"))
        moment = record.created_at + timedelta(hours=1)
        options = {"types": None, "since": None, "until": None}

        assert tx.records.seqs_at(which, moment, [code], **options) == []


@pytest.mark.parametrize("which", ["known_at", "as_of"])
def test_the_past_is_asked_within_scopes_types_and_times(store, clock, which):
    with store.write() as tx:
        record = insert(tx, event_at=clock())
        insert(tx, scope=OTHER, event_at=clock())
        code = tx.scopes.require(SCOPE)

        def ask(**changes):
            options = {"types": None, "since": None, "until": None, **changes}
            return tx.records.seqs_at(which, clock(), [code], **options)

        assert ask() == ask(types=["semantic"]) == ask(since=clock()) == [record.seq]
        assert ask(types=["episodic"]) == ask(until=clock()) == []
