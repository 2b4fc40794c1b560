"""The ports: what a test or an integrator may replace, with the contract each must keep."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from retold.models import (
    Completion,
    CompletionRequest,
    ExtractionContext,
    ExtractionOutput,
    Principal,
    ReviewContext,
    ReviewItem,
    ReviewOutput,
    RewriteResult,
    TokenUsage,
    Turn,
    Verdict,
)

Vectors = npt.NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turn text into vectors. Safe to call from several threads.

    ``name``, ``version`` and ``dims`` are the identity that the store remembers; they are known
    before the model is loaded. Raises EmbeddingError when the model fails, RetoldSetupError when
    it is not installed.
    """

    @property
    def name(self) -> str:
        """Name the model."""
        ...

    @property
    def version(self) -> str:
        """Name the weights and the preprocessing."""
        ...

    @property
    def dims(self) -> int:
        """Return the width of every vector."""
        ...

    @property
    def is_loaded(self) -> bool:
        """Return whether the next call runs without loading anything."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length, in the order of ``texts``."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dims) float32 rows of unit length, in the order of ``texts``."""
        ...


@runtime_checkable
class ScriptReader(Protocol):
    """What an embedder may say besides: which scripts it reads.

    One that says nothing counts as reading Latin script only: for a query in another one its
    cosines weigh less and open no gate. ``embedding.scripts`` overrules what is said here.
    """

    @property
    def scripts(self) -> Collection[str]:
        """Name scripts as ``embedding.scripts`` does: ``latin``, ``han`` and so on, or ``all``."""
        ...


class EmbeddedTexts(NamedTuple):
    """What one pass of a model says of some texts.

    ``vectors`` is what ``embed_documents`` or ``embed_queries`` returns; ``tokens`` holds for each
    text (n, dims) float32 rows of unit length, one per token that carries meaning, n at least 1.
    """

    vectors: Vectors
    tokens: Sequence[Vectors]


@runtime_checkable
class TokenEmbedder(Protocol):
    """What an embedder may offer besides: a vector for each token of a text.

    They come from the pass that makes the text's own vector. ``retrieval.late_interaction`` needs
    them. Which tokens carry meaning is the embedder's to say.
    """

    @property
    def offers_token_vectors(self) -> bool:
        """Return whether the calls below work; a wrapper answers for what it wraps."""
        ...

    def embed_queries_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the vectors of ``embed_queries``, and those of the tokens of each text."""
        ...

    def embed_documents_with_tokens(self, texts: Sequence[str]) -> EmbeddedTexts:
        """Return the vectors of ``embed_documents``, and those of the tokens of each text."""
        ...


@runtime_checkable
class EquivalenceJudge(Protocol):
    """Compare two claims, and a quote with a claim. Deterministic; safe across threads."""

    @property
    def name(self) -> str:
        """Name the judge and its version; kept beside every score it gives."""
        ...

    def judge(self, a: str, b: str) -> Verdict:
        """Compare the older claim ``a`` with the newer ``b``."""
        ...

    def support(self, quote: str, claim: str, *, names: Sequence[str] = ()) -> Verdict | None:
        """Say how far the quote supports the claim; ``Verdict.entails`` carries the score.

        ``names`` are the principal's names, folded with the first person to one token. None
        means the pair cannot be scored, for example across scripts.
        """
        ...


@runtime_checkable
class Reranker(Protocol):
    """Score documents against one query. Deterministic; safe across threads."""

    @property
    def name(self) -> str:
        """Name the model."""
        ...

    def score(self, query: str, docs: Sequence[str]) -> Sequence[float]:
        """Return one score in [0, 1] per document, in order; higher is better.

        A score comes from its pair alone, whatever else is scored beside it.
        """
        ...


@runtime_checkable
class QueryRewriter(Protocol):
    """Turn raw queries into standalone ones; sees queries and context, never candidates."""

    def rewrite(self, queries: Sequence[str], context: str | None) -> RewriteResult:
        """Return as many queries as were given. Raises TimeoutError or RewriteError."""
        ...


@runtime_checkable
class Budget(Protocol):
    """Keep the tokens that hosted calls use below a limit. Safe across threads.

    Tokens are set aside before a request leaves and settled after it, so that calls side by side
    stay below the limit together. What is never settled, because the process died, stays counted.
    """

    def reserve(self, provider: str, tokens: int) -> None:
        """Set the most that one request may use aside. Raises BudgetExhausted for too many."""
        ...

    def settle(self, provider: str, reserved: int, used: TokenUsage) -> None:
        """Replace what was set aside by what was used; ``used.calls`` is 0 if nothing left."""
        ...


@runtime_checkable
class CompletionClient(Protocol):
    """Ask a hosted model one question. Safe across threads.

    Nothing of a prompt, an answer or a key stands in a log, in an error or in its repr. Every
    HostedError carries in ``details["usage"]`` the TokenUsage of the requests that went out.
    """

    def require_ready(self, model: str) -> None:
        """Check settings, package and key without sending anything.

        Raises RetoldSetupError naming what is missing, HostedNotAllowed when hosted calls are
        switched off.
        """
        ...

    def complete(self, request: CompletionRequest, *, budget: Budget | None = None) -> Completion:
        """Return the model's answer within ``request.timeout_ms``, retries included.

        ``budget`` limits this call beside what the client itself is limited by. Raises what
        ``require_ready`` raises, and a HostedError: HostedNotAllowed or BudgetExhausted before a
        byte leaves, ProviderOutage (ModelTimeout when the time is over), ProviderNotConfigured,
        InvalidCompletion for a refusal or no JSON object, ProviderError for anything else.
        """
        ...


@runtime_checkable
class Extractor(Protocol):
    """Propose what is worth remembering from a finished session. Safe across threads.

    Nothing it answers is believed: every proposal is held against the transcript afterwards.
    """

    def extract(
        self,
        transcript: Sequence[Turn],
        context: ExtractionContext,
        *,
        budget: Budget | None = None,
    ) -> ExtractionOutput:
        """Return candidates, each with its position, and a summary; both may lack.

        Only dialogue and results of tools that were not blanked are looked at. A proposal that
        cannot be read is in ``rejected`` and costs only itself. Raises HostedError.
        """
        ...


@runtime_checkable
class CandidateReviewer(Protocol):
    """Judge the candidates of one session, all at once. Safe across threads."""

    def review(
        self,
        items: Sequence[ReviewItem],
        context: ReviewContext,
        *,
        budget: Budget | None = None,
    ) -> ReviewOutput:
        """Return one decision per candidate, in their order; none for no candidates.

        An answer that lacks a candidate is none: raises HostedError, and nothing is stored.
        """
        ...


@runtime_checkable
class JobQueue(Protocol):
    """Ring the doorbell of the background workers; the store holds the to-do list.

    Safe across threads. The same session may be announced again.
    """

    def request_extraction(self, session_id: str) -> None:
        """Announce that a session waits for extraction. Never raises and never blocks long."""
        ...


@runtime_checkable
class RecordActivator(Protocol):
    """Decide whether a written record may become ambient. Never raises.

    A record that is absent, or that the principal may not read, stays conditional.
    """

    def activate_written(
        self, principal: Principal, record_id: str, *, actor: str
    ) -> tuple[Literal["conditional", "ambient"], str | None]:
        """Return the activation after the decision and its reason."""
        ...


@runtime_checkable
class ContentPolicy(Protocol):
    """Redact or refuse text before it is stored, logged or queued anywhere.

    Deterministic; safe across threads. A text that it returned passes unchanged the next time,
    and ``turn`` and ``write`` keep the same of one text: a claim quotes a turn.
    """

    def apply(self, text: str, *, where: Literal["turn", "write", "query"]) -> str:
        """Return the text to keep, which is not blank.

        Raises InvalidInput, naming a class of content and nothing of the text, to refuse it.
        """
        ...
