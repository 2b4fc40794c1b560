"""Files of schema version 1, written row by row as an early release would have."""

import json
from array import array
from pathlib import Path

import apsw

DDL = """
create table records (
  id text primary key,
  type text not null check (type in ('semantic', 'episodic', 'procedural')),
  version integer not null default 1,
  content text not null,
  subject text not null,
  scope_kind text not null check (scope_kind in ('agent', 'user', 'project', 'org')),
  scope_id text not null,
  source_kind text not null check (source_kind in
    ('user_statement', 'system', 'tool_result', 'session_summary', 'agent_inference')),
  source_ref text,
  creator_agent_id text not null,
  evidence text,
  created_at text not null,
  event_at text not null,
  expires_at text,
  confidence real not null,
  status text not null check (status in
    ('provisional', 'confirmed', 'superseded', 'expired', 'deleted')),
  supersedes_id text references records(id),
  reinforcements integer not null default 0,
  last_reinforced_at text,
  tags text not null default '[]'
);
create index records_scope on records(scope_kind, scope_id, status);
create index records_subject on records(scope_kind, scope_id, subject, status);
create index records_event on records(type, event_at);
create table record_conflicts (
  record_id text not null references records(id),
  other_id text not null references records(id),
  noted_at text not null,
  primary key (record_id, other_id)
);
create table embeddings (
  record_id text primary key references records(id),
  model text not null,
  version text not null,
  dims integer not null,
  vector blob not null
);
create virtual table records_fts using fts5(
  record_id unindexed, content, subject, aliases, tokenize = 'unicode61 remove_diacritics 2'
);
create table entities (
  id text primary key,
  kind text not null check (kind in ('person', 'project', 'org', 'repo', 'product', 'other')),
  canonical text not null,
  scope_kind text not null,
  scope_id text not null,
  status text not null check (status in ('provisional', 'confirmed', 'merged', 'deleted')),
  merged_into text references entities(id),
  created_at text not null
);
create table entity_aliases (
  entity_id text not null references entities(id),
  alias_norm text not null,
  primary key (entity_id, alias_norm)
);
create index entity_aliases_lookup on entity_aliases(alias_norm);
create table record_entities (
  record_id text not null references records(id),
  entity_id text not null references entities(id),
  role text not null default 'about',
  primary key (record_id, entity_id)
);
create index record_entities_by_entity on record_entities(entity_id);
create table grants (
  agent_id text not null,
  scope_kind text not null,
  scope_id text not null,
  can_read integer not null default 1,
  can_write integer not null default 0,
  primary key (agent_id, scope_kind, scope_id)
);
create table sessions (
  id text primary key,
  agent_id text not null,
  user_id text not null,
  project_id text,
  started_at text not null,
  ended_at text,
  extraction_started_at text,
  extracted_at text
);
create table session_turns (
  session_id text not null references sessions(id),
  turn integer not null,
  role text not null,
  content text not null,
  at text not null,
  primary key (session_id, turn)
);
create table events (
  id text primary key,
  at text not null,
  kind text not null,
  actor text not null,
  record_id text,
  entity_id text,
  payload text not null
);
create table search_log (
  id text primary key,
  at text not null,
  agent_id text not null,
  user_id text not null,
  session_id text,
  request text not null,
  context text,
  rewrite_status text not null,
  rewritten_queries text,
  readable_scopes text not null,
  dense text not null,
  lexical text not null,
  entity text not null,
  fused text not null,
  freshness text not null,
  gated_out text not null,
  deduped_out text not null,
  budget_out text not null,
  returned text not null,
  explanations text not null,
  config_flags text not null,
  warm integer not null,
  timings_ms text not null
);
pragma user_version = 1;
"""

AT = "2025-03-01T10:00:00+00:00"
VECTOR = array("f", [1.0, 0.0, 0.0, 0.0]).tobytes()


class Version1File:
    """An open version-1 file; every method writes one row with sensible defaults."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path))
        self.connection.pragma("journal_mode", "wal")
        self.connection.execute(DDL).fetchall()

    def close(self) -> None:
        self.connection.close()

    def insert(self, table: str, **values: object) -> None:
        """Insert one row; names come from this module and its tests only."""
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        self.connection.execute(f"insert into {table}({names}) values ({marks})", values)

    def record(self, id: str, content: str, **values: object) -> None:
        row = {
            "type": "semantic",
            "subject": "",
            "scope_kind": "user",
            "scope_id": "ana",
            "source_kind": "user_statement",
            "source_ref": None,
            "creator_agent_id": "assistant",
            "evidence": None,
            "created_at": AT,
            "event_at": AT,
            "expires_at": None,
            "confidence": 0.9,
            "status": "confirmed",
            "supersedes_id": None,
            "tags": "[]",
        }
        self.insert("records", id=id, content=content, **{**row, **values})
        self.insert("records_fts", record_id=id, content=content, subject="", aliases="")

    def entity(self, id: str, canonical: str, *aliases: str, **values: object) -> None:
        row = {
            "kind": "person",
            "scope_kind": "user",
            "scope_id": "ana",
            "status": "provisional",
            "merged_into": None,
            "created_at": AT,
        }
        self.insert("entities", id=id, canonical=canonical, **{**row, **values})
        for alias in aliases:
            self.insert("entity_aliases", entity_id=id, alias_norm=alias)

    def link(self, record_id: str, entity_id: str, role: str = "about") -> None:
        self.insert("record_entities", record_id=record_id, entity_id=entity_id, role=role)

    def session(self, id: str, *turns: tuple[str, str], **values: object) -> None:
        row = {"agent_id": "assistant", "user_id": "ana", "started_at": AT, "ended_at": None}
        self.insert("sessions", id=id, **{**row, **values})
        for number, (role, content) in enumerate(turns, start=1):
            self.insert(
                "session_turns", session_id=id, turn=number, role=role, content=content, at=AT
            )

    def embedding(self, record_id: str, model: str = "old-model") -> None:
        self.insert(
            "embeddings", record_id=record_id, model=model, version="1", dims=4, vector=VECTOR
        )

    def event(self, id: str, at: str, kind: str, **values: object) -> None:
        row = {"actor": "assistant", "record_id": None, "entity_id": None, "payload": "{}"}
        self.insert("events", id=id, at=at, kind=kind, **{**row, **values})

    def search(self, id: str, **values: object) -> None:
        lists = (
            "readable_scopes dense lexical entity fused freshness gated_out deduped_out "
            "budget_out returned explanations"
        )
        row = {
            "at": AT,
            "agent_id": "assistant",
            "user_id": "ana",
            "session_id": None,
            "request": json.dumps({"queries": ["tea"]}),
            "rewrite_status": "disabled",
            "config_flags": "{}",
            "warm": 1,
            "timings_ms": "{}",
            **dict.fromkeys(lists.split(), "[]"),
        }
        self.insert("search_log", id=id, **{**row, **values})


def build(path: Path) -> None:
    """Write a file with ordinary rows and every awkward one that the migration knows."""
    old = Version1File(path)
    old.entity("e-ana", "Ana", "ana", "ana lima")
    old.entity("e-bo", "Bo", "bo")
    old.entity("e-bo-old", "Bobby", "bobby", status="merged", merged_into="e-bo")
    old.entity("e-apollo", "Apollo", "apollo", kind="project", scope_kind="project", scope_id="p/1")
    _sessions(old)
    _claims(old)
    _unmapped(old)
    _audit(old)
    old.insert("grants", agent_id="assistant", scope_kind="user", scope_id="ana", can_write=1)
    old.search("q-1", session_id="chat-1")
    old.search("q-2", at="2025-03-01T09:00:00", request="not json")
    old.close()


def _sessions(old: Version1File) -> None:
    old.session(
        "chat-1",
        ("user", "I moved to  Lisbon last year."),
        ("assistant", "Noted."),
        ("tool", "release date: 2025-04-01"),
        ("critic", "a role nobody knows"),
        ended_at="2025-03-01T11:00:00Z",
        extracted_at="2025-03-01T11:05:00Z",
    )
    old.session("chat-1~2", ("user", "And I drink tea."), started_at="2025-03-01T12:00:00+02:00")
    old.session("chat-1~3", started_at="2025-03-01T13:00:00")
    old.session("elsewhere~2", user_id="bo")


def _claims(old: Version1File) -> None:
    old.record(
        "r-home",
        "Ana lives in Lisbon",
        subject="e-ana/Home City",
        source_ref="session:chat-1<turn:1>",
        evidence="I moved to Lisbon last year.",
        created_at="2025-03-01T12:30:00+02:00",
        tags='["place"]',
    )
    old.record(
        "r-home-old",
        "Ana lives in Porto",
        subject="e-ana/home_city",
        status="superseded",
        created_at="2025-01-01T00:00:00",
    )
    old.connection.execute("update records set supersedes_id = 'r-home-old' where id = 'r-home'")
    old.record(
        "r-tea",
        "Ana drinks tea",
        subject="e-ana/drink",
        source_ref="session:chat-1~2<turn:1>",
        evidence="I drink tea",
        confidence=7.5,
        tags="not json",
    )
    old.record(
        "r-private",
        "Ana prefers short answers",
        subject="e-ana/answer_style",
        scope_kind="agent",
        scope_id="assistant/ana",
        source_ref="session:gone<turn:4>",
        evidence="Short answers please.",
    )
    old.record("r-summary-1", "They talked about moving", **_summary("2025-03-01T11:04:00Z"))
    old.record("r-summary-2", "They talked about Lisbon", **_summary("2025-03-01T11:05:00Z"))
    old.record("r-gone", "", status="deleted", subject="e-ana/secret")
    old.record("r-episode", "They met in Porto", type="episodic", subject="e-ana/-")
    old.record(
        "r-tool", "CI is green", type="episodic", source_kind="tool_result", source_ref="call-7"
    )
    old.record(
        "r-said",
        "Noted.",
        type="episodic",
        source_ref="session:chat-1<turn:2>",
        evidence="Noted.",
        source_kind="agent_inference",
    )
    old.record("r-chinese", "我对花生过敏", type="episodic")
    for record_id in ("r-episode", "r-home", "r-home-old", "r-tea", "r-private", "r-gone"):
        old.link(record_id, "e-ana")
    old.record("r-merged", "Bobby sings", subject="e-bo-old/hobby")
    old.link("r-merged", "e-bo-old")
    old.link("r-home", "e-bo", "mentions")
    old.link("r-tea", "e-apollo", "mentions")
    old.embedding("r-home")
    old.embedding("r-tea")
    old.insert("record_conflicts", record_id="r-home", other_id="r-tea", noted_at=AT)


def _summary(created_at: str) -> dict[str, object]:
    return {
        "type": "episodic",
        "subject": "e-ana/-",
        "source_kind": "session_summary",
        "source_ref": "session:chat-1",
        "created_at": created_at,
    }


def _unmapped(old: Version1File) -> None:
    old.record("u-none", "The sky is blue", subject="world/sky")
    old.record("u-two", "Ana and Bo are married", subject="e-ana/spouse")
    old.link("u-two", "e-ana")
    old.link("u-two", "e-bo")
    old.record("u-key", "Bo is kind", subject="e-bo")
    old.link("u-key", "e-bo")
    old.entity("e-lost", "Lost", "lost", status="deleted")
    old.record("u-deleted-subject", "Lost sings", subject="e-lost/hobby")
    old.link("u-deleted-subject", "e-lost")
    old.record("u-dead", "Nobody knows", status="expired", expires_at="2025-02-01T00:00:00+00:00")


def _audit(old: Version1File) -> None:
    old.event("v-2", "2025-03-01T12:00:00+02:00", "record.created", record_id="r-home")
    old.event("v-1", "2025-03-01T10:00:00", "entity.created", entity_id="e-ana")
    old.event("v-3", "2025-03-01T11:00:00Z", "extraction.run", payload='{"session_id":"chat-1"}')
    old.event("v-4", "2025-03-02T00:00:00Z", "record.status", record_id="r-gone", payload="[1]")
    old.event("v-5", "2025-03-03T00:00:00Z", "odd", payload="{broken")
