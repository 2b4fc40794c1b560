"""Long-term memory that a person can trust an AI agent with.

Start with ``Retold.open`` and ``Retold.session``. Everything listed in ``__all__`` is public.

Names load with first use, so that ``import retold`` stays cheap. Type checkers read the imports
below, everything else the table; a test holds the two together.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # "X as X" says that a name is public; the sorter would give each a statement of its own.
    # isort: off
    from retold.config import (
        RetoldConfig as RetoldConfig,
        load_config as load_config,
    )
    from retold.errors import (
        BudgetExhausted as BudgetExhausted,
        ConfigError as ConfigError,
        EmbeddingError as EmbeddingError,
        EmbeddingProfileMismatch as EmbeddingProfileMismatch,
        EntityAmbiguous as EntityAmbiguous,
        ForeignFile as ForeignFile,
        HostedError as HostedError,
        HostedNotAllowed as HostedNotAllowed,
        InvalidCompletion as InvalidCompletion,
        InvalidInput as InvalidInput,
        InvalidSourceKind as InvalidSourceKind,
        InvalidSubject as InvalidSubject,
        InvalidWriteTarget as InvalidWriteTarget,
        JudgeError as JudgeError,
        LocalLimit as LocalLimit,
        MigrationRequired as MigrationRequired,
        ModelError as ModelError,
        ModelTimeout as ModelTimeout,
        NotFound as NotFound,
        NotYetAvailable as NotYetAvailable,
        ProviderError as ProviderError,
        ProviderNotConfigured as ProviderNotConfigured,
        ProviderOutage as ProviderOutage,
        RequestError as RequestError,
        RerankError as RerankError,
        RetoldError as RetoldError,
        RetoldSetupError as RetoldSetupError,
        RewriteError as RewriteError,
        SchemaTooNew as SchemaTooNew,
        ScopeNotWritable as ScopeNotWritable,
        SessionFinished as SessionFinished,
        StoreBusy as StoreBusy,
        StoreCorrupt as StoreCorrupt,
        StoreError as StoreError,
        StoreUnavailable as StoreUnavailable,
        UnsupportedEvidenceError as UnsupportedEvidenceError,
        WriteContended as WriteContended,
    )
    from retold.host import (
        HostItem as HostItem,
        MemoryHost as MemoryHost,
    )
    from retold.ingest.history import (
        HistoryCount as HistoryCount,
        PastTurn as PastTurn,
    )
    from retold.ingest.turns import (
        NewTurn as NewTurn,
    )
    from retold.memory import (
        AsyncMemorySession as AsyncMemorySession,
        MemorySession as MemorySession,
        Retold as Retold,
    )
    from retold.models import (
        Boost as Boost,
        CandidateRecord as CandidateRecord,
        CandidateRevision as CandidateRevision,
        Completion as Completion,
        CompletionRequest as CompletionRequest,
        Entity as Entity,
        EntityMention as EntityMention,
        Explanation as Explanation,
        ExtractionContext as ExtractionContext,
        ExtractionOutput as ExtractionOutput,
        GeneratorHit as GeneratorHit,
        Grant as Grant,
        HostSource as HostSource,
        KnownEntity as KnownEntity,
        KnownRecord as KnownRecord,
        LeftOut as LeftOut,
        LexicalMatch as LexicalMatch,
        LexicalTerm as LexicalTerm,
        MemoryRecord as MemoryRecord,
        Principal as Principal,
        Record as Record,
        RejectedCandidate as RejectedCandidate,
        ReviewContext as ReviewContext,
        ReviewDecision as ReviewDecision,
        ReviewItem as ReviewItem,
        ReviewOutput as ReviewOutput,
        RewriteResult as RewriteResult,
        Scope as Scope,
        SearchResponse as SearchResponse,
        SearchResult as SearchResult,
        SessionSummary as SessionSummary,
        TokenUsage as TokenUsage,
        Turn as Turn,
        Verdict as Verdict,
        WriteResult as WriteResult,
    )
    from retold.operations.status import (
        StoreStatus as StoreStatus,
    )
    from retold.policy.prompt import (
        POLICY_VERSION as POLICY_VERSION,
        policy_text as policy_text,
    )
    from retold.protocols import (
        Budget as Budget,
        CandidateReviewer as CandidateReviewer,
        CompletionClient as CompletionClient,
        ContentPolicy as ContentPolicy,
        Embedder as Embedder,
        EquivalenceJudge as EquivalenceJudge,
        Extractor as Extractor,
        JobQueue as JobQueue,
        QueryRewriter as QueryRewriter,
        RecordActivator as RecordActivator,
        Reranker as Reranker,
    )
    from retold.results import (
        AsyncExtractionHandle as AsyncExtractionHandle,
        ExtractionHandle as ExtractionHandle,
        Profile as Profile,
        SearchPage as SearchPage,
        Status as Status,
    )
    from retold.retrieve.lookup import (
        ConflictView as ConflictView,
        Lookup as Lookup,
        Page as Page,
        RecordView as RecordView,
    )
    from retold.runtime import (
        Overrides as Overrides,
    )
    from retold.tools.answers import (
        ToolResult as ToolResult,
    )
    from retold.tools.session_tools import (
        SessionTools as SessionTools,
        Tool as Tool,
    )
    # isort: on

__version__ = "0.1.0"

_PUBLIC = {
    "retold.config": (
        "RetoldConfig",
        "load_config",
    ),
    "retold.errors": (
        "BudgetExhausted",
        "ConfigError",
        "EmbeddingError",
        "EmbeddingProfileMismatch",
        "EntityAmbiguous",
        "ForeignFile",
        "HostedError",
        "HostedNotAllowed",
        "InvalidCompletion",
        "InvalidInput",
        "InvalidSourceKind",
        "InvalidSubject",
        "InvalidWriteTarget",
        "JudgeError",
        "LocalLimit",
        "MigrationRequired",
        "ModelError",
        "ModelTimeout",
        "NotFound",
        "NotYetAvailable",
        "ProviderError",
        "ProviderNotConfigured",
        "ProviderOutage",
        "RequestError",
        "RerankError",
        "RetoldError",
        "RetoldSetupError",
        "RewriteError",
        "SchemaTooNew",
        "ScopeNotWritable",
        "SessionFinished",
        "StoreBusy",
        "StoreCorrupt",
        "StoreError",
        "StoreUnavailable",
        "UnsupportedEvidenceError",
        "WriteContended",
    ),
    "retold.host": (
        "HostItem",
        "MemoryHost",
    ),
    "retold.ingest.history": (
        "HistoryCount",
        "PastTurn",
    ),
    "retold.ingest.turns": ("NewTurn",),
    "retold.memory": (
        "AsyncMemorySession",
        "MemorySession",
        "Retold",
    ),
    "retold.models": (
        "Boost",
        "CandidateRecord",
        "CandidateRevision",
        "Completion",
        "CompletionRequest",
        "Entity",
        "EntityMention",
        "Explanation",
        "ExtractionContext",
        "ExtractionOutput",
        "GeneratorHit",
        "Grant",
        "HostSource",
        "KnownEntity",
        "KnownRecord",
        "LeftOut",
        "LexicalMatch",
        "LexicalTerm",
        "MemoryRecord",
        "Principal",
        "Record",
        "RejectedCandidate",
        "ReviewContext",
        "ReviewDecision",
        "ReviewItem",
        "ReviewOutput",
        "RewriteResult",
        "Scope",
        "SearchResponse",
        "SearchResult",
        "SessionSummary",
        "TokenUsage",
        "Turn",
        "Verdict",
        "WriteResult",
    ),
    "retold.operations.status": ("StoreStatus",),
    "retold.policy.prompt": (
        "POLICY_VERSION",
        "policy_text",
    ),
    "retold.protocols": (
        "Budget",
        "CandidateReviewer",
        "CompletionClient",
        "ContentPolicy",
        "Embedder",
        "EquivalenceJudge",
        "Extractor",
        "JobQueue",
        "QueryRewriter",
        "RecordActivator",
        "Reranker",
    ),
    "retold.results": (
        "AsyncExtractionHandle",
        "ExtractionHandle",
        "Profile",
        "SearchPage",
        "Status",
    ),
    "retold.retrieve.lookup": (
        "ConflictView",
        "Lookup",
        "Page",
        "RecordView",
    ),
    "retold.runtime": ("Overrides",),
    "retold.tools.answers": ("ToolResult",),
    "retold.tools.session_tools": (
        "SessionTools",
        "Tool",
    ),
}
"""What a user finds here, by the module it lives in."""

_HOME = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = sorted([*_HOME, "__version__"])

# What the library has to say goes where the host sends it, and nowhere on its own.
logging.getLogger("retold").addHandler(logging.NullHandler())


if not TYPE_CHECKING:  # a type checker would take every name for one that is here

    def __getattr__(name: str) -> object:
        """Load a public name from the module it lives in."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return list(__all__)
