"""The first step: have candidates proposed, hold them against the transcript, stage them."""

from __future__ import annotations

from collections.abc import Callable

from retold.config import RetoldConfig
from retold.hosted import run_budget
from retold.ingest.extraction.candidates import Validated, validate_candidates
from retold.ingest.extraction.checks import ACTOR
from retold.ingest.extraction.drafts import (
    StagedRun,
    candidate_text,
    rejection_text,
    run_text,
    transcript_digest,
)
from retold.ingest.extraction.transcript import MIN_TURNS
from retold.models import ExtractionContext, ExtractionOutput, Turn
from retold.operations.extraction.claimed_budget import ClaimedBudget
from retold.operations.extraction.ground import Ground, context_of, ground_of
from retold.operations.extraction.rules import candidate_rules, may_leave
from retold.operations.extraction.tally import proposed_count, staged_facts
from retold.protocols import Extractor
from retold.store import Store, Transaction
from retold.store.claims import Claim
from retold.store.extraction import Draft, Rejection
from retold.util import Timer

NOTHING = ExtractionOutput((), None)


class ExtractStep:
    """Do the first step of a run. The model is asked outside every transaction."""

    def __init__(self, store: Store, config: RetoldConfig, extractor: Extractor) -> None:
        """Take the parts; nothing is read yet."""
        self._store = store
        self._config = config
        self._rules = candidate_rules(config)
        self._extractor = extractor

    def run(self, claim: Claim, renew: Callable[[], None]) -> bool:
        """Stage what may be reviewed and hand the segment on to the review.

        Returns whether the model was asked. Raises HostedError, ClaimLost and what the store
        raises; nothing is staged then.
        """
        timer = Timer()
        with timer.stage("transcript_prep"), self._store.read() as tx:
            ground = ground_of(tx, claim.session_id)
            context = context_of(tx, ground, self._config, may_leave(self._config))
        renew()
        with timer.stage("extractor_model"):
            output = self._proposed(ground.shown, context, renew)
        with timer.stage("validation"):
            validated = validate_candidates(
                zip(output.positions, output.candidates, strict=True),
                ground.turns,
                context,
                self._rules,
                forgotten=ground.forgotten,
            )
        with self._store.write() as tx:
            tx.claims.end(claim)
            self._stage(tx, ground, output, validated)
            tx.claims.advance(claim.session_id)
            tx.events.append(
                "extraction.staged",
                ACTOR,
                session_id=claim.session_id,
                user_id=ground.session.user_id,
                payload={
                    "mode": claim.mode,
                    "attempt": claim.attempt,
                    **staged_facts(output, validated),
                    "timings_ms": {**timer.stages, "total": timer.total_ms()},
                },
            )
        return output is not NOTHING

    def _proposed(
        self, shown: tuple[Turn, ...], context: ExtractionContext, renew: Callable[[], None]
    ) -> ExtractionOutput:
        if len(shown) < MIN_TURNS:
            return NOTHING
        budget = ClaimedBudget(run_budget(self._config.hosted), renew)
        return self._extractor.extract(shown, context, budget=budget)

    @staticmethod
    def _stage(
        tx: Transaction, ground: Ground, output: ExtractionOutput, validated: Validated
    ) -> None:
        session_id, version = ground.session.id, output.prompt_version
        run = StagedRun(
            proposed_count(output),
            transcript_digest(ground.shown),
            output.summary,
            output.usage,
            version,
        )
        drafts = [Draft("summary", 0, run_text(run), version)]
        drafts += [
            Draft("candidate", one.position, candidate_text(one.candidate), version)
            for one in validated.kept
        ]
        tx.extraction.stage(session_id, drafts)
        tx.extraction.forget_rejections(session_id)
        for refused in (*output.rejected, *validated.rejected):
            tx.extraction.reject(session_id, Rejection(refused.reason, rejection_text(refused)))
