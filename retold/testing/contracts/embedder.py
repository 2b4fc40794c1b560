"""What every embedder must do."""

from __future__ import annotations

import numpy as np
import pytest

from retold.protocols import Embedder
from retold.testing.contracts.concurrency import side_by_side

TEXTS = (
    "Likes green tea",
    "The release moved to 19 March.",
    "我对花生过敏",
    "ฉันแพ้ถั่วลิสง",
    "!",
    "one " * 2000,
)


class EmbedderContract:
    """Override ``embedder``."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Return the implementation under test."""
        pytest.fail("override the fixture `embedder`")

    def test_embedder_is_one(self, embedder: Embedder) -> None:
        """It has every member of the port."""
        assert isinstance(embedder, Embedder)

    def test_embedder_knows_its_identity_before_it_is_loaded(self, embedder: Embedder) -> None:
        """Name, version and dims need no model."""
        assert embedder.name
        assert embedder.version
        assert embedder.dims > 0

    def test_embedder_returns_one_unit_row_for_every_text(self, embedder: Embedder) -> None:
        """Rows are (n, dims) float32, finite and of unit length, whatever the script."""
        for vectors in (embedder.embed_documents(TEXTS), embedder.embed_queries(TEXTS)):
            assert vectors.shape == (len(TEXTS), embedder.dims)
            assert vectors.dtype == np.float32
            assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=0.01)

    def test_embedder_returns_no_rows_for_no_texts(self, embedder: Embedder) -> None:
        """An empty sequence gives an empty array of the right width."""
        assert embedder.embed_documents(()).shape == (0, embedder.dims)
        assert embedder.embed_queries(()).shape == (0, embedder.dims)

    def test_embedder_keeps_the_order_of_the_texts(self, embedder: Embedder) -> None:
        """A row belongs to the text at its place, also in another company."""
        forward = embedder.embed_documents(TEXTS)
        backward = embedder.embed_documents(TEXTS[::-1])

        cosines = np.sum(forward * backward[::-1], axis=1)
        assert cosines == pytest.approx(1.0, abs=0.05)

    def test_embedder_repeats_itself(self, embedder: Embedder) -> None:
        """The same call gives the same numbers."""
        first = embedder.embed_queries(TEXTS[:2])

        assert np.array_equal(first, embedder.embed_queries(TEXTS[:2]))

    def test_embedder_is_loaded_after_it_was_used(self, embedder: Embedder) -> None:
        """``is_loaded`` promises that the next call loads nothing."""
        embedder.embed_queries(TEXTS[:1])

        assert embedder.is_loaded

    def test_embedder_serves_several_threads(self, embedder: Embedder) -> None:
        """Side by side every text gets the vector that it gets alone."""
        inputs = [TEXTS[at % len(TEXTS)] for at in range(8)]
        alone = [embedder.embed_documents([text]) for text in inputs]
        together = side_by_side(lambda text: embedder.embed_documents([text]), inputs)

        assert all(
            np.allclose(one, two, atol=1e-5) for one, two in zip(alone, together, strict=True)
        )
