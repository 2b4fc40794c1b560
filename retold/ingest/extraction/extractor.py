"""The extractor that asks a hosted model."""

from __future__ import annotations

from collections.abc import Sequence

from retold.config import IngestionConfig
from retold.errors import HostedError
from retold.ingest.extraction.prompts import EXTRACT_PROMPT, prompt_text
from retold.ingest.extraction.rendering import extraction_input
from retold.ingest.extraction.replies import (
    ReadExtraction,
    labels_of,
    read_extraction,
    require_extraction,
)
from retold.ingest.extraction.schemas import ExtractionReply, schema_of
from retold.ingest.extraction.summary import joined_summary
from retold.ingest.extraction.transcript import (
    MIN_TURNS,
    TranscriptBudget,
    Window,
    eligible_turns,
    windows_of,
)
from retold.models import (
    NO_USAGE,
    CompletionRequest,
    ExtractionContext,
    ExtractionOutput,
    Scope,
    TokenUsage,
    Turn,
)
from retold.protocols import Budget, CompletionClient


class StructuredLLMExtractor:
    """Ask once per window of the session; a session of usual length is one window."""

    def __init__(self, client: CompletionClient, cfg: IngestionConfig) -> None:
        """Take the client; nothing is sent."""
        self._client = client
        self._cfg = cfg
        self._schema = schema_of(ExtractionReply)

    def require_ready(self) -> None:
        """Check settings, package and key without sending anything; raises what the client does."""
        self._client.require_ready(self._cfg.extraction_model)

    def extract(
        self,
        transcript: Sequence[Turn],
        context: ExtractionContext,
        *,
        budget: Budget | None = None,
    ) -> ExtractionOutput:
        """Return what the model proposes.

        Raises HostedError, whose usage covers the windows before the one that failed too.
        """
        windows, left_out = windows_of(transcript, self._transcript_budget())
        if len(eligible_turns(transcript)) < MIN_TURNS:
            windows = ()
        read: list[ReadExtraction] = []
        usage = NO_USAGE
        for part, window in enumerate(windows, start=1):
            request = self._request(window, context, part, len(windows))
            position = sum(len(one.candidates) + len(one.rejected) for one in read)
            answer, used = self._ask(request, usage, budget)
            usage += used
            turns = {line.number: line.turn.turn for line in window.lines}
            known = labels_of(context.shown_records)
            read.append(read_extraction(answer, turns, known, first_position=position))
        proposed = [each for one in read for each in one.candidates]
        return ExtractionOutput(
            candidates=tuple(candidate for _, candidate in proposed),
            summary=joined_summary(one.summary for one in read),
            rejected=tuple(each for one in read for each in one.rejected),
            positions=tuple(position for position, _ in proposed),
            left_out=left_out,
            usage=usage,
            prompt_version=EXTRACT_PROMPT,
        )

    def _ask(
        self, request: CompletionRequest, before: TokenUsage, budget: Budget | None
    ) -> tuple[dict[str, object], TokenUsage]:
        """Return an answer with a list of candidates, and what it used."""
        try:
            completion = self._client.complete(request, budget=budget)
            before, used = before + completion.usage, completion.usage
            require_extraction(completion.value)
        except HostedError as error:
            error.details["usage"] = before + usage_of(error)
            raise
        return dict(completion.value), used

    def _request(
        self, window: Window, context: ExtractionContext, part: int, parts: int
    ) -> CompletionRequest:
        cfg = self._cfg
        return CompletionRequest(
            model=cfg.extraction_model,
            system=prompt_text(EXTRACT_PROMPT),
            prompt=extraction_input(
                window,
                context,
                part=part,
                parts=parts,
                max_candidates=cfg.extraction_max_candidates,
            ),
            schema=self._schema,
            task="extraction",
            scopes=_scopes(context),
            timeout_ms=cfg.extraction_timeout_ms,
            max_output_tokens=cfg.hosted_max_output_tokens,
        )

    def _transcript_budget(self) -> TranscriptBudget:
        return TranscriptBudget(
            self._cfg.extraction_max_turn_tokens,
            self._cfg.extraction_window_tokens,
            self._cfg.extraction_max_windows,
        )


def usage_of(error: HostedError) -> TokenUsage:
    """Return what the calls behind an error used; nothing when it does not say."""
    usage = error.details.get("usage")
    return usage if isinstance(usage, TokenUsage) else NO_USAGE


def _scopes(context: ExtractionContext) -> tuple[Scope, ...]:
    """Return every scope whose text stands in the prompt, the destination first."""
    records = (record.scope for record in context.shown_records)
    entities = (entity.scope for entity in context.entities)
    return tuple(dict.fromkeys((context.scope, *records, *entities)))
