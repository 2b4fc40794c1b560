"""Records by id, and what a caller is never told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import apsw
import pytest

from retold.errors import InvalidInput, NotFound
from retold.models import Principal, Record
from retold.retrieve.lookup import Lookup, Page, RecordView, get, history, list_page
from retold.testing import CountingIds
from tests.unit.retrieve.world import ANA, BOB, World

UNKNOWN = CountingIds.nth(999_999)


def look_up(world: World, *ids: str, principal: Principal = ANA) -> Lookup:
    with world.store.read() as tx:
        return get(tx, principal, ids)


def page(world: World, principal: Principal = ANA, **fields: Any) -> Page:
    with world.store.read() as tx:
        return list_page(tx, principal, **fields)


def view(world: World, record: Record) -> RecordView:
    return look_up(world, record.id).found[0]


def statements(world: World, call: Callable[[Any], object]) -> list[str]:
    """Return the statements a call runs in one read transaction."""
    seen: list[str] = []

    def note(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        seen.append(sql)
        return True

    with world.store.read() as tx:
        tx.connection.exec_trace = note
        try:
            call(tx)
        finally:
            tx.connection.exec_trace = None
    return seen


def test_get_returns_readable_records_in_the_order_asked(world: World) -> None:
    one, two = world.add("Likes tea"), world.add("Likes coffee")

    found = look_up(world, two.id, UNKNOWN, one.id)

    assert [view.id for view in found.found] == [two.id, one.id]
    assert found.missing == (UNKNOWN,)
    assert found.found[1].content == "Likes tea"


def test_get_answers_a_foreign_id_like_a_missing_one(world: World) -> None:
    """B31. Fails when ``readable_records`` no longer looks at the scope."""
    foreign = world.add("Bob sails", owner=BOB, about=["Bob"])

    assert look_up(world, foreign.id) == Lookup((), (foreign.id,))
    assert statements(world, lambda tx: get(tx, ANA, [foreign.id])) == statements(
        world, lambda tx: get(tx, ANA, [UNKNOWN])
    )


def test_history_answers_a_foreign_id_like_a_missing_one(world: World) -> None:
    foreign = world.add("Bob sails", owner=BOB)

    def ask(record_id: str) -> Callable[[Any], object]:
        def call(tx: Any) -> str:
            with pytest.raises(NotFound) as refused:
                history(tx, ANA, record_id)
            return refused.value.message.replace(record_id, "ID")

        return call

    assert statements(world, ask(foreign.id)) == statements(world, ask(UNKNOWN))


def test_page_after_a_foreign_id_is_like_one_after_a_missing_id(world: World) -> None:
    foreign = world.add("Bob sails", owner=BOB)
    world.add("Likes tea")

    assert page(world, after=foreign.id) == page(world, after=UNKNOWN) == Page((), None)


def test_forgotten_record_is_a_tombstone(world: World) -> None:
    record = world.add(
        "Passport AB123",
        evidence="my passport",
        source_ref="session:x#1",
        about=["Ana"],
        tags=("id",),
    )
    world.forget(record)

    tombstone = view(world, record)

    assert tombstone.tombstone
    assert tombstone.status == "deleted"
    assert (tombstone.content, tombstone.evidence, tombstone.source_ref) == (None, None, None)
    assert (tombstone.tags, tombstone.entity_ids, tombstone.conflicts) == ((), (), ())
    assert "AB123" not in repr([getattr(tombstone, one.name) for one in fields(tombstone)])


def test_conflicts_and_lineage_hold_only_what_the_caller_may_read(world: World) -> None:
    """Fails when ``_conflicts`` or ``_lineage`` no longer looks at the scope."""
    world.grant("project:apollo")
    hidden = world.add("Release 12 March", scope="project:apollo")
    record = world.add("Release 19 March", supersedes=hidden)
    rival = world.add("Release 26 March", scope="project:apollo", status="provisional")
    world.conflict(record, rival)
    seen = view(world, record)
    assert ([c.record_id for c in seen.conflicts], seen.lineage) == (
        [rival.id],
        (hidden.id, record.id),
    )
    assert seen.supersedes_id == hidden.id
    assert seen.conflicts[0].unresolved

    world.revoke("project:apollo")
    blind = view(world, record)

    assert (blind.conflicts, blind.lineage, blind.supersedes_id) == ((), (record.id,), None)


def test_entity_links_the_caller_cannot_read_are_omitted(world: World) -> None:
    mine = world.add("Likes tea", about=["Ana"])
    other = world.add("Bob's note", about=["Secret"], owner=BOB)
    with world.store.write() as tx:
        (foreign,) = tx.records.by_seqs([other.seq])[other.seq].entity_ids
        tx.entities.link(mine.seq, foreign, "mentions")

    assert foreign not in view(world, mine).entity_ids
    assert len(view(world, mine).entity_ids) == 1


def test_resolved_conflict_is_shown_as_such(world: World) -> None:
    one, two = world.add("Release 12 March"), world.add("Release 19 March")
    world.conflict(one, two)
    world.set(two, status="expired")

    assert not view(world, one).conflicts[0].unresolved


def test_history_runs_from_the_oldest_to_the_newest(world: World) -> None:
    first = world.add("Release 12 March")
    then = world.clock()
    world.later(days=1)
    second = world.add("Release 19 March", supersedes=first)
    world.later(days=1)
    third = world.add("Release 26 March", supersedes=second)

    with world.store.read() as tx:
        everything = history(tx, ANA, second.id)
        believed = history(tx, ANA, third.id, known_at=then + timedelta(hours=1))

    assert [one.id for one in everything] == [first.id, second.id, third.id]
    assert [one.status for one in everything] == ["superseded", "superseded", "confirmed"]
    assert [one.id for one in believed] == [first.id]


def test_lineages_of_a_page_are_walked_once(world: World) -> None:
    """The statements of a page do not grow with the versions on it."""
    record = world.add("Release 1")
    for number in range(2, 21):
        record = world.add(f"Release {number}", supersedes=record)

    def ask(limit: int) -> list[str]:
        everything = ("superseded", "confirmed")
        return statements(world, lambda tx: list_page(tx, ANA, statuses=everything, limit=limit))

    assert len(ask(20)) == len(ask(2))
    lineages = {one.lineage for one in page(world, statuses=("superseded",))}
    assert [len(lineage) for lineage in lineages] == [20]


def test_pages_follow_each_other_to_the_end(world: World) -> None:
    """B68: 25 records, 20 at a time."""
    records = [world.add(f"Fact {number}") for number in range(25)]
    world.add("Bob's fact", owner=BOB)

    first = page(world, limit=20)
    second = page(world, limit=20, after=first.next_after)

    assert [len(first.records), len(second.records)] == [20, 5]
    assert second.next_after is None
    assert [one.id for one in (*first.records, *second.records)] == [
        record.id for record in reversed(records)
    ]


def test_page_lists_active_records_unless_asked(world: World) -> None:
    old = world.add("Release 12 March")
    new = world.add("Release 19 March", supersedes=old, type="procedural")

    assert [one.id for one in page(world).records] == [new.id]
    assert [one.id for one in page(world, statuses=("superseded",)).records] == [old.id]
    assert page(world, types=("semantic",)).records == ()


@pytest.mark.parametrize("limit", [0, -1, 10**9, True, 2.5, "5"])
def test_page_refuses_a_limit_out_of_range(world: World, limit: Any) -> None:
    """B68."""
    with pytest.raises(InvalidInput, match="limit"):
        page(world, limit=limit)


@pytest.mark.parametrize(
    "choice",
    [{"types": ("fact",)}, {"types": ()}, {"statuses": ("gone",)}, {"statuses": "deleted"}],
)
def test_page_refuses_unknown_choices_and_names_the_known(
    world: World, choice: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput, match="must name some of"):
        page(world, **choice)


@pytest.mark.parametrize("ids", [(), ("",), ("a\x00b",), ("\ud800",), (7,), tuple("x" * 200)])
def test_get_refuses_malformed_ids_alike(world: World, ids: Any) -> None:
    if ids == tuple("x" * 200):
        ids = tuple(f"id-{number}" for number in range(101))
    with pytest.raises(InvalidInput, match="ids"):
        look_up(world, *ids)


def test_get_refuses_one_string_instead_of_a_list(world: World) -> None:
    with world.store.read() as tx, pytest.raises(InvalidInput, match="not one string"):
        get(tx, ANA, UNKNOWN)


@pytest.mark.parametrize("record_id", ["../../etc/passwd", "' or 1=1 --", "x" * 500, "花生"])
def test_get_takes_any_other_text_for_a_missing_id(world: World, record_id: str) -> None:
    assert look_up(world, record_id).missing == (record_id,)


def test_another_agent_of_the_same_user_reads_nothing_private(world: World) -> None:
    record = world.add("Likes tea")

    assert look_up(world, record.id, principal=replace(ANA, agent_id="other")).found == ()
