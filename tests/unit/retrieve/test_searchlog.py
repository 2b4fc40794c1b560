"""Log rows that are written, that follow, and that are lost."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from retold.errors import StoreUnavailable
from retold.retrieve.searchlog import SearchLogWriter
from tests.unit.retrieve.world import World, config


def count(world: World) -> int:
    with world.store.read() as tx:
        return sum(1 for _ in tx.search_log.iterate())


@pytest.fixture
def impatient(tmp_path: Path) -> Any:
    world = World(tmp_path / "store.sqlite", config(search_log={"max_wait_ms": 1}))
    yield world
    world.close()


def test_search_defers_its_log_row_while_another_process_writes(impatient: World) -> None:
    """Fails when ``write`` takes a busy store for a failing one."""
    impatient.add("Likes tea")

    with impatient.locked():
        response = impatient.search("tea likes")
        assert response.log == "deferred"
        assert len(response.results) == 1
        assert count(impatient) == 0

    assert impatient.retriever.flush_log()
    assert impatient.log(response)["id"] == response.search_id


def test_close_writes_the_rows_that_wait(impatient: World) -> None:
    with impatient.locked():
        responses = [impatient.search("tea") for _ in range(3)]

    impatient.retriever.close()

    assert {response.log for response in responses} == {"deferred"}
    assert count(impatient) == 3


def test_deferred_rows_are_written_once(impatient: World) -> None:
    with impatient.locked():
        threads = [threading.Thread(target=impatient.search, args=("tea",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    impatient.retriever.close()

    assert count(impatient) == 8


def test_full_queue_loses_the_row_and_says_so(impatient: World) -> None:
    writer = SearchLogWriter(impatient.store, 0, max_queued=2)
    row = impatient.log(impatient.search("tea"))

    with impatient.locked():
        outcomes = [writer.write({**row, "id": f"row-{place}"}) for place in range(3)]

    writer.close()
    assert outcomes == ["deferred", "deferred", "failed"]
    assert count(impatient) == 3


def test_failing_log_never_fails_a_search(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add("Likes tea")

    def refuse(*_args: object) -> None:
        raise StoreUnavailable

    monkeypatch.setattr(world.store, "write_log", refuse)
    response = world.search("tea likes")

    assert response.log == "failed"
    assert len(response.results) == 1


def test_row_that_cannot_be_built_never_fails_a_search(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retold.retrieve.trace.SearchTrace.to_row", None)

    assert world.search("tea").log == "failed"


def test_close_reports_rows_that_find_no_lock(
    impatient: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("retold.retrieve.searchlog.CLOSE_WAIT_MS", 1)
    writer = SearchLogWriter(impatient.store, 0)
    row = impatient.log(impatient.search("tea"))

    with impatient.locked():
        writer.write({**row, "id": "late"})
        writer.close()

    assert "search log rows were lost" in caplog.text
    assert count(impatient) == 1
