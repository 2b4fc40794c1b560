"""The optional stage that turns raw queries into standalone ones."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from retold.config.retrieval import RewriteConfig
from retold.errors import RewriteError
from retold.models import RewriteResult, RewriteStatus
from retold.protocols import QueryRewriter
from retold.retrieve.request import MAX_QUERY_CHARS
from retold.text import require_text

logger = logging.getLogger(__name__)


class NoRewriter:
    """The rewriter of a deployment without one: every query stays as it is."""

    def rewrite(self, queries: Sequence[str], context: str | None) -> RewriteResult:
        """Return the queries unchanged; ``context`` is not looked at."""
        del context
        return RewriteResult(tuple(queries), "unchanged")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The queries to search with and how they came about."""

    queries: tuple[str, ...] = field(repr=False)
    status: RewriteStatus

    @property
    def shown(self) -> tuple[str, ...] | None:
        """Return the rewritten queries; None unless rewriting changed something."""
        return self.queries if self.status == "applied" else None


def rewrite_queries(
    queries: tuple[str, ...], context: str | None, rewriter: QueryRewriter, cfg: RewriteConfig
) -> Rewritten:
    """Ask the rewriter, when rewriting is on.

    ``context`` is already cut to ``max_context_chars``. A rewriter that is late, fails, or answers
    with another number of queries or one that could not be asked, leaves the raw queries in place
    with status ``failed``; a search never fails with it.
    """
    if not cfg.enabled:
        return Rewritten(queries, "disabled")
    try:
        answer = _one_phrase_each(rewriter.rewrite(queries, context), len(queries))
    except Exception as error:  # whatever an integrator's rewriter raises
        logger.warning("the query rewriter failed", extra={"error": type(error).__name__})
        return Rewritten(queries, "failed")
    return Rewritten(answer, "unchanged" if answer == queries else "applied")


def _one_phrase_each(result: RewriteResult, count: int) -> tuple[str, ...]:
    if len(result.queries) != count:
        raise RewriteError("the rewriter did not answer with one phrase per query")
    return tuple(require_text(query, "queries", MAX_QUERY_CHARS) for query in result.queries)
