"""The composition root: the only place that chooses implementations."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from retold.config import RetoldConfig
from retold.index.token_vectors import require_token_embedder
from retold.index.vector import VectorIndex
from retold.ingest.judges import judge_from_config
from retold.models import Principal
from retold.operations.fitting import (
    Misfit,
    fitting_embedder,
    identity_of,
    mismatch,
    mismatch_of_given,
)
from retold.operations.own_completions import OwnCompletions
from retold.policy.activation import NoActivator
from retold.protocols import (
    CandidateReviewer,
    CompletionClient,
    ContentPolicy,
    Embedder,
    EquivalenceJudge,
    Extractor,
    JobQueue,
    QueryRewriter,
    RecordActivator,
    Reranker,
)
from retold.queue import HueyQueue, NoQueue, ThreadQueue, queue_path
from retold.retrieve.retriever import Retriever
from retold.store import Store
from retold.store.meta import EmbeddingIdentity
from retold.tools.shown import ShownIds
from retold.util import Clock, IdSource, new_id, system_clock

if TYPE_CHECKING:
    # What writes memories is imported where it is put together: a command that only searches
    # starts a fifth faster without it.
    from retold.host import MemoryHost
    from retold.index.reranker import BgeReranker
    from retold.ingest.ingestor import Ingestor
    from retold.ingest.revision import Revision
    from retold.ingest.session import SessionHooks
    from retold.operations.extraction import ExtractionRun
    from retold.operations.steps import ExtractionSteps, LateWork

OnMismatch = Literal["raise", "lexical"]


@dataclass(frozen=True, slots=True)
class MemoryRuntime:
    """An opened store with everything that works on it; one per process."""

    config: RetoldConfig
    store: Store
    index: VectorIndex
    embedder: Embedder
    judge: EquivalenceJudge
    ingestor: Ingestor
    revision: Revision
    retriever: Retriever
    hooks: SessionHooks
    host: MemoryHost
    steps: ExtractionSteps
    completions: CompletionClient
    own_completions: OwnCompletions
    activator: RecordActivator
    content_policy: ContentPolicy | None
    clock: Clock
    id_source: IdSource
    own_reranker: BgeReranker | None = None
    own_queue: ThreadQueue | None = None
    shown: ShownIds = field(default_factory=ShownIds)

    def require_extraction(self, principal: Principal) -> None:
        """Refuse an extraction that could not be done, before a conversation ends for it.

        Models, packages and keys are looked for where the work is done: here, when it is done on
        a thread of this process. Raises RetoldSetupError naming what is missing, HostedNotAllowed.
        """
        self.steps.require_allowed(principal)
        if self.own_queue is not None:
            self.steps.require_ready()

    def close(self) -> None:
        """Write what waits, end the models' clients made here and close the store.

        A session that is worked on in this process gets the time of one call of each of its
        models; what is not done then stays due in the store.
        """
        if not self.store.is_closed:
            if self.own_queue is not None:
                cfg = self.config.ingestion
                self.own_queue.close((cfg.extraction_timeout_ms + cfg.review_timeout_ms) / 1000)
            self.retriever.close()
            if self.own_reranker is not None:
                self.own_reranker.close()
            self.own_completions.close()
            self.store.close()


@dataclass(frozen=True, slots=True)
class SearchRuntime:
    """An opened store that is searched and not written, log rows excepted."""

    config: RetoldConfig
    store: Store
    retriever: Retriever
    own_completions: OwnCompletions
    own_reranker: BgeReranker | None = None

    def close(self) -> None:
        """Write log rows that wait, end the models' clients made here and close the store."""
        if not self.store.is_closed:
            self.retriever.close()
            if self.own_reranker is not None:
                self.own_reranker.close()
            self.own_completions.close()
            self.store.close()


@dataclass(frozen=True, slots=True)
class Overrides:
    """Implementations given by a test or an integrator; None takes the configured one."""

    embedder: Embedder | None = None
    judge: EquivalenceJudge | None = None
    rewriter: QueryRewriter | None = None
    reranker: Reranker | None = None
    queue: JobQueue | None = None
    activator: RecordActivator | None = None
    content_policy: ContentPolicy | None = None
    completions: CompletionClient | None = None
    extractor: Extractor | None = None
    candidate_reviewer: CandidateReviewer | None = None
    clock: Clock = system_clock
    id_source: IdSource = new_id


def _embedder(
    config: RetoldConfig, file: Path, given: Overrides, misfit: Misfit, *, creates: bool
) -> Embedder:
    """Return the embedder to use. Raises ConfigError when it lacks what a setting needs of it."""
    embedder = given.embedder or fitting_embedder(config.embedding, file, misfit, creates=creates)
    if config.retrieval.late_interaction.enabled:
        require_token_embedder(embedder)
    return embedder


def _own_reranker(config: RetoldConfig, given: Overrides) -> BgeReranker | None:
    """Return the configured reranker; None when one was given or reranking is switched off."""
    if given.reranker is not None or not config.reranker.enabled:
        return None
    from retold.index.reranker import reranker_from_config

    return reranker_from_config(config)


def build_runtime(
    config: RetoldConfig,
    path: str | os.PathLike[str] | None = None,
    *,
    overrides: Overrides | None = None,
    profile: str | None = None,
    create: bool = True,
    migrate: bool = False,
    read_only: bool = False,
    allow_migration_issues: bool = False,
    on_embedding_mismatch: OnMismatch = "raise",
    misfit: Misfit = mismatch,
    vfs: str | None = None,
) -> MemoryRuntime:
    """Open the store and put everything together; models load on first use.

    ``path`` None takes ``store.path``. ``profile`` is remembered by a new store. Raises what
    ``Store.open`` raises, RetoldSetupError for a missing model or package, ConfigError for an
    embedder that lacks what a setting needs, EmbeddingProfileMismatch unless
    ``on_embedding_mismatch`` is "lexical"; ``misfit`` words it.
    """
    given = overrides or Overrides()
    file = Path(path or config.store.path)
    embedder = _embedder(config, file, given, misfit, creates=create and not read_only)
    judge = given.judge or judge_from_config(config)
    reranker = _own_reranker(config, given)
    store = Store.open(
        file,
        busy_timeout_seconds=config.store.busy_timeout_seconds,
        clock=given.clock,
        id_source=given.id_source,
        create=create,
        migrate=migrate,
        read_only=read_only,
        allow_migration_issues=allow_migration_issues,
        vfs=vfs,
    )
    worded = misfit if given.embedder is None else mismatch_of_given
    identity = _settled_identity(store, embedder, profile, on_embedding_mismatch, worded)
    index = VectorIndex(identity)
    return _assemble(
        config, store, index, given, embedder=embedder, judge=judge, own_reranker=reranker
    )


def build_search_runtime(
    config: RetoldConfig,
    path: str | os.PathLike[str],
    *,
    overrides: Overrides | None = None,
    read_only: bool = False,
    on_embedding_mismatch: OnMismatch = "raise",
    misfit: Misfit = mismatch,
) -> SearchRuntime:
    """Open an existing store for searching only; raises as ``build_runtime``."""
    given = overrides or Overrides()
    embedder = _embedder(config, Path(path), given, misfit, creates=False)
    reranker = _own_reranker(config, given)
    store = Store.open(
        path,
        busy_timeout_seconds=config.store.busy_timeout_seconds,
        clock=given.clock,
        id_source=given.id_source,
        create=False,
        read_only=read_only,
    )
    worded = misfit if given.embedder is None else mismatch_of_given
    identity = _settled_identity(store, embedder, None, on_embedding_mismatch, worded)
    index = VectorIndex(identity)
    own = OwnCompletions(config, store, given.clock)
    retriever = _retriever(
        config, store, index, embedder, given, own_reranker=reranker, own_completions=own
    )
    return SearchRuntime(config, store, retriever, own, reranker)


def _assemble(
    config: RetoldConfig,
    store: Store,
    index: VectorIndex,
    given: Overrides,
    *,
    embedder: Embedder,
    judge: EquivalenceJudge,
    own_reranker: BgeReranker | None,
) -> MemoryRuntime:
    from retold.host import MemoryHost
    from retold.ingest.doorbell import Doorbell
    from retold.ingest.ingestor import Ingestor
    from retold.ingest.revision import Revision
    from retold.ingest.segments import Silence
    from retold.ingest.session import SessionHooks

    own_completions = OwnCompletions(config, store, given.clock)
    activator = given.activator or NoActivator()
    steps = _steps(config, store, given)
    queue = given.queue or _queue(config, store, steps)
    doorbell = Doorbell(queue, config.queue.enqueue_timeout_ms)
    silence = Silence(config.ingestion, doorbell)
    ingestor = Ingestor(
        store,
        index,
        embedder,
        judge,
        config,
        silence=silence,
        content_policy=given.content_policy,
    )
    revision = Revision(store, index, ingestor, judge, config, content_policy=given.content_policy)
    completions = given.completions or own_completions
    steps.work = _extraction_run(
        config, store, ingestor, given, completions=completions, activator=activator
    )
    return MemoryRuntime(
        config=config,
        store=store,
        index=index,
        embedder=embedder,
        judge=judge,
        ingestor=ingestor,
        revision=revision,
        retriever=_retriever(
            config,
            store,
            index,
            embedder,
            given,
            own_reranker=own_reranker,
            own_completions=own_completions,
        ),
        hooks=SessionHooks(
            store, silence=silence, doorbell=doorbell, content_policy=given.content_policy
        ),
        host=MemoryHost(store, ingestor, revision),
        steps=steps,
        completions=completions,
        activator=activator,
        content_policy=given.content_policy,
        clock=given.clock,
        id_source=given.id_source,
        own_reranker=own_reranker,
        own_completions=own_completions,
        own_queue=queue if isinstance(queue, ThreadQueue) and given.queue is None else None,
    )


def _extraction_run(
    config: RetoldConfig,
    store: Store,
    ingestor: Ingestor,
    given: Overrides,
    *,
    completions: CompletionClient,
    activator: RecordActivator,
) -> LateWork:
    """Return what a step of an extraction does; hosted models unless others were given."""
    from retold.operations.steps import LateWork

    def make() -> ExtractionRun:
        from retold.ingest.extraction.extractor import StructuredLLMExtractor
        from retold.ingest.extraction.reviewer import StructuredLLMCandidateReviewer
        from retold.operations.extraction import ExtractionRun

        cfg = config.ingestion
        return ExtractionRun(
            store,
            ingestor,
            config,
            extractor=given.extractor or StructuredLLMExtractor(completions, cfg),
            reviewer=given.candidate_reviewer or StructuredLLMCandidateReviewer(completions, cfg),
            activator=activator,
        )

    return LateWork(make)


def _steps(config: RetoldConfig, store: Store, given: Overrides) -> ExtractionSteps:
    """Return what works on sessions; what its steps do comes when the rest stands."""
    from retold.operations.circuit import Circuits, doors_from_config
    from retold.operations.steps import ExtractionSteps

    doors = doors_from_config(
        config,
        own_extractor=given.extractor is not None,
        own_reviewer=given.candidate_reviewer is not None,
    )
    return ExtractionSteps(store, config, circuits=Circuits(doors))


def _queue(config: RetoldConfig, store: Store, steps: ExtractionSteps) -> JobQueue:
    """Return the configured doorbell; a store that is only read rings none."""
    cfg = config.queue
    if store.read_only or cfg.backend == "none":
        return NoQueue()
    if cfg.backend == "thread":
        return ThreadQueue(
            steps.run,
            max_pending=cfg.max_pending,
            due=steps.due,
            pause=steps.seconds_until_due,
        )
    return HueyQueue(
        queue_path(store.path, cfg.directory, "extraction"),
        timeout_ms=cfg.enqueue_timeout_ms,
        max_pending=cfg.max_pending,
    )


def _retriever(
    config: RetoldConfig,
    store: Store,
    index: VectorIndex,
    embedder: Embedder,
    given: Overrides,
    *,
    own_reranker: BgeReranker | None,
    own_completions: OwnCompletions,
) -> Retriever:
    return Retriever(
        store,
        index,
        embedder,
        config,
        rewriter=given.rewriter,
        completions=given.completions or own_completions,
        reranker=given.reranker or own_reranker,
        content_policy=given.content_policy,
        clock=given.clock,
        id_source=given.id_source,
    )


def _settled_identity(
    store: Store,
    embedder: Embedder,
    profile: str | None,
    on_mismatch: OnMismatch,
    misfit: Misfit,
) -> EmbeddingIdentity:
    """Return whose vectors this process makes; the store is closed when it refuses them."""
    identity = identity_of(embedder)
    try:
        stored = _remembered_identity(store, identity, profile)
        if on_mismatch == "raise":
            _require_same(stored, identity, store, misfit)
    except BaseException:
        store.close()
        raise
    return identity


def _require_same(
    stored: EmbeddingIdentity | None, identity: EmbeddingIdentity, store: Store, misfit: Misfit
) -> None:
    if stored is not None and stored != identity:
        raise misfit(stored, identity, str(store.path))


def _remembered_identity(
    store: Store, identity: EmbeddingIdentity, profile: str | None
) -> EmbeddingIdentity | None:
    """Return whose vectors the store holds; a new store remembers the ones that come."""
    with store.read() as tx:
        stored = tx.meta.embedding_identity()
    if stored is not None or store.read_only:
        return stored
    with store.write() as tx:
        stored = tx.meta.embedding_identity()
        if stored is None:
            tx.meta.set_embedding_identity(identity)
            if profile is not None:
                tx.meta.set_text("profile", profile)
        return stored
