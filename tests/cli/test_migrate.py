import pytest

from retold.store import Store
from retold.store.migrations import SCHEMA_VERSION
from tests.cli_support import refusal, retold
from tests.migration import version_1_file


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.db"
    version_1_file.build(path)
    return path


def test_migrate_lists_records_without_a_subject_and_leaves_with_2(old):
    finished = retold("migrate", "--store", old)

    assert finished.code == 2
    assert f"migrated from schema 1 to {SCHEMA_VERSION}" in finished.out
    for record_id, reason in (("u-none", "no_about_link"), ("u-two", "several_about_links")):
        assert any(record_id in line and reason in line for line in finished.out.splitlines())
    assert finished.err == (
        "retold: 4 records without a subject; decide with --expire-unmapped or --allow-unmapped\n"
    )
    assert retold("migrate", "--store", old).code == 2
    assert [path.name for path in old.parent.iterdir()] == [old.name]


def test_unresolved_records_stop_a_search_but_not_status(old):
    retold("migrate", "--store", old)
    status = retold("status", "--store", old)
    who = ("--agent", "a", "--user", "ana", "--profile", "offline")
    line = refusal(retold("search", "--store", old, *who, "tea"))

    assert status.code == 0
    assert "4 records without a subject: run `retold migrate`" in status.out
    assert "run `retold migrate`" in line


@pytest.mark.parametrize(
    ("option", "status", "event"),
    [
        ("--expire-unmapped", "expired", "record.status"),
        ("--allow-unmapped", "confirmed", "migration.acknowledged"),
    ],
)
def test_migrate_settles_records_without_a_subject_under_the_operators_name(
    option, status, event, old
):
    first = retold("--as", "sam", "migrate", option, "--store", old, "--json")
    document = first.document

    assert (first.code, first.err) == (0, "")
    assert document["unresolved"] == []
    assert document["expired"] + document["acknowledged"] == 4
    assert document["report"]["rows"]["records"] == 17
    with Store.open(old) as store, store.read() as tx:
        assert tx.records.require("u-none").status == status
        assert {one.actor for one in tx.events.list_by_kind(event)} >= {"sam"}
    assert retold("migrate", "--store", old).out.endswith(f"has schema {SCHEMA_VERSION} already\n")


def test_migrate_of_a_present_store_changes_nothing(store):
    before = store.read_bytes()
    finished = retold("migrate", "--store", store, "--json")

    assert finished.code == 0
    assert finished.document["report"]["from_version"] == SCHEMA_VERSION
    assert store.read_bytes() == before
