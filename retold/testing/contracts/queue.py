"""What every job queue must do."""

from __future__ import annotations

import threading
from typing import ClassVar

import pytest

from retold.protocols import JobQueue
from retold.testing.contracts.concurrency import side_by_side
from retold.testing.fakes.source import CountingIds

SESSIONS = tuple(CountingIds.nth(number) for number in range(1, 9))


class JobQueueContract:
    """Override ``queue``, and ``unreachable_queue`` where there is a back end that can be down."""

    patience_seconds: ClassVar[float] = 10.0
    """How long an announcement may take before it counts as hanging."""

    @pytest.fixture
    def queue(self) -> JobQueue:
        """Return the implementation under test."""
        pytest.fail("override the fixture `queue`")

    @pytest.fixture
    def unreachable_queue(self, queue: JobQueue) -> JobQueue:
        """Return one whose back end is down; the queue itself when it has none."""
        return queue

    def test_queue_is_one(self, queue: JobQueue) -> None:
        """It has every member of the port."""
        assert isinstance(queue, JobQueue)

    def test_queue_takes_any_session_more_than_once(self, queue: JobQueue) -> None:
        """A doorbell may be rung again, and answers nothing: the store holds the list."""
        for session_id in (*SESSIONS, *SESSIONS):
            queue.request_extraction(session_id)

    def test_queue_takes_sessions_from_several_threads(self, queue: JobQueue) -> None:
        """Conversations end side by side."""
        side_by_side(queue.request_extraction, SESSIONS)

    def test_queue_swallows_what_its_back_end_raises(self, unreachable_queue: JobQueue) -> None:
        """A conversation ends whether or not anybody can be told."""
        unreachable_queue.request_extraction(SESSIONS[0])

    def test_queue_returns_although_its_back_end_hangs(self, unreachable_queue: JobQueue) -> None:
        """Nobody waits for a worker at the end of a conversation."""
        ring = threading.Thread(
            target=unreachable_queue.request_extraction, args=(SESSIONS[0],), daemon=True
        )
        ring.start()
        ring.join(self.patience_seconds)

        assert not ring.is_alive()
