"""An extractor that answers from a table, and a reviewer that answers as told."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from retold.ingest.extraction.transcript import eligible_turns
from retold.models import (
    NO_USAGE,
    CandidateRecord,
    ExtractionContext,
    ExtractionOutput,
    ReviewContext,
    ReviewDecision,
    ReviewItem,
    ReviewOutput,
    SessionSummary,
    TokenUsage,
    Turn,
)
from retold.protocols import Budget

PROVIDER = "fake"
ACCEPTED = ReviewDecision("accept", "as told")


class TableExtractor:
    """Propose the listed candidates whose key stands in a turn that may be evidence.

    ``table`` maps words to the candidates that they give, in the order of the turns. ``always``
    are proposed for every transcript, whatever it says. ``summary`` is the same for all. ``error``
    is raised instead. ``calls`` holds (transcript, context) of every call, failed ones too.
    """

    __test__ = False

    def __init__(
        self,
        table: Mapping[str, Sequence[CandidateRecord]] | None = None,
        *,
        always: Sequence[CandidateRecord] = (),
        summary: SessionSummary | None = None,
        usage: TokenUsage = NO_USAGE,
        error: Exception | None = None,
    ) -> None:
        """Take the table."""
        self.table = dict(table or {})
        self.always = tuple(always)
        self.summary = summary
        self.usage = usage
        self.error = error
        self.calls: list[tuple[tuple[Turn, ...], ExtractionContext]] = []
        self._lock = threading.Lock()

    def extract(
        self,
        transcript: Sequence[Turn],
        context: ExtractionContext,
        *,
        budget: Budget | None = None,
    ) -> ExtractionOutput:
        """Return what the table has for the transcript, each candidate once."""
        with self._lock:
            self.calls.append((tuple(transcript), context))
        _spend(budget, self.usage)
        if self.error is not None:
            raise self.error
        found = [
            candidate
            for turn in eligible_turns(transcript)
            for words, candidates in self.table.items()
            if words in turn.content
            for candidate in candidates
        ]
        candidates = tuple(dict.fromkeys((*found, *self.always)))
        return ExtractionOutput(
            candidates,
            self.summary,
            positions=tuple(range(len(candidates))),
            usage=self.usage,
            prompt_version="table",
        )


class FakeCandidateReviewer:
    """Decide by the content of a candidate; accept what is not listed.

    ``errors`` are raised first, one per call. ``calls`` holds (items, context) of every call,
    failed ones too.
    """

    __test__ = False

    def __init__(
        self,
        decisions: Mapping[str, ReviewDecision] | None = None,
        *,
        default: ReviewDecision = ACCEPTED,
        usage: TokenUsage = NO_USAGE,
        errors: Sequence[Exception] = (),
    ) -> None:
        """Take the decisions by content."""
        self.decisions = dict(decisions or {})
        self.default = default
        self.usage = usage
        self.errors = list(errors)
        self.calls: list[tuple[tuple[ReviewItem, ...], ReviewContext]] = []
        self._lock = threading.Lock()

    def review(
        self,
        items: Sequence[ReviewItem],
        context: ReviewContext,
        *,
        budget: Budget | None = None,
    ) -> ReviewOutput:
        """Return one decision per candidate."""
        with self._lock:
            self.calls.append((tuple(items), context))
            error = self.errors.pop(0) if self.errors else None
        _spend(budget, self.usage)
        if error is not None:
            raise error
        decisions = (self.decisions.get(item.candidate.content, self.default) for item in items)
        return ReviewOutput(tuple(decisions), self.usage, "table")


def _spend(budget: Budget | None, usage: TokenUsage) -> None:
    if budget is not None:
        budget.reserve(PROVIDER, usage.tokens)
        budget.settle(PROVIDER, usage.tokens, usage)
