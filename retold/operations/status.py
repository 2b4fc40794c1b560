"""The state of a store, read without loading any model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from retold.config import EmbeddingConfig, RetoldConfig
from retold.index.hub import PACKAGES, not_installed
from retold.index.model_files import find_model
from retold.index.sentence_transformers import versioned
from retold.protocols import Embedder, EquivalenceJudge
from retold.store import Store, Transaction
from retold.store.codec import from_text
from retold.store.embeddings import EmbeddedText
from retold.store.meta import EmbeddingIdentity
from retold.store.migrations import SCHEMA_VERSION, count_unresolved
from retold.store.overview import EventLine, OverviewRepository, ScopeCount, SessionCounts

MOST_SCOPES: Final = 20
LAST_EVENTS: Final = 5
_RUNTIME_PACKAGES: Final = ("onnxruntime", "tokenizers")

DenseState = Literal["ready", "empty", "unavailable"]


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """The embedder that serves, or that the settings ask for.

    ``missing`` names the packages, and the model, that are not on this machine. ``sha256`` is the
    hash of the weights; None where it is not known.
    """

    name: str
    version: str
    dims: int
    sha256: str | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileSizes:
    """Sizes in bytes; ``wal`` is what other processes have not merged yet."""

    store: int
    wal: int


@dataclass(frozen=True, slots=True)
class DenseChannel:
    """Whether a search would use vectors; ``reason`` is None exactly when it would.

    ``text`` says whether records were embedded behind the name of whom they are about, all, none
    (``plain``) or some of them; None when nothing was embedded yet, or by an earlier release.
    """

    state: DenseState
    reason: str | None
    vectors: int
    stored: str | None
    text: EmbeddedText | None


@dataclass(frozen=True, slots=True)
class SingleWords:
    """Whether searches rank by single words, and how many records they cannot rank so.

    ``missing`` counts records that have a vector and no token vectors; None while it is off.
    """

    enabled: bool
    missing: int | None


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Everything an operator asks first. Counts are of the whole store, whoever owns a row.

    ``profile`` is the one the store was made with, ``configured`` where the present settings come
    from. ``scopes`` holds the largest; ``tables`` counts rows of every table, by name.
    """

    path: str
    store_id: str | None
    schema_version: int
    created_at: datetime | None
    created_by: str | None
    profile: str | None
    configured: str
    embedder: EmbedderState
    judge: str
    dense: DenseChannel
    single_words: SingleWords
    files: FileSizes
    records: Mapping[str, Mapping[str, int]]
    scopes: tuple[ScopeCount, ...]
    scopes_total: int
    sessions: SessionCounts
    turns: int
    searches: int
    last_search_at: datetime | None
    unresolved_migration_issues: int
    tables: Mapping[str, int]
    last_events: tuple[EventLine, ...]


def store_status(
    store: Store,
    config: RetoldConfig,
    configured: str,
    serving: tuple[Embedder, EquivalenceJudge] | None = None,
) -> StoreStatus:
    """Read the state in one snapshot. ``configured`` says in words which settings apply.

    ``serving`` are the models of an open runtime; None means those that the settings ask for.
    """
    embedder = embedder_state(config.embedding)
    judge = _judge_name(config)
    if serving is not None:
        embedder, judge = _serving_state(serving[0], embedder), serving[1].name
    with store.read() as tx:
        overview = OverviewRepository(tx)
        tables = tx.meta.row_counts()
        created_at = tx.meta.get_text("created_at")
        return StoreStatus(
            path=str(store.path),
            store_id=tx.meta.get_text("store_id"),
            schema_version=SCHEMA_VERSION,
            created_at=None if created_at is None else from_text(created_at),
            created_by=tx.meta.get_text("created_by"),
            profile=tx.meta.profile(),
            configured=configured,
            embedder=embedder,
            judge=judge,
            dense=_dense(tx, embedder, tables["embeddings"]),
            single_words=_single_words(tx, enabled=config.retrieval.late_interaction.enabled),
            files=FileSizes(_size(store.path), _size(Path(f"{store.path}-wal"))),
            records=overview.records(),
            scopes=overview.scopes(MOST_SCOPES),
            scopes_total=tables["scopes"],
            sessions=overview.sessions(),
            turns=tables["session_turns"],
            searches=tables["search_log"],
            last_search_at=overview.last_search_at(),
            unresolved_migration_issues=count_unresolved(tx),
            tables=tables,
            last_events=overview.last_events(LAST_EVENTS),
        )


def embedder_state(config: EmbeddingConfig) -> EmbedderState:
    """Return the identity of the configured embedder and what is not installed for it."""
    if not config.is_packaged:
        files = find_model(config.model)
        missing = (*not_installed(PACKAGES), *(() if files else (f"the model {config.model}",)))
        return EmbedderState(
            config.model,
            versioned(config.version, files),
            config.dims,
            None if files is None else files.sha256,
            missing,
        )
    from retold.index.onnx import DIMS, MODEL_PACKAGE, MODEL_SHA256, OnnxEmbedder

    version = OnnxEmbedder(version=config.version).version
    missing = not_installed((*_RUNTIME_PACKAGES, MODEL_PACKAGE))
    return EmbedderState(config.model, version, DIMS, MODEL_SHA256, missing)


def _serving_state(embedder: Embedder, configured: EmbedderState) -> EmbedderState:
    """Return the state of the embedder that serves, which an application may have given."""
    own = (embedder.name, embedder.version, embedder.dims)
    if own == (configured.name, configured.version, configured.dims):
        return configured
    return EmbedderState(*own, sha256=None, missing=())


def _judge_name(config: RetoldConfig) -> str:
    if not config.ingestion.equivalence.is_lexical:
        name = config.ingestion.equivalence.model
        files = find_model(name)
        return name if files is None else files.label
    from retold.ingest.lexical_judge import LexicalJudge

    return LexicalJudge().name


def _dense(tx: Transaction, embedder: EmbedderState, vectors: int) -> DenseChannel:
    stored = tx.meta.embedding_identity()
    shown, text = None if stored is None else str(stored), tx.embeddings.text()
    ours = EmbeddingIdentity(embedder.name, embedder.version, embedder.dims)
    # What a missing model's version would be is not known.
    comparable = not embedder.missing or (stored is not None and stored.model != embedder.name)
    if stored is not None and stored != ours and comparable:
        reason = f"the store's vectors come from {stored}, these settings use {ours}"
        return DenseChannel("unavailable", reason, vectors, shown, text)
    if embedder.missing:
        reason = f"not installed: {', '.join(embedder.missing)}"
        return DenseChannel("unavailable", reason, vectors, shown, text)
    if not vectors:
        return DenseChannel("empty", "no record has a vector yet", vectors, shown, text)
    return DenseChannel("ready", None, vectors, shown, text)


def _single_words(tx: Transaction, *, enabled: bool) -> SingleWords:
    if not enabled:
        return SingleWords(enabled, None)
    stored = tx.meta.embedding_identity()
    return SingleWords(enabled, 0 if stored is None else tx.token_vectors.count_missing(stored))


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
