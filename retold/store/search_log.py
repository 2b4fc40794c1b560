"""Logged searches: what every stage of each search did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from retold.errors import InvalidInput
from retold.store.codec import to_text_or_none
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("search_log")

COLUMNS: tuple[str, ...] = (
    "id",
    "at",
    "agent_id",
    "user_id",
    "session_id",
    "trigger",
    "detail",
    "request",
    "context",
    "rewrite_status",
    "rewritten_queries",
    "readable_scopes",
    "candidates",
    "dense",
    "lexical",
    "entity",
    "fused",
    "freshness",
    "gate_inputs",
    "gated_out",
    "deduped_out",
    "reranked",
    "reranked_out",
    "rerank_status",
    "rerank_error",
    "budget_out",
    "returned",
    "explanations",
    "empty_reason",
    "degraded",
    "config_flags",
    "pipeline",
    "pipeline_version",
    "warm",
    "timings_ms",
)
"""Every column but the integer key, in the order of the table."""
_COLUMNS = frozenset(COLUMNS)


class SearchLogRepository:
    """Rows travel as mappings from column to stored value: moments and JSON are text."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def insert(self, row: Mapping[str, Any]) -> None:
        """Store one search. Raises InvalidInput unless the keys are exactly ``COLUMNS``."""
        if row.keys() != _COLUMNS:
            wrong = sorted(_COLUMNS.symmetric_difference(row))
            raise InvalidInput(f"a search log row has exactly its columns; check {wrong}")
        self._tx.run(QUERIES["insert"], dict(row))

    def get(self, search_id: str) -> dict[str, Any] | None:
        """Return one search; None when absent."""
        row = self._tx.one(QUERIES["get"], {"id": search_id})
        return None if row is None else dict(zip(COLUMNS, row, strict=True))

    def returned_ending(
        self, agent_id: str, user_id: str, external_id: str | None, ending: str
    ) -> tuple[str, ...]:
        """Return the ids with this ending that searches of a conversation returned."""
        bindings = {
            "agent_id": agent_id,
            "user_id": user_id,
            "external_id": external_id,
            "ending": ending,
        }
        return tuple(row[0] for row in self._tx.run(QUERIES["returned_ending"], bindings))

    def iterate(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        user_id: str | None = None,
        batch: int = 200,
    ) -> Iterator[dict[str, Any]]:
        """Yield searches with ``since <= at < until`` in the order they were logged.

        Rows are fetched in batches, so a caller that stops early holds no cursor open.
        """
        bindings = {
            "since": to_text_or_none(since),
            "until": to_text_or_none(until),
            "user_id": user_id,
            "limit": batch,
        }
        after_seq = 0
        while True:
            page = list(self._tx.run(QUERIES["page"], {**bindings, "after_seq": after_seq}))
            yield from (dict(zip(COLUMNS, row[:-1], strict=True)) for row in page)
            if len(page) < batch:
                return
            after_seq = page[-1][-1]
