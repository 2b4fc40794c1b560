"""What the application's own door does at once, and to what is stored already."""

from __future__ import annotations

import pytest

from retold import HostItem, InvalidInput, Scope
from retold.ingest import persistence
from retold.testing import MemoryLab
from tests.scenarios.support import ANA, PROJECT


@pytest.fixture
def lab():
    """Return a lab whose helper may use Ana's own scope, and whose searches show weak finds."""
    weak = {"retrieval": {"gate": {"null_z": {"relative_cut": 0.0}}}}
    with MemoryLab.open(settings=weak) as opened:
        opened.retold.host.grant("helper", Scope("user", "u-17"), write=True)
        yield opened


@pytest.mark.parametrize("dedup", [True, False])
def test_write_many_stores_without_being_iterated(lab, dedup):
    heard = []
    results = lab.retold.host.write_many(
        PROJECT,
        ["The build runs on Debian", HostItem("Releases are cut on Friday")],
        dedup=dedup,
        progress=heard.append,
    )

    assert [one.outcome for one in results] == ["created", "created"]
    assert len({one.record_id for one in results}) == 2
    assert lab.row_counts()["records"] == 2
    assert heard[-1] == 2


def test_write_many_takes_a_generator(lab):
    results = lab.retold.host.write_many(ANA, (f"Fact number {n}" for n in range(3)), dedup=False)

    assert isinstance(results, tuple)
    assert len(results) == 3


def test_attribute_of_a_claim_about_nobody_is_left_out(lab):
    written = lab.retold.host.write(ANA, "The office opens at nine", attribute="opening_time")

    with lab.store.read() as tx:
        assert tx.records.require(written.record_id).subject_entity_id is None


@pytest.mark.parametrize("scope", ["private", "user"])
@pytest.mark.parametrize("batch", [1, 500])
def test_names_reach_what_is_known_about_the_user_already(lab, monkeypatch, scope, batch):
    monkeypatch.setattr(persistence, "REINDEX_BATCH", batch)
    if scope == "private":
        lab.retold.host.revoke("helper", Scope("user", "u-17"))
    session = lab.session("u-17")
    for content in ("The user likes chess", "The user plays the harp"):
        session.remember(content, evidence=f"{content}, I said so.", attribute=content[-4:])
    with lab.store.read() as tx:
        version = tx.meta.records_version()

    lab.retold.host.provision_user("u-17", ["Ana Lima"])

    found = {one.record.content for one in session.search("Ana Lima")}
    assert found == {"The user likes chess", "The user plays the harp"}
    with lab.store.read() as tx:
        records = [tx.records.require(one.id) for one in session.list().records]
        aliases = [fields[2] for fields in tx.lexical.fields([r.seq for r in records]).values()]
    assert all("ana lima" in text for text in aliases)
    assert all(record.index_version > version for record in records)


def test_names_given_again_touch_nothing(lab):
    session = lab.session("u-17")
    session.remember("The user likes chess", evidence="I like chess a lot.")
    lab.retold.host.provision_user("u-17", ["Ana Lima"])
    before = session.list().records[0]
    lab.retold.host.provision_user("u-17", ["Ana Lima"])
    with lab.store.read() as tx:
        assert tx.records.require(before.id).index_version == tx.meta.records_version()


def test_name_of_somebody_else_in_a_private_scope_stays_theirs(lab):
    lab.retold.host.revoke("helper", Scope("user", "u-17"))
    session = lab.session("u-17")
    session.remember("The user likes chess", evidence="I like chess a lot.")
    session.remember("Mia plays the harp", evidence="Mia plays the harp.", about="Mia")

    lab.retold.host.provision_user("u-17", ["Mia", "Ana Lima"])

    private = Scope("agent", "helper/u-17")
    with lab.store.read() as tx:
        assert tx.entities.principal(private, "u-17").aliases == ("ana lima", "u-17")


def test_name_of_somebody_else_in_the_user_scope_is_refused(lab):
    lab.retold.host.write(Scope("user", "u-17"), "Mia plays the harp", subject="Mia")
    before = lab.row_counts()

    with pytest.raises(InvalidInput, match="merge the two entities"):
        lab.retold.host.provision_user("u-17", ["Mia"])
    assert lab.row_counts() == before


def test_host_takes_a_scope_as_text_everywhere(world):
    world.host.grant("helper", "project:apollo", read=True, write=False)
    stored = world.host.write("project:apollo", "The launch window opens at dawn.")
    more = world.host.write_many("project:apollo", ["The crew sleeps at noon."], dedup=False)

    found = world.session().get([stored.record_id, more[0].record_id])
    assert len(found) == 2
    assert world.host.revoke("helper", "project:apollo")


@pytest.mark.parametrize("items", [[None], [7], [{"content": "x"}]])
def test_items_that_are_no_claims_are_refused_by_name(world, items):
    with pytest.raises(InvalidInput, match="HostItem or text"):
        world.host.write_many("project:apollo", items)
