"""Every statement prepares, hot ones use their index, every column is classified for erasure."""

import re
from importlib import resources

import apsw
import pytest

from retold.store import migrations, version_1
from retold.store.erasure_columns import COLUMNS, FULL_TEXT_TABLE
from retold.store.queries import load_queries
from retold.util import new_id, system_clock
from tests.migration import version_1_file

FILES = sorted(
    file.name.removesuffix(".sql")
    for file in resources.files("retold.store").joinpath("sql").iterdir()
    if file.name.endswith(".sql")
)
PRESENT = [name for name in FILES if name != "version_1"]
STATEMENTS = [(file, name) for file in PRESENT for name in load_queries(file)]


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    opened = apsw.Connection(str(tmp_path_factory.mktemp("schema") / "memory.db"))
    migrations.migrate(opened, system_clock, new_id)
    yield opened
    opened.close()


class NullBindings(dict):
    """Bind every name as NULL; only the statement's shape is of interest."""

    def __missing__(self, name):
        return None


def explain(connection, what, sql):
    return list(connection.execute(f"{what} {sql}", NullBindings()))


@pytest.mark.parametrize(("file", "name"), STATEMENTS, ids=[f"{f}-{n}" for f, n in STATEMENTS])
def test_statement_prepares_against_the_schema(connection, file, name):
    assert explain(connection, "explain", load_queries(file)[name])


def test_every_statement_of_version_1_runs_in_a_migration(tmp_path):
    """Its tables exist only while a file is being carried over."""
    version_1_file.build(tmp_path / "old.db")
    seen = set()
    opened = apsw.Connection(str(tmp_path / "old.db"))
    opened.exec_trace = lambda _cursor, sql, _bindings: seen.add(sql) or True

    migrations.migrate(opened, system_clock, new_id)

    missing = [name for name, sql in version_1.QUERIES.items() if sql not in seen]
    assert missing == []


HOT = {
    # All of these indexes begin with the scope.
    "scope": (load_queries("records")["page"], "r", "(records_scope|records_subject)"),
    "scope counts": (load_queries("records")["count_by_status"], "r", "records_(scope|nearby)"),
    "subject, one attribute": (load_queries("records")["subject_own"], "r", "records_subject"),
    "subject, the others": (load_queries("records")["subject_others"], "r", "records_recent"),
    "alias": (load_queries("entities")["by_alias"], "alias", "entity_aliases_lookup"),
    "principal": (load_queries("entities")["principal"], "e", "entities_principal"),
    "records of entity": (
        load_queries("entities")["record_seqs_of"],
        "link",
        "record_entities_by_entity",
    ),
    "evidence": (load_queries("evidence")["list_for"], "record_evidence", "record_evidence_record"),
    "events of record": (load_queries("events")["list_for_record"], "r", "event_refs_record"),
    "events of kind": (load_queries("events")["list_by_kind"], "e", "events_kind"),
    "segments": (load_queries("sessions")["segments"], "sessions", "sessions_conversation"),
    "turn by key": (load_queries("sessions")["turn_by_key"], "t", "session_turns_external"),
    "idle sessions": (load_queries("sessions")["list_idle"], "sessions", "sessions_open"),
    "user's sessions": (load_queries("sessions")["list_for_user"], "sessions", "sessions_user"),
    # The sweeps themselves come with the workers; their shape is fixed by these indexes.
    "due review": (
        "select seq from records where review_at <= :now and review_flagged_at is null"
        " and status in ('provisional', 'confirmed') order by review_at limit :limit",
        "records",
        "records_due_review",
    ),
    "due expiry": (
        "select seq from records where expires_us <= :now_us"
        " and status in ('provisional', 'confirmed') limit :limit",
        "records",
        "records_due_expiry",
    ),
    "due extraction": (
        "select seq from sessions where extraction_requested_at is not null"
        " and extracted_at is null and extraction_failed_at is null"
        " order by extraction_requested_at limit :limit",
        "sessions",
        "sessions_due",
    ),
}


@pytest.mark.parametrize(("sql", "table", "index"), HOT.values(), ids=HOT)
def test_hot_statement_uses_its_index(connection, sql, table, index):
    plan = [row[3] for row in explain(connection, "explain query plan", sql)]

    used = re.compile(rf"(SEARCH|SCAN) {table} USING (COVERING )?INDEX {index}\b")
    assert any(used.match(step) for step in plan), plan


def columns(connection):
    """Return the columns of every table but the full-text index's own shadow tables."""
    found = {}
    for table, column in connection.execute(load_queries("migrations")["columns"]):
        if not table.startswith(("sqlite_", f"{FULL_TEXT_TABLE}_")):
            found.setdefault(table, set()).add(column)
    return found


def test_every_column_is_classified_for_erasure(connection):
    """A column that nobody classified would be missed by ``retold erase``."""
    classified = {table: set(kinds) for table, kinds in COLUMNS.items()}

    assert classified == columns(connection)


@pytest.mark.parametrize("table", ["search_log", "turn_decisions"])
def test_session_of_a_logged_request_is_an_identity(table):
    """Hosts name sessions after people, and rows of earlier releases hold the host's id."""
    assert COLUMNS[table]["session_id"] == "identity"


def test_columns_are_classified_as_one_of_three_kinds():
    kinds = {kind for table in COLUMNS.values() for kind in table.values()}

    assert kinds == {"content", "identity", "metadata"}


def test_tables_are_strict_but_for_the_full_text_index(connection):
    loose = connection.execute(
        "select name from pragma_table_list where schema = 'main' and type = 'table'"
        " and not strict and name not like 'sqlite%'"
    )

    assert list(loose) == []
