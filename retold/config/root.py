"""The whole configuration."""

from __future__ import annotations

from retold.config.base import JSON, Block, plain
from retold.config.ingestion import IngestionConfig, PolicyConfig
from retold.config.levers import resolve_levers
from retold.config.operation import (
    AuditConfig,
    EmbeddingConfig,
    HostedConfig,
    LogsConfig,
    QueueConfig,
    ReviewsConfig,
    SearchLogConfig,
    SessionsConfig,
    StoreConfig,
)
from retold.config.retrieval import RerankerConfig, RetrievalConfig


class RetoldConfig(Block):
    """Every setting, with every default; ``RetoldConfig()`` is the standard profile."""

    store: StoreConfig = StoreConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    reranker: RerankerConfig = RerankerConfig()
    retrieval: RetrievalConfig = RetrievalConfig()
    ingestion: IngestionConfig = IngestionConfig()
    policy: PolicyConfig = PolicyConfig()
    sessions: SessionsConfig = SessionsConfig()
    search_log: SearchLogConfig = SearchLogConfig()
    logs: LogsConfig = LogsConfig()
    reviews: ReviewsConfig = ReviewsConfig()
    audit: AuditConfig = AuditConfig()
    hosted: HostedConfig = HostedConfig()
    queue: QueueConfig = QueueConfig()

    @property
    def embeds_subject(self) -> bool:
        """Return whether a record is embedded behind the name of whom it is about."""
        chosen = self.embedding.subject_name
        return self.retrieval.preset == "measured" if chosen is None else chosen

    def flags(self) -> dict[str, JSON]:
        """Return what decided a search besides its request, as JSON; stored with each search.

        Holds the embedding identity, what was switched on, every gate floor of both triggers,
        the budget and every lever as it ran, unset ones filled in from the preset.
        """
        retrieval = self.retrieval
        levers = resolve_levers(retrieval)
        return {
            "embedding_model": self.embedding.model,
            "embedding_version": self.embedding.version,
            "embedding_dims": self.embedding.dims,
            "rewrite_enabled": retrieval.rewrite.enabled,
            "reranker_enabled": self.reranker.enabled,
            "reranker": plain(self.reranker.model_dump()) if self.reranker.enabled else None,
            **levers.to_json(),
            "gate": plain(levers.gate.model_dump()),
            "rrf_k": levers.fusion.rrf_k,
            "max_alias_tokens": retrieval.max_alias_tokens,
            "default_k": retrieval.default_k,
            "token_budget": retrieval.token_budget,
        }
