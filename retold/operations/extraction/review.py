"""The second step: have the staged candidates reviewed, and store all of them or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from retold.config import RetoldConfig
from retold.errors import DraftLost, ScopeNotWritable, StaleComparison, WriteContended
from retold.hosted import run_budget
from retold.ingest.extraction.candidates import (
    ValidCandidate,
    ground_of_claims,
    validate_candidates,
)
from retold.ingest.extraction.decisions import apply_decision
from retold.ingest.extraction.drafts import StagedRun, read_candidate, read_run
from retold.ingest.ingestor import Ingestor
from retold.models import (
    CandidateRecord,
    ExtractionContext,
    RejectedCandidate,
    ReviewContext,
    ReviewDecision,
    ReviewItem,
    ReviewOutput,
)
from retold.operations.extraction.claimed_budget import ClaimedBudget
from retold.operations.extraction.commit import Commitment, Committed, Prepared, Reviewed
from retold.operations.extraction.ground import Ground, context_of, ground_of, with_subject
from retold.operations.extraction.rules import candidate_rules, may_leave
from retold.protocols import CandidateReviewer
from retold.store import Store, Transaction
from retold.store.claims import Claim
from retold.util import Timer


@dataclass(frozen=True, slots=True)
class _Opened:
    """What was staged, held against the transcript as it is now."""

    ground: Ground
    staged: StagedRun
    kept: tuple[ValidCandidate, ...]
    items: tuple[ReviewItem, ...]
    rejected: tuple[RejectedCandidate, ...]


class ReviewStep:
    """Do the second step of a run. Models are asked outside every transaction.

    A reviewer that fails stores nothing: the drafts stay, and only this step is done again.
    """

    def __init__(
        self,
        store: Store,
        ingestor: Ingestor,
        config: RetoldConfig,
        reviewer: CandidateReviewer,
    ) -> None:
        """Take the parts; nothing is read yet."""
        self._store = store
        self._config = config
        self._rules = candidate_rules(config)
        self._reviewer = reviewer
        self._commitment = Commitment(ingestor, config)

    def run(self, claim: Claim, renew: Callable[[], None]) -> Committed:
        """Store what the review leaves and note the segment as extracted.

        Raises HostedError, ClaimLost, DraftLost, WriteContended when others kept changing what the
        candidates were compared with, and what models and store raise; nothing is stored then.
        """
        timer = Timer()
        with timer.stage("validation"), self._store.read() as tx:
            opened = self._open(tx, claim.session_id)
        renew()
        with timer.stage("candidate_review"):
            review = self._reviewed(opened, renew)
        renew()
        decisions = {
            valid.position: decision
            for valid, decision in zip(opened.kept, review.decisions, strict=True)
        }
        reviewed = Reviewed(claim, opened.staged, review, decisions)
        return self._commit(reviewed, opened, timer)

    def _open(self, tx: Transaction, session_id: str) -> _Opened:
        ground = ground_of(tx, session_id)
        context = context_of(tx, ground, self._config, may_leave(self._config))
        staged, candidates = _staged(tx, session_id)
        again = validate_candidates(
            candidates.items(),
            ground.turns,
            context,
            replace(self._rules, max_candidates=len(candidates)),
            forgotten=ground.forgotten,
        )
        beside = [(one, with_subject(tx, ground, one, self._config)) for one in again.kept]
        refused = [found for _, found in beside if isinstance(found, RejectedCandidate)]
        return _Opened(
            ground,
            staged,
            tuple(one for one, found in beside if isinstance(found, ReviewItem)),
            tuple(found for _, found in beside if isinstance(found, ReviewItem)),
            (*again.rejected, *refused),
        )

    def _reviewed(self, opened: _Opened, renew: Callable[[], None]) -> ReviewOutput:
        if not opened.items:
            return ReviewOutput(())
        ground = opened.ground
        budget = run_budget(self._config.hosted)
        # The run's limit is over both steps together.
        budget.settle("", 0, opened.staged.usage)
        context = ReviewContext(ground.shown, ground.scope, ground.names)
        return self._reviewer.review(opened.items, context, budget=ClaimedBudget(budget, renew))

    def _commit(self, reviewed: Reviewed, opened: _Opened, timer: Timer) -> Committed:
        """Decide, compare and store until nothing changed in between."""
        began = timer.total_ms()
        prepared: Prepared | None = None
        while True:
            try:
                with self._store.read() as tx:
                    ground = ground_of(tx, reviewed.claim.session_id)
                    context = context_of(tx, ground, self._config, may_leave(self._config))
                if prepared is None or prepared.ground != ground:
                    decided = self._decided(reviewed.decisions, opened, ground, context)
                    prepared = self._commitment.prepare(reviewed, ground, context, decided)
                with timer.stage("dedup_and_contradiction"):
                    prepared.batch.compare()
                with self._store.write() as tx:
                    tx.claims.end(reviewed.claim)
                    _require_same(tx, prepared.ground)
                    return self._commitment.store(tx, reviewed, prepared, timer)
            except (StaleComparison, ScopeNotWritable) as changed:
                waited = timer.total_ms() - began
                if waited > self._config.store.busy_timeout_seconds * 1000:
                    raise WriteContended from changed

    def _decided(
        self,
        decisions: Mapping[int, ReviewDecision],
        opened: _Opened,
        ground: Ground,
        context: ExtractionContext,
    ) -> tuple[tuple[ValidCandidate, ...], tuple[RejectedCandidate, ...]]:
        """Return what the decisions leave and what not, on the transcript as it is now."""
        kept: list[ValidCandidate] = []
        rejected = list(opened.rejected)
        claims = ground_of_claims(ground.turns, context, self._rules, forgotten=ground.forgotten)
        for valid in opened.kept:
            result = apply_decision(valid, decisions[valid.position], claims)
            if isinstance(result, RejectedCandidate):
                rejected.append(result)
            else:
                kept.append(result)
        return tuple(kept), tuple(rejected)


def _require_same(tx: Transaction, ground: Ground) -> None:
    """Raise StaleComparison when words, what was forgotten of them, or rights have changed."""
    if ground_of(tx, ground.session.id) != ground:
        raise StaleComparison


def _staged(tx: Transaction, session_id: str) -> tuple[StagedRun, dict[int, CandidateRecord]]:
    """Return what the first step left, candidates by position. Raises DraftLost."""
    drafts = tx.extraction.list_drafts(session_id)
    try:
        runs = [read_run(one.text) for one in drafts if one.kind == "summary"]
        candidates = {
            one.position: read_candidate(one.text) for one in drafts if one.kind == "candidate"
        }
    except ValueError:
        raise DraftLost from None
    if not runs:
        raise DraftLost
    return runs[0], candidates
