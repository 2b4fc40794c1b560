"""Claims as vectors, and as token vectors where searches rank by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from retold.index.checks import check_vectors
from retold.index.token_vectors import packed_texts, require_token_embedder
from retold.protocols import Embedder
from retold.store.embeddings import Vector
from retold.store.token_vectors import PackedTokens


class Embedded(NamedTuple):
    """What one pass of the model says of a text; ``tokens`` is None where nobody ranks by them."""

    vector: Vector
    tokens: PackedTokens | None = None


def embed_texts(
    embedder: Embedder, texts: Sequence[str], *, with_tokens: bool
) -> tuple[Embedded, ...]:
    """Return one checked result per text, from one call of the embedder.

    Raises EmbeddingError for unusable vectors, ConfigError for an embedder without token vectors
    where they are wanted.
    """
    if not with_tokens:
        vectors = check_vectors(embedder.embed_documents(texts), len(texts), embedder.dims)
        return tuple(map(Embedded, vectors))
    embedded = require_token_embedder(embedder).embed_documents_with_tokens(texts)
    vectors = check_vectors(embedded.vectors, len(texts), embedder.dims)
    return tuple(map(Embedded, vectors, packed_texts(embedded, len(texts), embedder.dims)))
