"""``expire`` makes the file say what searches say already, and nothing else."""

from datetime import timedelta

import pytest

from retold import Retold
from retold.config import profile_config
from retold.operations.maintenance.expire import expire_records
from retold.runtime import Overrides, build_runtime
from retold.testing import FakeClock, FakeEmbedder, FakeJudge
from tests.maintenance_support import (
    LONG_AGO,
    TODAY,
    Clock,
    StoreWithOthers,
    at_once,
    expiring_store,
    open_at,
    steady,
)
from tests.store_support import problems, remember


def test_every_active_record_past_its_expiry_is_closed_with_one_event(tmp_path):
    """Summaries and confirmed temporary statements alike; what lives on is not touched."""
    path = tmp_path / "memory.db"
    expiring_store(path, rows=4)
    with open_at(path, Clock()) as store:
        with store.write() as tx:
            remember(
                tx,
                "summary",
                source_kind="session_summary",
                source_ref="session:x",
                expires_at=TODAY,
            )
            remember(tx, "a moment later", expires_at=TODAY + timedelta(microseconds=1))
            gone = remember(tx, "forgotten", expires_at=LONG_AGO, status="deleted")
            tx.lexical.delete(gone.seq)
        outcome = expire_records(store, actor="ops", pace=at_once())
        with store.read() as tx:
            rows = list(tx.run("select content, status from records order by seq"))
            events = tx.events.list_by_kind("record.status")
            closed = tx.records.by_ids([event.record_id for event in events]).values()

    assert (outcome.expired, outcome.resumed) == (5, False)
    assert dict(rows) == {
        **{f"short-lived {number}": "expired" for number in range(4)},
        "lives on": "provisional",
        "for ever": "confirmed",
        "summary": "expired",
        "a moment later": "confirmed",
        "forgotten": "deleted",
    }
    assert [record.closed_at for record in closed] == [record.expires_at for record in closed]
    assert [event.payload["from"] for event in events] == [
        "confirmed",
        "provisional",
        "confirmed",
        "provisional",
        "confirmed",
    ]
    assert {event.actor for event in events} == {"ops"}
    assert gone.id not in {event.record_id for event in events}
    assert problems(path) == []


def test_record_renewed_while_the_job_runs_survives(tmp_path):
    """B15. Without the second look of ``still_due`` the plan of the reader is carried out."""
    path = tmp_path / "memory.db"
    expiring_store(path, rows=6)

    def renew():
        with other.write() as tx:
            tx.run(
                "update records set expires_at = null, expires_us = null,"
                " status = 'confirmed', revision = revision + 1"
                " where content in ('short-lived 4', 'short-lived 5')"
            )

    with open_at(path, Clock()) as other, StoreWithOthers.between(path, renew) as store:
        outcome = expire_records(store, actor="ops", pace=steady(500))
        with other.read() as tx:
            rows = dict(tx.run("select content, status from records"))

    assert outcome.expired == 4
    assert (rows["short-lived 4"], rows["short-lived 5"]) == ("confirmed", "confirmed")


def test_indexes_of_other_processes_are_told(tmp_path):
    """Without a new index version another process would go on with the old statuses."""
    path = tmp_path / "memory.db"
    expiring_store(path, rows=3)
    with open_at(path, Clock()) as store:
        with store.read() as tx:
            before = tx.meta.records_version()
        expire_records(store, actor="ops", pace=at_once())
        with store.read() as tx:
            versions = list(tx.run("select index_version from records where status = 'expired'"))
            after = tx.meta.records_version()

    assert after > before
    assert all(version > before for (version,) in versions)


@pytest.fixture
def lab(tmp_path):
    """A memory in which claims of every fate are past their time, and its clock."""
    clock = FakeClock()
    overrides = Overrides(embedder=FakeEmbedder(), judge=FakeJudge(), clock=clock)
    runtime = build_runtime(
        profile_config("offline"), tmp_path / "memory.db", overrides=overrides, profile="offline"
    )
    with Retold(runtime, owns_runtime=True) as retold, retold.session("ana") as session:
        said = "For this week, reply in English. For this week, reply in Spanish. I live in Oslo."
        session.turn("user", said)
        session.remember(
            "For this week, reply in English.",
            evidence="For this week, reply in English.",
            attribute="reply_language",
        )
        session.remember("Lives in Oslo", evidence="I live in Oslo.", attribute="home_city")
        session.remember("Ana may like tea", allow_inference=True, attribute="drink")
        session.remember("Ana reads at night", source_kind="agent_inference", allow_inference=True)
        clock.advance(days=1)
        session.remember(
            "For this week, reply in Spanish.",
            evidence="For this week, reply in Spanish.",
            attribute="reply_language",
        )
        clock.advance(days=60)
        yield retold, session, clock


def answers(session, clock):
    """Return all that a caller can ask about every record, now and at earlier moments."""
    page = session.list(status=["provisional", "confirmed", "superseded", "expired"])
    ids = [record.id for record in page.records]
    moments = [clock() - timedelta(days=days) for days in (0, 29, 31, 45, 60, 61)]
    return {
        "active": [record.id for record in session.list().records],
        "statuses": {record.id: record.status for record in session.get(ids)},
        "history": {one: [(v.id, v.status) for v in session.history(one)] for one in ids},
        "search": sorted(
            hit.record.id for hit in session.search("reply English Spanish tea night")
        ),
        "known": [
            sorted(
                hit.record.id
                for hit in session.search("reply English Spanish tea night", known_at=at)
            )
            for at in moments
        ],
        "valid": [
            sorted(
                hit.record.id for hit in session.search("reply English Spanish tea night", as_of=at)
            )
            for at in moments
        ],
    }


def test_no_answer_changes_and_nothing_replaced_comes_back(lab):
    """Closing a row that searches still show makes it fail."""
    retold, session, clock = lab
    before = answers(session, clock)
    outcome = expire_records(retold.store, actor="ops", pace=at_once())
    after = answers(session, clock)

    assert outcome.expired == 3
    assert sorted(before["statuses"].values()) == [
        "confirmed",
        "expired",
        "expired",
        "expired",
        "superseded",
    ]
    assert len(before["active"]) == 1
    assert len({len(found) for found in before["known"]}) > 1
    assert after == before
