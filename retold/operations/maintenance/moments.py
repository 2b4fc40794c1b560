"""How long ago."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def days_before(now: datetime, days: int) -> datetime:
    """Return the moment so many days ago; before the first year that is the first moment."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)
