"""Counts over the whole store."""

from datetime import timedelta

from retold.store.overview import OverviewRepository, ScopeCount
from tests.store_support import SCOPE, new_record


def test_active_row_past_its_expiry_counts_as_expired(store, clock):
    with store.write() as tx:
        tx.records.insert(new_record("Parking is on level three"))
        tx.records.insert(new_record("Away", expires_at=tx.now + timedelta(days=1)))
    clock.advance(days=1)

    with store.read() as tx:
        overview = OverviewRepository(tx)
        records, scopes = overview.records(), overview.scopes(5)

    assert records == {"semantic": {"confirmed": 1, "expired": 1}}
    assert scopes == (ScopeCount(str(SCOPE), 1, 2),)
