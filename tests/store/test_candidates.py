"""The narrow view of records that searching and looking up by id decide on."""

from datetime import timedelta

import pytest

from retold.models import EvidenceRow, Scope
from retold.store.candidates import CandidateRepository
from retold.store.codec import to_us
from retold.testing import make_principal
from tests.unit.retrieve.world import BOB, World


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "store.sqlite")
    yield world
    world.close()


def test_rows_hold_what_the_pipeline_needs(world):
    record = world.add("Allergic to peanuts 花生", status="provisional")
    with world.store.write() as tx:
        session = tx.sessions.start(make_principal(), "s1", recorded=True)
        observed = EvidenceRow(
            source_type="session",
            source_id=session.conversation_id,
            locator=1,
            span=None,
            quote="peanuts",
            source_kind="user_statement",
            score=None,
            judge=None,
            noted_at=tx.now,
            counted=True,
        )
        tx.evidence.insert(record.seq, observed, session_id=session.id)

    with world.store.read() as tx:
        rows = CandidateRepository(tx).rows([record.seq, 999])

    (row,) = rows.values()
    assert (row.seq, row.record_id, row.status) == (record.seq, record.id, "provisional")
    assert row.chars == len(record.content)
    assert row.event_us == to_us(record.event_at)
    assert row.session_id == session.id


def test_row_past_its_expiry_is_expired_from_that_moment_on(world):
    end = world.clock() + timedelta(days=1)
    record = world.add("Parking is on level three", expires_at=end)
    world.later(hours=24, microseconds=-1)
    with world.store.read() as tx:
        before = CandidateRepository(tx).rows([record.seq])[record.seq]
    world.later(microseconds=1)
    with world.store.read() as tx:
        after = CandidateRepository(tx).rows([record.seq])[record.seq]

    assert (before.status, after.status) == ("confirmed", "expired")


def test_families_hold_all_versions_of_each_claim(world):
    first = world.add("Release 1")
    second = world.add("Release 2", supersedes=first)
    sibling = world.add("Release 2b", supersedes=first)
    other = world.add("Likes tea")
    with world.store.read() as tx:
        repository = CandidateRepository(tx)
        families = repository.families([sibling.seq, other.seq, 999])
        nothing = repository.families([])

    assert {seq: [one.record_id for one in family] for seq, family in families.items()} == {
        sibling.seq: [first.id, second.id, sibling.id],
        other.seq: [other.id],
    }
    assert nothing == {}


def test_family_is_the_same_from_every_version(world):
    versions = [world.add("Release 1")]
    for number in (2, 3, 4):
        versions.append(world.add(f"Release {number}", supersedes=versions[-1]))
    with world.store.read() as tx:
        families = [CandidateRepository(tx).families([one.seq])[one.seq] for one in versions]

    assert [[one.seq for one in family] for family in families] == [
        [one.seq for one in versions]
    ] * 4


def test_rows_of_nothing_are_nothing(world):
    with world.store.read() as tx:
        assert CandidateRepository(tx).rows([]) == {}


def test_readable_ids_are_those_of_the_given_scopes(world):
    mine = world.add("Likes tea", about=["Ana"])
    theirs = world.add("Likes coffee", about=["Bob"], owner=BOB)
    with world.store.read() as tx:
        repository = CandidateRepository(tx)
        records = tx.records.by_seqs([mine.seq, theirs.seq])
        entities = [record.entity_ids[0] for record in records.values()]
        codes = tx.scopes.codes([Scope("agent", "helper/ana"), Scope("org", "nobody")]).values()

        found = repository.readable_records([mine.id, theirs.id, "unknown"], codes)
        known = repository.readable_entities([*entities, "unknown"], codes)

    assert found == {mine.id: mine.seq}
    assert known == {entities[0]}
