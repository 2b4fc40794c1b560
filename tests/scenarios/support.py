"""One opened store with doubles for its models, and short ways to look at what happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from retold.config import RetoldConfig
from retold.memory import MemorySession, Retold
from retold.models import (
    Candidate,
    EntityMention,
    Event,
    Record,
    Scope,
    WriteRequest,
    WriteResult,
)
from retold.results import SearchPage
from retold.retrieve.replay import logged_candidates
from retold.testing import MemoryLab

ANA = Scope("user", "ana")
BOB = Scope("user", "bob")
PROJECT = Scope("project", "acme/repo")
PRIVATE_ANA = Scope("agent", "helper/ana")

RULES: dict[str, Any] = {"ingestion": {"evidence": {"entail_floor": 0.5}}}
"""The settings that the rule judge goes with."""


class World:
    """A lab with the settings that ship; ``open`` gives a second process's view of its file."""

    def __init__(self, path: Path, settings: dict[str, Any] | None = None, **models: Any) -> None:
        self.path = path
        self.config = RetoldConfig.model_validate(settings or {})
        self.lab = MemoryLab.open(path, settings=self.config.model_dump(mode="json"), **models)
        self.clock = self.lab.clock
        self.embedder = self.lab.embedder
        self.judge = self.lab.judge
        self.retold = self.lab.retold
        self.host = self.retold.host
        self._sessions = 0

    def open(self, **models: Any) -> Retold:
        """Open the file once more, with the same doubles unless others are given."""
        return self.lab.reopen(**models).retold

    def close(self) -> None:
        """Close whatever was opened."""
        self.lab.close()

    def session(
        self, user: str = "ana", agent: str = "helper", session_id: str | None = None, **more: Any
    ) -> MemorySession:
        """Open a conversation, a new one unless an id is given."""
        self._sessions += 1
        name = session_id or f"s{self._sessions}"
        return self.retold.session(user, agent_id=agent, session_id=name, **more)

    def write(self, session: MemorySession, content: str, **fields: Any) -> WriteResult:
        """Write as a model's tool does: a quote must stand in the transcript already."""
        request = WriteRequest(fields.pop("type", "semantic"), content, **fields)
        return self.retold.runtime.ingestor.write(session.principal, request)

    def tell(self, content: str, quote: str | None = None, **fields: Any) -> WriteResult:
        """Store what Ana says in a conversation of its own; the quote is a whole user turn."""
        session = self.session(fields.pop("user", "ana"), fields.pop("agent", "helper"))
        said = quote or f"By the way, {content[0].lower()}{content[1:]}"
        session.turn("user", said)
        fields.setdefault("evidence", said)
        return self.write(session, content, **fields)

    def observe(self, content: str, quote: str | None = None, **fields: Any) -> WriteResult:
        """Store what a tool returned in a conversation of its own."""
        session = self.session(fields.pop("user", "ana"), fields.pop("agent", "helper"))
        said = quote or f"result: {content}"
        session.turn("tool", said, tool_name="lookup")
        fields.setdefault("evidence", said)
        return self.write(session, content, source_kind="tool_result", **fields)

    def record(self, result_or_id: WriteResult | str) -> Record:
        """Return the stored row, whatever its status."""
        record_id = result_or_id if isinstance(result_or_id, str) else result_or_id.record_id
        with self.retold.store.read() as tx:
            return tx.records.require(record_id)

    def active(self, user: str = "ana", agent: str = "helper") -> list[str]:
        """Return the contents of every active record this pair may read, oldest first."""
        page = self.session(user, agent).list(limit=1000)
        return [record.content for record in reversed(page.records)]

    def log(self, page: SearchPage) -> dict[str, Any]:
        """Return the stored log row of a search, its JSON columns decoded."""
        row = self.raw_log(page)
        return {name: _decoded(name, value) for name, value in row.items()}

    def raw_log(self, page: SearchPage) -> dict[str, Any]:
        """Return the stored log row as it is."""
        with self.retold.store.read() as tx:
            row = tx.search_log.get(page.search_id)
        assert row is not None
        return row

    def pool(self, page: SearchPage) -> tuple[Candidate, ...]:
        """Return every candidate of a logged search, as the gate saw it."""
        return logged_candidates(self.raw_log(page))

    def events(self, kind: str | None = None, record_id: str | None = None) -> list[Event]:
        """Return the events of a record, or of the whole store, oldest first."""
        with self.retold.store.read() as tx:
            found = (
                tx.events.list_since(0, limit=100_000)
                if record_id is None
                else tx.events.list_for_record(record_id)
            )
        return [event for event in found if kind is None or event.kind == kind]

    def conflicts(self, record_id: str) -> set[str]:
        """Return the ids in conflict with a record, as its own user sees them."""
        (view,) = self.session().get(record_id).found
        return {conflict.record_id for conflict in view.conflicts}

    def row_counts(self, *, without: tuple[str, ...] = ()) -> dict[str, int]:
        """Return the number of rows of every table."""
        with self.retold.store.read() as tx:
            names = tx.run(
                "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
            )
            tables = [name for (name,) in names if name not in without]
            return {name: tx.one(f'select count(*) from "{name}"')[0] for name in tables}


_JSON = frozenset(
    "request rewritten_queries readable_scopes candidates dense lexical entity fused freshness "
    "gate_inputs gated_out deduped_out reranked reranked_out budget_out returned explanations "
    "degraded config_flags pipeline timings_ms".split()
)


def _decoded(name: str, value: Any) -> Any:
    return json.loads(value) if name in _JSON and value is not None else value


def contents(page: SearchPage) -> list[str]:
    """Return what a search found, best first."""
    return [item.record.content for item in page]


def person(text: str, role: str = "about", entity_id: str | None = None) -> EntityMention:
    """Return a mention of a person."""
    return EntityMention("person", text, role, entity_id)
