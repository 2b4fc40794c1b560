"""The transaction of a run: memories, refusals, summary, counts, and the claim given back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from retold.config import RetoldConfig
from retold.errors import RequestError
from retold.ingest.batch import NEW_ROW, ClaimBatch
from retold.ingest.extraction.candidates import ValidCandidate
from retold.ingest.extraction.checks import ACTOR, request_of
from retold.ingest.extraction.drafts import StagedRun, rejection_text, transcript_digest
from retold.ingest.extraction.summary import summary_text
from retold.ingest.ingestor import Ingestor
from retold.ingest.plan import Applied, Plan
from retold.models import (
    ExtractionContext,
    Principal,
    RejectedCandidate,
    ReviewDecision,
    ReviewOutput,
)
from retold.operations.extraction.ground import Ground
from retold.operations.extraction.tally import (
    refused_by_store,
    rejection_facts,
    review_facts,
    usage_facts,
    write_facts,
)
from retold.store import Transaction
from retold.store.claims import Claim
from retold.store.extraction import Rejection
from retold.util import Timer


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What models have said; ``decisions`` are by the position of the candidate."""

    claim: Claim
    staged: StagedRun
    review: ReviewOutput
    decisions: Mapping[int, ReviewDecision]


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is to be stored if the ground is still the same; ``summary`` None stores none."""

    ground: Ground
    kept: tuple[ValidCandidate, ...]
    rejected: tuple[RejectedCandidate, ...]
    batch: ClaimBatch
    summary: Plan | None


@dataclass(frozen=True, slots=True)
class Committed:
    """What a run stored: the ids of new records that hold facts.

    ``asked`` says whether there was something to ask a reviewer about.
    """

    principal: Principal
    facts: tuple[str, ...]
    asked: bool


class Commitment:
    """Prepare and store the outcome of a run."""

    def __init__(self, ingestor: Ingestor, config: RetoldConfig) -> None:
        """Take the way in that every claim goes."""
        self._ingestor = ingestor
        self._config = config

    def prepare(
        self,
        reviewed: Reviewed,
        ground: Ground,
        context: ExtractionContext,
        decided: tuple[tuple[ValidCandidate, ...], tuple[RejectedCandidate, ...]],
    ) -> Prepared:
        """Plan every claim and the summary; models run here. Raises what ``Ingestor`` does."""
        kept, rejected = decided
        requests = [request_of(one.candidate, context) for one in kept]
        return Prepared(
            ground,
            kept,
            rejected,
            self._ingestor.batch(ground.principal, ground.session, requests),
            self._summary(reviewed.staged, ground),
        )

    def store(
        self, tx: Transaction, reviewed: Reviewed, prepared: Prepared, timer: Timer
    ) -> Committed:
        """Store all of it and finish the segment; the claim was proven before.

        Raises StaleComparison, after which nothing of the transaction may stand.
        """
        session = prepared.ground.session
        with timer.stage("writes"):
            results = prepared.batch.store(tx)
        refused = [
            refused_by_store(one, result)
            for one, result in zip(prepared.kept, results, strict=True)
            if isinstance(result, RequestError)
        ]
        for each in (*prepared.rejected, *refused):
            tx.extraction.reject(session.id, Rejection(each.reason, rejection_text(each)))
        with timer.stage("summary_write"):
            summary = self._store_summary(tx, prepared)
        reasons = [one.reason for one in tx.extraction.list_rejections(session.id)]
        tx.extraction.unstage(session.id)
        tx.claims.finish(session.id)
        staged, review = reviewed.staged, reviewed.review
        tx.events.append(
            "extraction.run",
            ACTOR,
            session_id=session.id,
            user_id=session.user_id,
            payload={
                "mode": reviewed.claim.mode,
                "attempt": reviewed.claim.attempt,
                "proposed": staged.proposed,
                **review_facts(review.decisions),
                **write_facts(results),
                **rejection_facts(reasons),
                "summary": summary is not None,
                **usage_facts(staged.usage + review.usage),
                "extractor_prompt": staged.prompt_version,
                "reviewer_prompt": review.prompt_version,
                "timings_ms": {**timer.stages, "total": timer.total_ms()},
            },
        )
        new = [one for one in results if isinstance(one, Applied) and one.kind in NEW_ROW]
        return Committed(
            prepared.ground.principal,
            tuple(one.record_id for one in new),
            asked=bool(review.decisions),
        )

    def _summary(self, staged: StagedRun, ground: Ground) -> Plan | None:
        """Return the plan of the summary; None when there is nothing to tell or it is refused.

        What a model wrote about words that were blanked or forgotten since is not used.
        """
        shown = ground.shown
        said = staged.summary if transcript_digest(shown) == staged.transcript else None
        text = summary_text(said, shown, max_chars=self._config.ingestion.summary_max_chars)
        if text is None:
            return None
        mentions = () if said is None else said.mentions
        try:
            return self._ingestor.summary(
                ground.principal, ground.session, text, mentions=mentions, actor=ACTOR
            )
        except RequestError:
            return None

    def _store_summary(self, tx: Transaction, prepared: Prepared) -> Applied | None:
        if prepared.summary is None:
            return None
        try:
            with tx.savepoint():
                return self._ingestor.store_summary(tx, prepared.summary, prepared.ground.session)
        except RequestError:
            return None
