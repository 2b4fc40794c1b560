"""The optional stage that turns raw queries into standalone ones."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from retold.config.retrieval import RewriteConfig
from retold.errors import RetoldError, RewriteError
from retold.models import Principal, RewriteResult, RewriteStatus, Scope
from retold.policy.grants import readable_scopes
from retold.protocols import CompletionClient, QueryRewriter
from retold.retrieve.request import MAX_QUERY_CHARS
from retold.store import Store
from retold.text import require_text

logger = logging.getLogger(__name__)

RewriterFor = Callable[[Principal], QueryRewriter]
"""Who rewrites for one principal; calling it may read the store."""


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


def rewriter_from_config(
    cfg: RewriteConfig,
    store: Store,
    *,
    given: QueryRewriter | None = None,
    client: CompletionClient | None = None,
) -> RewriterFor:
    """Return who rewrites: the one that was given, else a hosted model when rewriting is on."""
    if given is not None:
        return lambda _: given
    if not cfg.enabled or client is None:
        return lambda _: NoRewriter()

    def hosted(principal: Principal) -> QueryRewriter:
        from retold.retrieve.hosted_rewrite import HostedLLMQueryRewriter

        return HostedLLMQueryRewriter(client, cfg, scopes_of_words(store, principal))

    return hosted


def scopes_of_words(store: Store, principal: Principal) -> tuple[Scope, ...]:
    """Return every scope whose text a principal's queries and their context may repeat.

    These are both personal scopes and the project's, granted or not, for the words are the
    user's; and whatever the principal may read, for the assistant's last turn may quote it.
    """
    own = [principal.user_scope]
    if principal.project_id is not None:
        own.append(Scope("project", principal.project_id))
    with store.read() as tx:
        readable = readable_scopes(tx, principal)  # the private one is always among them
    return tuple(dict.fromkeys((*readable, *own)))


def rewrite_queries(
    queries: tuple[str, ...], context: str | None, rewriter: QueryRewriter, cfg: RewriteConfig
) -> Rewritten:
    """Ask the rewriter, when rewriting is on.

    ``context`` is already cut to ``max_context_chars``. A rewriter that takes longer than
    ``timeout_ms``, fails, or answers with another number of queries or one that could not be
    asked, leaves the raw queries in place with status ``failed``; a search never fails with it.
    """
    if not cfg.enabled:
        return Rewritten(queries, "disabled")
    try:
        result = _answer_within(rewriter, queries, context, cfg.timeout_ms)
        answer = _one_phrase_each(result, len(queries))
    except Exception as error:  # whatever an integrator's rewriter raises
        facts = {"error": type(error).__name__, "reason": _code(error)}
        logger.warning("the query rewriter failed", extra=facts)
        return Rewritten(queries, "failed")
    return Rewritten(answer, "unchanged" if answer == queries else "applied")


def _answer_within(
    rewriter: QueryRewriter, queries: tuple[str, ...], context: str | None, timeout_ms: int
) -> RewriteResult:
    """Return the answer, or raise TimeoutError and leave a late rewriter alone."""
    # Loaded here: it comes with the client of hosted models, which most searches do without.
    from retold.hosted.deadline import within

    result = within(timeout_ms / 1000, lambda: rewriter.rewrite(queries, context))
    if result is None:
        raise TimeoutError
    return result


def _code(error: Exception) -> str | None:
    """Return the code of what went wrong at bottom; None for an error that is not ours."""
    for one in (error.__cause__, error):
        if isinstance(one, RetoldError):
            return one.code
    return None


def _one_phrase_each(result: RewriteResult, count: int) -> tuple[str, ...]:
    if len(result.queries) != count:
        raise RewriteError("the rewriter did not answer with one phrase per query")
    return tuple(require_text(query, "queries", MAX_QUERY_CHARS) for query in result.queries)
