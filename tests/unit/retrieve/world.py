"""A real store with an index and a retriever, filled row by row."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from retold.config import RetoldConfig
from retold.index.vector import VectorIndex
from retold.models import Principal, Record, Scope, SearchRequest, SearchResponse
from retold.retrieve.retriever import Retriever
from retold.store import Store
from retold.store.meta import EmbeddingIdentity
from retold.store.records import NewRecord
from retold.store.token_vectors import pack_tokens
from retold.testing import CountingIds, FakeClock, FakeEmbedder, make_principal
from retold.text import normalize_alias

ANA = make_principal()
BOB = replace(ANA, user_id="bob")
CONFIG = RetoldConfig.model_validate({"embedding": {"dims": 384}})


class World:
    """Search as the library does, write as directly as a test needs."""

    def __init__(self, path: Path, config: RetoldConfig = CONFIG, **ports: Any) -> None:
        self.clock = FakeClock()
        self.embedder = FakeEmbedder()
        self.config = config
        self.store = Store.open(path, clock=self.clock)
        identity = self.identity = EmbeddingIdentity(
            self.embedder.name, self.embedder.version, self.embedder.dims
        )
        with self.store.write() as tx:
            if tx.meta.embedding_identity() is None:
                tx.meta.set_embedding_identity(identity)
        self.index = VectorIndex(identity)
        ports = {"embedder": self.embedder} | ports
        self.retriever = Retriever(
            self.store,
            self.index,
            config=config,
            clock=self.clock,
            id_source=CountingIds(1_000_000),
            **ports,
        )

    def close(self) -> None:
        self.retriever.close()
        self.store.close()

    def grant(self, scope: str, *, agent: str = "helper", read: bool = True) -> None:
        with self.store.write() as tx:
            tx.grants.set(agent, Scope.parse(scope), can_read=read, can_write=True)

    def revoke(self, scope: str, *, agent: str = "helper") -> None:
        with self.store.write() as tx:
            tx.grants.delete(agent, Scope.parse(scope))

    def add(
        self,
        content: str,
        *,
        scope: str | None = None,
        about: Iterable[str] = (),
        mentions: Iterable[str] = (),
        owner: Principal = ANA,
        supersedes: Record | None = None,
        vector: bool = True,
        tokens: bool = False,
        **fields: Any,
    ) -> Record:
        where = owner.private_scope if scope is None else Scope.parse(scope)
        with self.store.write() as tx:
            defaults: dict[str, Any] = {
                "type": "semantic",
                "subject_entity_id": None,
                "attribute": None,
                "attribute_derived": False,
                "source_kind": "user_statement",
                "source_ref": None,
                "creator_agent_id": owner.agent_id,
                "evidence": None,
                "event_at": tx.now,
                "expires_at": None,
                "valid_from": None,
                "valid_until": None,
                "review_at": None,
                "confidence": 0.95,
                "status": "confirmed",
                "supersedes_id": supersedes.id if supersedes else None,
                "version": 1,
                "temporary": False,
                "tags": (),
            }
            record = tx.records.insert(
                NewRecord(content=content, scope=where, **(defaults | fields))
            )
            for role, names in (("about", about), ("mentions", mentions)):
                for name in names:
                    entity_id = self._entity(tx, where, name)
                    tx.entities.link(record.seq, entity_id, role)  # type: ignore[arg-type]
            aliases = " ".join(tx.entities.aliases_for_record(record.seq))
            tx.lexical.insert(record.seq, content, record.subject or "", aliases)
            if vector:
                embedded = self.embedder.embed_documents_with_tokens([content])
                tx.embeddings.put(record.seq, embedded.vectors[0])
                if tokens:
                    packed = pack_tokens(embedded.tokens[0], self.embedder.dims)
                    tx.token_vectors.put(record.seq, packed)
            if supersedes is not None:
                tx.records.update(replace(supersedes, status="superseded"))
        return record

    def set(self, record: Record, **fields: Any) -> Record:
        with self.store.write() as tx:
            return tx.records.update(replace(record, **fields))

    def forget(self, record: Record) -> None:
        with self.store.write() as tx:
            tx.records.update(replace(record, status="deleted"))
            tx.lexical.delete(record.seq)

    def conflict(self, one: Record, other: Record) -> None:
        with self.store.write() as tx:
            tx.records.insert_conflict(one, other, kind="attribute", rule="model", score=0.9)

    def search(self, *queries: str, principal: Principal = ANA, **fields: Any) -> SearchResponse:
        return self.retriever.search(
            principal, SearchRequest(**({"queries": queries, "k": 8} | fields))
        )

    def contents(self, *queries: str, **fields: Any) -> list[str]:
        return [result.record.content for result in self.search(*queries, **fields).results]

    def log(self, response: SearchResponse) -> dict[str, Any]:
        self.retriever.flush_log()
        with self.store.read() as tx:
            row = tx.search_log.get(response.search_id)
        assert row is not None
        return row

    @contextmanager
    def locked(self) -> Any:
        """Hold the write lock as another process would."""
        with self.store.write():
            yield

    def later(self, **parts: float) -> None:
        self.clock.advance(timedelta(**parts))

    def _entity(self, tx: Any, scope: Scope, name: str) -> str:
        codes = [tx.scopes.require(scope)]
        known = tx.entities.by_alias([normalize_alias(name)], codes)
        if known:
            return str(next(iter(known.values()))[0].id)
        return str(tx.entities.insert("person", name, scope, [normalize_alias(name)]).id)


def config(**blocks: Any) -> RetoldConfig:
    return RetoldConfig.model_validate({"embedding": {"dims": 384}} | blocks)
