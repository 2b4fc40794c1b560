"""Long-term memory that a person can trust an AI agent with.

Start with ``Retold.open`` and ``Retold.session``. Everything listed in ``__all__`` is public.

Names load with first use, so that ``import retold`` stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retold.config import RetoldConfig, load_config
    from retold.errors import (
        ConfigError,
        EmbeddingError,
        EmbeddingProfileMismatch,
        EntityAmbiguous,
        ForeignFile,
        InvalidInput,
        InvalidSourceKind,
        InvalidSubject,
        InvalidWriteTarget,
        JudgeError,
        MigrationRequired,
        ModelError,
        NotFound,
        NotYetAvailable,
        RequestError,
        RerankError,
        RetoldError,
        RetoldSetupError,
        RewriteError,
        SchemaTooNew,
        ScopeNotWritable,
        SessionFinished,
        StoreBusy,
        StoreCorrupt,
        StoreError,
        StoreUnavailable,
        UnsupportedEvidenceError,
        WriteContended,
    )
    from retold.host import HostItem, MemoryHost
    from retold.memory import MemorySession, Retold
    from retold.models import EntityMention, Grant, HostSource, Principal, Scope, Turn, WriteResult
    from retold.results import ExtractionHandle, Profile, SearchPage, Status
    from retold.retrieve.lookup import Lookup, Page, RecordView
    from retold.runtime import Overrides

__version__ = "0.1.0"

_HOME = {
    name: module
    for module, names in {
        "retold.config": (
            "RetoldConfig",
            "load_config",
        ),
        "retold.errors": (
            "ConfigError",
            "EmbeddingError",
            "EmbeddingProfileMismatch",
            "EntityAmbiguous",
            "ForeignFile",
            "InvalidInput",
            "InvalidSourceKind",
            "InvalidSubject",
            "InvalidWriteTarget",
            "JudgeError",
            "MigrationRequired",
            "ModelError",
            "NotFound",
            "NotYetAvailable",
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
        "retold.memory": (
            "MemorySession",
            "Retold",
        ),
        "retold.models": (
            "EntityMention",
            "Grant",
            "HostSource",
            "Principal",
            "Scope",
            "Turn",
            "WriteResult",
        ),
        "retold.results": (
            "ExtractionHandle",
            "Profile",
            "SearchPage",
            "Status",
        ),
        "retold.retrieve.lookup": (
            "Lookup",
            "Page",
            "RecordView",
        ),
        "retold.runtime": ("Overrides",),
    }.items()
    for name in names
}


__all__ = [
    "ConfigError",
    "EmbeddingError",
    "EmbeddingProfileMismatch",
    "EntityAmbiguous",
    "EntityMention",
    "ExtractionHandle",
    "ForeignFile",
    "Grant",
    "HostItem",
    "HostSource",
    "InvalidInput",
    "InvalidSourceKind",
    "InvalidSubject",
    "InvalidWriteTarget",
    "JudgeError",
    "Lookup",
    "MemoryHost",
    "MemorySession",
    "MigrationRequired",
    "ModelError",
    "NotFound",
    "NotYetAvailable",
    "Overrides",
    "Page",
    "Principal",
    "Profile",
    "RecordView",
    "RequestError",
    "RerankError",
    "Retold",
    "RetoldConfig",
    "RetoldError",
    "RetoldSetupError",
    "RewriteError",
    "SchemaTooNew",
    "Scope",
    "ScopeNotWritable",
    "SearchPage",
    "SessionFinished",
    "Status",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreUnavailable",
    "Turn",
    "UnsupportedEvidenceError",
    "WriteContended",
    "WriteResult",
    "__version__",
    "load_config",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module it lives in."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
