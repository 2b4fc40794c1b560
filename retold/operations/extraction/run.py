"""A run of the extraction in its two steps, as ``ExtractionSteps`` has them done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from retold.config import RetoldConfig
from retold.ingest.ingestor import Ingestor
from retold.operations.extraction.extract import ExtractStep
from retold.operations.extraction.review import ReviewStep
from retold.policy.activation import activation_of
from retold.protocols import CandidateReviewer, Extractor, RecordActivator
from retold.store import Store
from retold.store.claims import Claim


@runtime_checkable
class NeedsSetup(Protocol):
    """A part that can say whether it could do its work, without doing any."""

    def require_ready(self) -> None:
        """Raise RetoldSetupError naming what is missing, or HostedNotAllowed."""
        ...


class ExtractionRun:
    """Do the steps of a run. Safe across threads, and across processes on one store."""

    def __init__(
        self,
        store: Store,
        ingestor: Ingestor,
        config: RetoldConfig,
        *,
        extractor: Extractor,
        reviewer: CandidateReviewer,
        activator: RecordActivator,
    ) -> None:
        """Take the parts; nothing is loaded, read or sent."""
        self._parts = (extractor, reviewer)
        self._activator = activator
        self._extract = ExtractStep(store, config, extractor)
        self._review = ReviewStep(store, ingestor, config, reviewer)

    def require_ready(self) -> None:
        """Check what the models need without sending anything.

        Raises RetoldSetupError naming what is missing, HostedNotAllowed when hosted models are
        switched off.
        """
        for part in self._parts:
            if isinstance(part, NeedsSetup):
                part.require_ready()

    def __call__(self, claim: Claim, renew: Callable[[], None]) -> None:
        """Do the claimed step and commit it; see ``StepWork``."""
        if claim.stage == "extract":
            self._extract.run(claim, renew)
            return
        done = self._review.run(claim, renew)
        for record_id in done.facts:
            activation_of(self._activator, done.principal, record_id)
