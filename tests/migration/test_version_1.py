"""Files of schema version 1 become present ones without losing a claim, a word or an event."""

from datetime import UTC, datetime

import apsw
import pytest

from retold.errors import MigrationRequired, StoreCorrupt
from retold.models import Principal, Scope
from retold.store import Store, migrations, version_1
from retold.store.candidates import CandidateRepository
from retold.store.meta import EmbeddingIdentity
from retold.util import new_id, system_clock
from tests.fts_oracle import fts_search
from tests.migration.version_1_file import AT, VECTOR, Version1File, build

ANA = Scope("user", "ana")
UNMAPPED = {
    "u-key": "no_attribute",
    "u-none": "no_about_link",
    "u-two": "several_about_links",
    "u-deleted-subject": "about_entity_not_active",
}


def migrate(path):
    connection = apsw.Connection(str(path))
    try:
        return migrations.migrate(connection, system_clock, new_id)
    finally:
        connection.close()


@pytest.fixture(scope="module")
def report_and_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("version_1") / "old.db"
    build(path)
    return migrate(path), path


@pytest.fixture
def tx(report_and_path):
    with Store.open(report_and_path[1], allow_migration_issues=True) as store, store.read() as read:
        yield read


def test_migration_reports_what_it_did(report_and_path):
    report, _ = report_and_path

    assert (report.from_version, report.to_version) == (1, migrations.SCHEMA_VERSION)
    assert report.unresolved == len(UNMAPPED)
    assert report.naive_timestamps == 4
    assert report.rows["records"] == 17
    assert report.rows["sessions"] == 4


def test_migration_keeps_ids_contents_and_lineage(tx):
    home = tx.records.require("r-home")

    assert home.content == "Ana lives in Lisbon"
    assert home.supersedes_id == "r-home-old"
    assert home.tags == ("place",)
    assert home.index_version == tx.meta.records_version() == 1
    family = CandidateRepository(tx).families([home.seq])[home.seq]
    assert [version.record_id for version in family] == ["r-home-old", "r-home"]
    assert tx.records.require("r-tea").confidence == 1.0
    assert tx.records.require("r-tea").tags == ("not json",)


def test_migration_normalises_timestamps_to_utc(tx):
    assert tx.records.require("r-home").created_at == datetime(2025, 3, 1, 10, 30, tzinfo=UTC)
    assert tx.records.require("r-home-old").created_at == datetime(2025, 1, 1, tzinfo=UTC)
    for column in ("created_at", "event_at", "closed_at", "expires_at"):
        lengths = tx.run(f"select distinct length({column}) from records where {column} <> ''")
        assert [length for (length,) in lengths] == [32]
    assert tx.one("select count(*) from records where created_us <> event_us") == (4,)


def test_migration_maps_subjects_with_one_about_link_and_an_attribute(tx):
    home = tx.records.require("r-home")

    assert (home.subject_entity_id, home.attribute) == ("e-ana", "home_city")
    assert home.subject == "e-ana/home_city"
    rows, _ = tx.records.list_subject("e-ana", "semantic", "home_city", max_others=0)
    assert home.seq in {row.seq for row in rows}


def test_migration_leaves_episodes_without_a_key_and_without_an_issue(tx):
    episode = tx.records.require("r-episode")

    assert (episode.subject_entity_id, episode.attribute) == ("e-ana", None)
    assert episode.subject == "e-ana/-"
    assert "r-summary-2" not in {issue.record_id for issue in migrations.list_issues(tx)}


def test_migration_notes_every_claim_that_it_could_not_map(tx):
    issues = migrations.list_issues(tx)

    assert {issue.record_id: issue.reason for issue in issues} == UNMAPPED
    assert {issue.migration_version for issue in issues} == {100}
    assert {issue.scope for issue in issues} == {ANA}
    noted = tx.run("select r.id from migration_issues join records as r on r.seq = record_seq")
    assert {record_id for (record_id,) in noted} == {*UNMAPPED, "u-dead"}


def test_migration_links_a_record_to_the_survivor_of_a_merge(tx):
    merged = tx.records.require("r-merged")

    assert (merged.subject_entity_id, merged.attribute) == ("e-bo", "hobby")


def test_migration_gives_a_record_of_another_scope_a_local_twin(tx):
    """Without ``_link_own_scope`` a new claim in the private scope would never meet the old one."""
    private = tx.records.require("r-private")

    twin = tx.entities.require(private.subject_entity_id)
    assert twin.scope == Scope("agent", "assistant/ana") == private.scope
    assert (twin.aliases, twin.principal_user_id) == (("ana", "ana lima"), "ana")
    assert private.subject == f"{twin.id}/answer_style"
    assert tx.entities.principal(private.scope, "ana") == twin


def test_migration_marks_the_principal_of_a_user_scope(tx):
    assert tx.entities.principal(ANA, "ana").id == "e-ana"
    assert tx.entities.require("e-bo").principal_user_id is None


def test_migration_keeps_merges_and_aliases(tx):
    assert tx.entities.resolve("e-bo-old").id == "e-bo"
    found = tx.entities.by_alias(["bobby", "bo"], [tx.scopes.code(ANA)])
    assert {entity.id for entities in found.values() for entity in entities} == {"e-bo"}


def test_migration_turns_session_ids_into_external_ids(tx):
    latest = tx.sessions.latest("assistant", "ana", "chat-1")

    segments = tx.sessions.segments(latest.conversation_id)
    assert [segment.segment for segment in segments] == [1, 2, 3]
    assert segments[0].id == latest.conversation_id != "chat-1"
    assert segments[0].ended_by == "host"
    assert segments[0].extraction_requested_at is None
    assert [turn.content for turn in tx.sessions.turns(latest.conversation_id)][-1] == (
        "And I drink tea."
    )
    alone = tx.sessions.latest("assistant", "bo", "elsewhere")
    assert (alone.segment, alone.conversation_id) == (2, alone.id)


def test_migration_keeps_words_of_an_unknown_role_out_of_evidence(tx):
    turns = tx.sessions.turns_of(tx.sessions.latest("assistant", "ana", "chat-1").conversation_id)

    assert [(turn.role, turn.is_evidence) for turn in turns] == [
        ("user", True),
        ("assistant", True),
        ("tool", True),
        ("assistant", False),
    ]


def test_migration_rewrites_source_references(tx):
    latest = tx.sessions.latest("assistant", "ana", "chat-1")
    first, second, _ = tx.sessions.segments(latest.conversation_id)

    assert tx.records.require("r-home").source_ref == f"session:{first.id}#1"
    assert tx.records.require("r-tea").source_ref == f"session:{second.id}#1"
    assert tx.records.require("r-summary-2").source_ref == f"session:{first.id}"
    assert tx.records.require("r-private").source_ref == "session:gone<turn:4>"
    assert tx.records.require("r-tool").source_ref == "call-7"


def evidence_of(tx, record_id):
    (row,) = tx.evidence.list_for(tx.records.require(record_id).seq)
    return row


def test_migration_makes_evidence_that_counts_where_its_turn_is_found(tx):
    conversation = tx.sessions.latest("assistant", "ana", "chat-1").conversation_id

    home = evidence_of(tx, "r-home")
    assert (home.source_type, home.source_id, home.locator) == ("session", conversation, 1)
    assert (home.span, home.counted, home.user_id) == ((0, 29), True, "ana")
    assert evidence_of(tx, "r-tea").source_id == conversation


@pytest.mark.parametrize(
    ("record_id", "source_type"),
    [("r-private", "session"), ("r-tool", "tool_call"), ("r-said", "session")],
    ids=["session is gone", "tool call", "assistant's words"],
)
def test_migration_makes_evidence_that_does_not_count_without_a_users_or_tools_turn(
    tx, record_id, source_type
):
    row = evidence_of(tx, record_id)

    assert (row.source_type, row.counted) == (source_type, False)


def test_migration_lets_one_summary_of_a_session_live(tx):
    assert tx.records.require("r-summary-2").status == "confirmed"
    assert tx.records.require("r-summary-1").status == "superseded"
    (event,) = tx.events.list_for_record("r-summary-1")
    assert event.payload == {"to": "superseded", "reason": "surplus_session_summary"}


def test_migration_says_since_when_closed_records_are_closed(tx):
    replaced = tx.records.require("r-home-old")

    assert replaced.closed_at == tx.records.require("r-home").created_at
    assert tx.records.require("r-gone").closed_at == datetime(2025, 3, 2, tzinfo=UTC)
    assert tx.records.require("u-dead").closed_at == datetime(2025, 2, 1, tzinfo=UTC)
    assert tx.records.require("r-home").closed_at is None


def test_migration_chains_events_by_time_then_id(tx):
    events = tx.events.list_since()

    assert [event.id for event in events][:5] == ["v-1", "v-2", "v-3", "v-4", "v-5"]
    assert tx.events.verify() is None
    assert events[2].user_id == "ana"
    assert events[2].session_id == tx.sessions.latest("assistant", "ana", "chat-1").conversation_id
    assert events[4].payload == {"version_1": "{broken"}
    assert events[-1].kind == "store.migrated"


def test_migration_keeps_vectors_and_their_identity(tx):
    seq = tx.records.require("r-home").seq

    assert tx.one("select vector from embeddings where seq = ?", (seq,)) == (VECTOR,)
    assert tuple(tx.meta.embedding_identity()) == ("old-model", "1", 4)


def test_migration_rebuilds_the_full_text_index_from_prepared_text(tx):
    home = tx.records.require("r-home")

    fields = tx.lexical.fields([home.seq])[home.seq]
    assert fields == ("Ana lives in Lisbon", "home city Ana", "ana ana lima bo")
    assert home.token_count == sum(len(tx.lexical.tokens(text)) for text in fields)
    indexed = {seq for (seq,) in tx.run("select rowid from records_fts")}
    assert indexed == {
        seq for (seq,) in tx.run("select seq from records where status <> 'deleted'")
    }
    chinese = tx.records.require("r-chinese")
    assert "花生" in tx.lexical.fields([chinese.seq])[chinese.seq][0].split()


def test_migration_keeps_the_search_log(tx):
    first = tx.search_log.get("q-1")

    assert first["session_id"] == tx.sessions.latest("assistant", "ana", "chat-1").conversation_id
    assert (first["trigger"], first["pipeline_version"]) == ("tool", "version_1")
    assert tx.search_log.get("q-2")["request"] == '"not json"'


def test_migration_keeps_grants_and_conflicts(tx):
    (grant,) = tx.grants.list_for("assistant")
    (row,) = tx.records.conflicts_of([tx.records.require("r-home").seq])

    assert (grant.scope, grant.can_read, grant.can_write) == (ANA, True, True)
    assert row.conflict.other_id == "r-tea"


def test_migration_leaves_nothing_of_the_old_tables(tx):
    assert list(tx.run("select name from sqlite_schema where name like 'v1%'")) == []
    assert tx.one("pragma integrity_check") == ("ok",)
    assert list(tx.run("pragma foreign_key_check")) == []
    tx.one("select count(*) from records_fts where records_fts match 'lisbon'")


def test_migration_of_a_conversation_lets_it_go_on(tmp_path):
    build(tmp_path / "old.db")
    migrate(tmp_path / "old.db")
    with Store.open(tmp_path / "old.db", allow_migration_issues=True) as store:
        with store.write() as tx:
            session = tx.sessions.start(Principal("assistant", "ana"), "chat-1")

        assert (session.segment, session.ended_at) == (3, None)


def test_open_refuses_unresolved_issues_unless_allowed(report_and_path):
    with pytest.raises(MigrationRequired, match="run `retold migrate`"):
        Store.open(report_and_path[1])
    Store.open(report_and_path[1], allow_migration_issues=True).close()


def migrated_store(tmp_path):
    build(tmp_path / "old.db")
    migrate(tmp_path / "old.db")
    return Store.open(tmp_path / "old.db", allow_migration_issues=True)


def test_expire_unmapped_expires_each_with_an_event(tmp_path):
    with migrated_store(tmp_path) as store:
        with store.write() as tx:
            assert migrations.expire_unmapped(tx) == len(UNMAPPED)
        with store.read() as tx:
            for record_id, reason in UNMAPPED.items():
                assert tx.records.require(record_id).status == "expired"
                (event,) = tx.events.list_for_record(record_id)
                assert (event.kind, event.actor) == ("record.status", "admin")
                assert (event.payload["to"], event.payload["issue"]) == ("expired", reason)
            assert tx.records.require("r-home").status == "confirmed"
            assert migrations.list_issues(tx) == []
    Store.open(tmp_path / "old.db").close()


def test_acknowledge_unmapped_keeps_the_records_and_lets_the_store_open(tmp_path):
    with migrated_store(tmp_path) as store, store.write() as tx:
        assert migrations.acknowledge_unmapped(tx) == len(UNMAPPED)
        assert migrations.acknowledge_unmapped(tx) == 0
        assert tx.records.require("u-none").status == "confirmed"
    with Store.open(tmp_path / "old.db") as store, store.read() as tx:
        assert len(tx.events.list_by_kind("migration.acknowledged")) == 1


def test_a_record_that_somebody_forgets_is_no_issue_any_more(tmp_path):
    with migrated_store(tmp_path) as store, store.write() as tx:
        tx.run("update records set status = 'deleted' where id = 'u-none'")

        assert migrations.count_unresolved(tx) == len(UNMAPPED) - 1


def test_migration_refuses_an_unreadable_time_and_changes_nothing(tmp_path):
    old = Version1File(tmp_path / "old.db")
    old.record("r-1", "secret words", created_at="yesterday")
    old.close()

    connection = apsw.Connection(str(tmp_path / "old.db"))
    with pytest.raises(StoreCorrupt, match=r"records\.created_at") as caught:
        migrations.migrate(connection, system_clock, new_id)

    assert "secret" not in str(caught.value)
    assert "yesterday" not in str(caught.value)
    assert migrations.inspect(connection) == "version_1"
    assert connection.execute("select content from records").fetchall() == [("secret words",)]
    with pytest.raises(apsw.SQLError, match="no such function"):
        connection.execute("select v1_new_id()")


def test_migration_of_a_file_with_the_three_main_tables_only(tmp_path):
    old = Version1File(tmp_path / "old.db")
    old.record("r-1", "The sky is blue", type="episodic")
    for table in (
        "record_conflicts records_fts record_entities entity_aliases grants session_turns "
        "sessions events search_log"
    ).split():
        old.connection.execute(f"drop table {table}")
    old.close()

    report = migrate(tmp_path / "old.db")

    assert report.from_version == 1
    with Store.open(tmp_path / "old.db") as store, store.read() as tx:
        assert tx.records.require("r-1").content == "The sky is blue"


def test_migration_of_an_empty_version_1_file(tmp_path):
    Version1File(tmp_path / "old.db").close()

    assert migrate(tmp_path / "old.db").unresolved == 0
    with Store.open(tmp_path / "old.db") as store, store.read() as tx:
        assert tx.meta.get_int("migrated_from") == 1


@pytest.mark.parametrize("enforced", [0, 1], ids=["references unchecked", "references checked"])
def test_migration_works_whether_or_not_references_are_enforced(tmp_path, enforced):
    build(tmp_path / "old.db")
    connection = apsw.Connection(str(tmp_path / "old.db"))
    connection.pragma("foreign_keys", enforced)

    assert migrations.migrate(connection, system_clock, new_id).unresolved == len(UNMAPPED)


def test_migration_drops_references_to_rows_that_are_missing(tmp_path):
    old = Version1File(tmp_path / "old.db")
    old.record("r-1", "Ana lives here", type="episodic", supersedes_id="gone")
    old.link("r-1", "gone")
    old.embedding("gone")
    old.insert("session_turns", session_id="gone", turn=1, role="user", content="x", at=AT)
    old.close()

    migrate(tmp_path / "old.db")

    with Store.open(tmp_path / "old.db") as store, store.read() as tx:
        assert tx.records.require("r-1").supersedes_id is None
        assert tx.meta.row_counts()["embeddings"] == tx.meta.row_counts()["session_turns"] == 0


def test_migration_knows_what_stands_in_the_place_of_each_superseded_record(tmp_path):
    """Version 1 named the winner of a late arrival and agreeing siblings in events only."""
    old = Version1File(tmp_path / "old.db")
    for id_ in ("replaced", "sibling", "late", "unknown"):
        old.record(id_, f"Ana lives in {id_}", type="episodic", status="superseded")
    old.record("winner", "Ana lives here", type="episodic", supersedes_id="replaced")
    old.event("e-1", AT, "record.created", record_id="late", payload="not json")
    for number, (id_, payload) in enumerate(
        {
            "winner": '{"also_superseded": ["sibling", "gone"]}',
            "late": '{"superseded_on_arrival_by": "winner"}',
            "unknown": '{"superseded_on_arrival_by": "gone"}',
        }.items()
    ):
        old.event(f"e-2{number}", AT, "record.created", record_id=id_, payload=payload)
    old.close()

    migrate(tmp_path / "old.db")

    with Store.open(tmp_path / "old.db") as store, store.read() as tx:
        linked = tx.run(
            "select r.id, winner.id from records as r"
            " join records as winner on winner.seq = r.superseded_by_seq"
        )
        assert dict(linked) == dict.fromkeys(("replaced", "sibling", "late"), "winner")


def test_migration_leaves_two_local_namesakes_as_an_issue(tmp_path):
    old = Version1File(tmp_path / "old.db")
    old.entity("e-1", "Max", "max", scope_kind="project", scope_id="p")
    old.entity("e-2", "Max", "max")
    old.entity("e-3", "Max", "max")
    old.record("r-1", "Max sings", subject="e-1/hobby")
    old.link("r-1", "e-1")
    old.close()

    assert migrate(tmp_path / "old.db").unresolved == 1
    with Store.open(tmp_path / "old.db", allow_migration_issues=True) as store, store.read() as tx:
        (issue,) = migrations.list_issues(tx)
        assert issue.reason == "ambiguous_about_entity"


def test_migration_parts_what_was_merged_across_scopes(tmp_path):
    """Keep such a merge and a record of one scope is about an entity of another."""
    old = Version1File(tmp_path / "old.db")
    old.entity("e-1", "Bob", "bob", scope_kind="user", scope_id="bo")
    old.entity("e-2", "Bobby", "bobby", status="merged", merged_into="e-1")
    old.record("r-1", "Bobby sings", subject="e-2/hobby")
    old.link("r-1", "e-2")
    old.close()

    assert migrate(tmp_path / "old.db").unresolved == 0
    with Store.open(tmp_path / "old.db") as store, store.read() as tx:
        parted = tx.entities.resolve("e-2")
        assert (parted.id, parted.status, parted.merged_into) == ("e-2", "provisional", None)
        assert tx.records.require("r-1").subject_entity_id == "e-2"


def test_migration_takes_no_nickname_into_a_shared_scope(tmp_path):
    """Copy every alias and the record is found by what only its user calls the person."""
    old = Version1File(tmp_path / "old.db")
    old.entity("e-1", "Priya Raman", "priya raman", "pumpkin")
    old.record("r-1", "Leads the release", subject="e-1/role", scope_kind="project", scope_id="p")
    old.link("r-1", "e-1")
    old.close()

    migrate(tmp_path / "old.db")
    with Store.open(tmp_path / "old.db") as store, store.read() as tx:
        twin = tx.entities.require(tx.records.require("r-1").subject_entity_id)
        assert (twin.canonical, twin.aliases) == ("Priya Raman", ("priya raman",))


@pytest.mark.parametrize(
    ("session_id", "external", "number"),
    [
        ("chat", "chat", 1),
        ("chat~2", "chat", 2),
        ("chat~10", "chat", 10),
        ("chat~1", "chat~1", 1),
        ("chat~02", "chat~02", 1),
        ("chat~x", "chat~x", 1),
        ("a~2~3", "a~2", 3),
        ("~2", "~2", 1),
    ],
)
def test_derived_session_ids_are_read_as_segments(session_id, external, number):
    assert (version_1.external_id(session_id), version_1.segment(session_id)) == (external, number)


@pytest.mark.parametrize(
    ("source_ref", "session", "turn"),
    [
        ("session:chat<turn:3>", "chat", 3),
        ("session:chat#3", "chat", 3),
        ("session:chat:turn:12", "chat", 12),
        ("session:chatturn:3", "chat", 3),
        ("session:chat", "chat", None),
        ("session:a#b/c", "a#b/c", None),
        ("call_17", None, None),
        ("session:", None, None),
        ("", None, None),
        (None, None, None),
    ],
)
def test_old_source_references_are_read(source_ref, session, turn):
    assert version_1.ref_session(source_ref) == session
    assert version_1.ref_turn(source_ref) == turn


@pytest.mark.parametrize(
    ("subject", "key"),
    [
        ("e-1/Home City", "home_city"),
        ("acme/repo/deployCommand", "deploy_command"),
        ("e-1/-", ""),
        ("e-1/", ""),
        ("e-1", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_old_subjects_give_the_key_that_a_new_write_would(subject, key):
    assert version_1.attribute(subject) == key


@pytest.mark.parametrize("word", ["lisbon", "Porto", "tea", "married", "sings", "answers", "green"])
def test_migrated_file_finds_by_word_what_it_found_before(tmp_path, word):
    """B83: an upgrade must not leave the old memories unfindable."""
    build(tmp_path / "old.db")
    connection = apsw.Connection(str(tmp_path / "old.db"))
    search = "select record_id from records_fts where records_fts match ?"
    before = {record_id for (record_id,) in connection.execute(search, (f'"{word}"',))}
    connection.close()

    migrate(tmp_path / "old.db")

    with Store.open(tmp_path / "old.db", allow_migration_issues=True) as store, store.read() as tx:
        hits = fts_search(tx, f'"{word}"', 50)
        records = tx.records.by_seqs([seq for seq, _ in hits])
        after = {record.id for record in records.values()}
    assert before
    assert before <= after


def test_migrated_file_gives_the_index_what_it_held_before(tmp_path):
    """B83: every vector of a live record reaches the in-process index."""
    build(tmp_path / "old.db")
    migrate(tmp_path / "old.db")

    with Store.open(tmp_path / "old.db", allow_migration_issues=True) as store, store.read() as tx:
        assert tx.meta.embedding_identity() == EmbeddingIdentity("old-model", "1", 4)
        changed = list(tx.run("select seq from embeddings where index_version = 1"))
        assert len(changed) == 2
        assert tx.meta.records_version() == 1
