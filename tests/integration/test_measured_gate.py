"""The preset `measured` with the packaged embedder, on what people reported of other gates."""

from __future__ import annotations

from pathlib import Path

import pytest

from retold import MemorySession, Retold

DOES = (
    "restarted after the certificate expired",
    "fails its health check at night",
    "needs two replicas in Frankfurt",
    "has a memory limit of 512 MB",
    "alerts page the on-call engineer",
)
CREDENTIALS = "Proton bridge imap credentials are in the vault"


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory):
    """Eighty records of operations and one about credentials."""
    path: Path = tmp_path_factory.mktemp("measured") / "memory.sqlite"
    with Retold.open(path, profile="offline") as retold:
        retold.host.grant("assistant", "user:ana", read=True, write=False)
        facts = [f"Service {n} in rack {n % 7} {DOES[n % len(DOES)]}" for n in range(80)]
        retold.host.write_many("user:ana", [*facts, CREDENTIALS], dedup=False)
        with retold.session("ana") as session:
            yield session


@pytest.mark.parametrize("query", ["qzxv wplk jjtt", "chocolate cake"])
def test_nonsense_finds_nothing_and_says_how_near_it_came(
    operations: MemorySession, query: str
) -> None:
    """B59."""
    page = operations.search(query)

    assert not page
    assert "no nearer than what an unrelated prompt finds: Z " in (page.empty_reason or "")
    assert "best rejected score" in (page.empty_reason or "")


def test_a_record_that_holds_both_words_is_found(operations: MemorySession) -> None:
    """B60: what counts is how much nearer it is than what an unrelated prompt finds."""
    (found,) = operations.search("proton bridge")

    assert found.record.content == CREDENTIALS
    assert found.explanation.gate.startswith("passed on query: Z ")
