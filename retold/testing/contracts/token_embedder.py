"""What an embedder must do that offers token vectors."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pytest

from retold.protocols import Embedder, TokenEmbedder
from retold.testing.contracts.embedder import TEXTS


class _Both(Embedder, TokenEmbedder, Protocol):
    """An embedder that offers token vectors."""


class TokenEmbedderContract:
    """Override ``token_embedder``; inherit from ``EmbedderContract`` besides."""

    @pytest.fixture
    def token_embedder(self) -> _Both:
        """Return the implementation under test."""
        pytest.fail("override the fixture `token_embedder`")

    def test_token_embedder_is_one(self, token_embedder: _Both) -> None:
        """It has every member of the port and says that it offers token vectors."""
        assert isinstance(token_embedder, TokenEmbedder)
        assert token_embedder.offers_token_vectors

    def test_token_embedder_returns_unit_rows_for_every_text(self, token_embedder: _Both) -> None:
        """At least one row of (n, dims) float32 for each text, whatever its script."""
        for embed in (
            token_embedder.embed_documents_with_tokens,
            token_embedder.embed_queries_with_tokens,
        ):
            tokens = embed(TEXTS).tokens
            assert len(tokens) == len(TEXTS)
            for rows in tokens:
                assert rows.dtype == np.float32
                assert rows.shape == (len(rows), token_embedder.dims)
                assert len(rows)
                assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=0.01)

    def test_token_embedder_returns_the_vectors_of_the_texts_too(
        self, token_embedder: _Both
    ) -> None:
        """They are those of the plain calls, so a record is found wherever it was before."""
        documents = token_embedder.embed_documents_with_tokens(TEXTS).vectors
        queries = token_embedder.embed_queries_with_tokens(TEXTS).vectors

        assert np.allclose(documents, token_embedder.embed_documents(TEXTS), atol=1e-4)
        assert np.allclose(queries, token_embedder.embed_queries(TEXTS), atol=1e-4)

    def test_token_embedder_returns_nothing_for_no_texts(self, token_embedder: _Both) -> None:
        """An empty sequence has no tokens, and vectors of the right width."""
        for embed in (
            token_embedder.embed_documents_with_tokens,
            token_embedder.embed_queries_with_tokens,
        ):
            nothing = embed(())
            assert (nothing.vectors.shape, len(nothing.tokens)) == ((0, token_embedder.dims), 0)
