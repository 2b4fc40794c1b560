"""Which nearby records a claim is compared with."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

from retold.config import IngestionConfig
from retold.ingest.comparison import SubjectScan, find_neighbours


def test_records_of_the_own_subject_take_no_place_among_the_nearby_ones():
    """They are compared anyway; fails when they use up ``max_nearby_records``."""
    index = SimpleNamespace(search_near=lambda *_, **__: [(1, 0.99), (2, 0.97), (3, 0.9)])
    tx = SimpleNamespace(
        now=datetime(2026, 1, 1, tzinfo=UTC),
        records=SimpleNamespace(nearby_version=lambda *_: 7),
    )
    target = SimpleNamespace(vector=None, scope_codes=(1,), type="semantic")
    scan = SubjectScan([SimpleNamespace(seq=1), SimpleNamespace(seq=2)], False)

    found = find_neighbours(tx, index, target, scan, IngestionConfig(max_nearby_records=1))

    assert found.hits == ((3, 0.9),)
    assert found.version == 7
