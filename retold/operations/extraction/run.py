"""A run of the extraction in its two steps, as ``ExtractionSteps`` has them done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from retold.config import RetoldConfig
from retold.errors import HostedNotAllowed
from retold.ingest.ingestor import Ingestor
from retold.models import NO_USAGE, Principal
from retold.operations.extraction.extract import ExtractStep
from retold.operations.extraction.review import ReviewStep
from retold.policy.activation import activation_of
from retold.policy.grants import default_scope
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
        self._store = store
        self._config = config
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

    def require_allowed(self, principal: Principal) -> None:
        """Check that text of the scope where the principal's memories go may leave the machine.

        Models that need no setup are here already, and nothing leaves. Raises HostedNotAllowed.
        """
        hosted = self._config.hosted
        if not any(isinstance(part, NeedsSetup) for part in self._parts):
            return
        if not hosted.enabled:
            raise HostedNotAllowed(
                "extraction asks a hosted model, and hosted.enabled switches them off; switch them "
                "on, or give an extractor and a reviewer of your own",
                usage=NO_USAGE,
            )
        with self._store.read() as tx:
            scope = default_scope(principal, tx.grants.list_for(principal.agent_id))
        if not hosted.allows(str(scope)):
            raise HostedNotAllowed(
                f"text of {str(scope)!r} may not go to a hosted model: "
                "hosted.allow_scopes does not name it",
                usage=NO_USAGE,
            )

    def __call__(self, claim: Claim, renew: Callable[[], None]) -> bool:
        """Do the claimed step and commit it; see ``StepWork``."""
        if claim.stage == "extract":
            return self._extract.run(claim, renew)
        done = self._review.run(claim, renew)
        for record_id in done.facts:
            activation_of(self._activator, done.principal, record_id)
        return done.asked
