"""The query rewriter that asks a hosted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from retold.config.retrieval import RewriteConfig
from retold.errors import HostedError, ModelTimeout, RewriteError
from retold.models import CompletionRequest, JsonSchema, RewriteResult, Scope
from retold.protocols import CompletionClient
from retold.retrieve.request import MAX_QUERY_CHARS
from retold.text import normalize_ws, require_text
from retold.text.blocks import as_line, framed
from retold.text.inventions import invented_words

REWRITE_PROMPT: Final = "rewrite-1"
MAX_QUERIES: Final = 3
_SOURCE: Final = "rewrite_v1.md"
SCHEMA: Final[JsonSchema] = {
    "type": "object",
    "properties": {"queries": {"type": "array", "items": {"type": "string"}}},
    "required": ["queries"],
    "additionalProperties": False,
}


class RewriteReply(BaseModel):
    """The answer to the rewrite prompt."""

    model_config = ConfigDict(strict=True)

    queries: list[str]


class HostedLLMQueryRewriter:
    """Ask a hosted model once per search, on behalf of one principal.

    ``scopes`` are those of the principal whose words the queries and the context are; making one
    of these costs nothing, so that every principal has their own.
    """

    def __init__(
        self, client: CompletionClient, cfg: RewriteConfig, scopes: Sequence[Scope]
    ) -> None:
        """Take the client; nothing is sent."""
        self._client = client
        self._cfg = cfg
        self._scopes = tuple(scopes)

    def rewrite(self, queries: Sequence[str], context: str | None) -> RewriteResult:
        """Return as many queries as were given.

        Raises TimeoutError when the model is late, RewriteError when it fails, answers with
        another number of queries, or names or counts something that neither the queries nor the
        context do.
        """
        raw = tuple(queries)
        request = rewrite_request(raw, context, self._cfg, self._scopes)
        try:
            completion = self._client.complete(request)
        except ModelTimeout:
            raise
        except HostedError as error:
            raise RewriteError(f"the hosted rewriter failed: {error.code}") from error
        rewritten = read_rewrite(completion.value, raw, context)
        return RewriteResult(rewritten, "unchanged" if rewritten == raw else "applied")


def rewrite_request(
    queries: Sequence[str], context: str | None, cfg: RewriteConfig, scopes: Sequence[Scope]
) -> CompletionRequest:
    """Return the question about some queries; the context's last characters count most."""
    shown = (context or "")[-cfg.max_context_chars :] if cfg.max_context_chars else ""
    numbered = (
        as_line({"query": number, "text": query}) for number, query in enumerate(queries, start=1)
    )
    prompt = "\n\n".join(
        (
            framed("context", [as_line({"text": shown})] if shown else ()),
            framed("queries", numbered),
        )
    )
    return CompletionRequest(
        model=cfg.model,
        system=prompt_text(),
        prompt=prompt,
        schema=SCHEMA,
        task="rewrite",
        scopes=tuple(scopes),
        timeout_ms=cfg.timeout_ms,
        max_output_tokens=cfg.max_output_tokens,
    )


def read_rewrite(
    value: Mapping[str, object], queries: Sequence[str], context: str | None
) -> tuple[str, ...]:
    """Return the rewritten queries, white space collapsed; a clear query is as it was.

    Raises RewriteError for another number of queries than were given or more than three, for one
    that cannot be asked, and for one with a name, number or date from nowhere.
    """
    try:
        answered = RewriteReply.model_validate(value).queries
    except (ValidationError, RecursionError):
        raise RewriteError("the rewriter did not answer with a list of queries") from None
    if len(answered) != len(queries) or len(answered) > MAX_QUERIES:
        raise RewriteError("the rewriter did not answer with one phrase per query")
    sources = (*queries, context or "")
    return tuple(_usable(raw, new, sources) for raw, new in zip(queries, answered, strict=True))


@cache
def prompt_text() -> str:
    """Return the system prompt, without a line break at its end."""
    folder = resources.files("retold.retrieve").joinpath("prompts")
    return folder.joinpath(_SOURCE).read_text(encoding="utf-8").strip()


def _usable(raw: str, new: str, sources: Sequence[str]) -> str:
    if normalize_ws(new) == normalize_ws(raw):
        return raw
    try:
        require_text(new, "queries", MAX_QUERY_CHARS)
    except ValueError as blank:
        raise RewriteError("the rewriter answered with a phrase that cannot be asked") from blank
    if invented_words(new, sources):
        raise RewriteError("the rewriter named something that the turn does not hold")
    return normalize_ws(new)
