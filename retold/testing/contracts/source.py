"""What every clock and every source of ids must do."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from retold.testing.contracts.concurrency import side_by_side
from retold.util import Clock, IdSource

MANY = 1000
ID_VERSION = 7


class ClockContract:
    """Override ``clock``."""

    @pytest.fixture
    def clock(self) -> Clock:
        """Return the implementation under test."""
        pytest.fail("override the fixture `clock`")

    def test_clock_tells_a_moment_of_utc(self, clock: Clock) -> None:
        """A moment without an offset, or of another zone, is no moment of the store."""
        now = clock()

        assert isinstance(now, datetime)
        assert now.utcoffset() == timedelta(0)

    def test_clock_serves_several_threads(self, clock: Clock) -> None:
        """Transactions begin side by side."""
        moments = side_by_side(lambda _: clock(), range(16))

        assert [one.utcoffset() for one in moments] == [timedelta(0)] * 16


class IdSourceContract:
    """Override ``id_source``."""

    @pytest.fixture
    def id_source(self) -> IdSource:
        """Return the implementation under test."""
        pytest.fail("override the fixture `id_source`")

    def test_ids_are_uuids_of_version_7_in_canonical_text(self, id_source: IdSource) -> None:
        """Lower case with hyphens: ids are compared as text."""
        made = id_source()

        assert str(UUID(made)) == made
        assert UUID(made).version == ID_VERSION

    def test_ids_sort_by_creation(self, id_source: IdSource) -> None:
        """Also those of one millisecond."""
        made = [id_source() for _ in range(MANY)]

        assert made == sorted(set(made))

    def test_ids_of_several_threads_are_distinct(self, id_source: IdSource) -> None:
        """No two rows get one id."""
        made = side_by_side(lambda _: id_source(), range(MANY))

        assert len(set(made)) == MANY
