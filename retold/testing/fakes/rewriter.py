"""A query rewriter that answers from a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retold.models import RewriteResult


class FakeRewriter:
    """Rewrite each listed query and leave the others; remember what was asked.

    ``calls`` holds (queries, context) of every call. ``result`` is returned as it is when given,
    a wrong number of queries included. ``error`` is raised instead: RewriteError, or TimeoutError
    for a rewriter that was too slow.
    """

    __test__ = False

    def __init__(
        self,
        rewrites: Mapping[str, str] | None = None,
        *,
        result: RewriteResult | None = None,
        error: Exception | None = None,
    ) -> None:
        """Take the table from raw to rewritten query, or one fixed answer."""
        self.rewrites = dict(rewrites or {})
        self.result = result
        self.error = error
        self.calls: list[tuple[tuple[str, ...], str | None]] = []

    def rewrite(self, queries: Sequence[str], context: str | None) -> RewriteResult:
        """Return as many queries as were given, unless a fixed result says otherwise."""
        raw = tuple(queries)
        self.calls.append((raw, context))
        if self.error is not None:
            raise self.error
        if self.result is not None:
            return self.result
        rewritten = tuple(self.rewrites.get(query, query) for query in raw)
        return RewriteResult(rewritten, "unchanged" if rewritten == raw else "applied")
