"""The reviewer that asks a hosted model."""

from __future__ import annotations

from collections.abc import Sequence

from retold.config import IngestionConfig
from retold.errors import HostedError, InvalidCompletion
from retold.ingest.extraction.batches import batches_of
from retold.ingest.extraction.decisions import read_review
from retold.ingest.extraction.extractor import usage_of
from retold.ingest.extraction.prompts import REVIEW_PROMPT, prompt_text
from retold.ingest.extraction.rendering import review_cost, review_input
from retold.ingest.extraction.schemas import ReviewReply, schema_of
from retold.models import (
    NO_USAGE,
    CompletionRequest,
    ReviewContext,
    ReviewDecision,
    ReviewItem,
    ReviewOutput,
)
from retold.protocols import Budget, CompletionClient

Numbered = tuple[int, ReviewItem]


class StructuredLLMCandidateReviewer:
    """Ask once about all candidates of a session, or in batches when they do not fit."""

    def __init__(self, client: CompletionClient, cfg: IngestionConfig) -> None:
        """Take the client; nothing is sent."""
        self._client = client
        self._cfg = cfg
        self._schema = schema_of(ReviewReply)

    def require_ready(self) -> None:
        """Check settings, package and key without sending anything; raises what the client does."""
        self._client.require_ready(self._cfg.review_model)

    def review(
        self,
        items: Sequence[ReviewItem],
        context: ReviewContext,
        *,
        budget: Budget | None = None,
    ) -> ReviewOutput:
        """Return one decision per candidate, in order.

        Candidates that an answer leaves out are asked about once more, together; those that are
        left out again fail the review with InvalidCompletion. Raises HostedError, whose usage
        covers all calls of the review.
        """
        numbered = list(enumerate(items, start=1))
        decided: dict[int, ReviewDecision] = {}
        usage = NO_USAGE
        try:
            for _ in range(2):
                missing = [each for each in numbered if each[0] not in decided]
                for batch in self._batches(missing, context):
                    completion = self._client.complete(self._request(batch, context), budget=budget)
                    usage += completion.usage
                    decided |= read_review(completion.value, [number for number, _ in batch])
            self._require_all(decided, len(items))
        except HostedError as error:
            error.details["usage"] = usage + usage_of(error)
            raise
        decisions = tuple(decided[number] for number, _ in numbered)
        return ReviewOutput(decisions, usage, REVIEW_PROMPT)

    def _batches(
        self, items: Sequence[Numbered], context: ReviewContext
    ) -> tuple[tuple[Numbered, ...], ...]:
        def cost(numbered: Numbered) -> int:
            return review_cost(
                numbered[1], context, max_turn_tokens=self._cfg.extraction_max_turn_tokens
            )

        return batches_of(items, cost, max_tokens=self._cfg.review_batch_tokens)

    def _request(self, batch: Sequence[Numbered], context: ReviewContext) -> CompletionRequest:
        cfg = self._cfg
        live = (record.scope for _, item in batch for record in item.live_records)
        return CompletionRequest(
            model=cfg.review_model,
            system=prompt_text(REVIEW_PROMPT),
            prompt=review_input(batch, context, max_turn_tokens=cfg.extraction_max_turn_tokens),
            schema=self._schema,
            task="review",
            scopes=tuple(dict.fromkeys((context.scope, *live))),
            timeout_ms=cfg.review_timeout_ms,
            max_output_tokens=cfg.hosted_max_output_tokens,
        )

    @staticmethod
    def _require_all(decided: dict[int, ReviewDecision], count: int) -> None:
        missing = count - len(decided)
        if missing:
            raise InvalidCompletion(f"the reviewer left out {missing} of {count} candidates")
