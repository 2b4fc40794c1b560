"""Moments and JSON as SQLite holds them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import orjson

from retold.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)
_AS_ENCODER = (
    orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
)
_REMEMBERED = 8192
"""Moments of rows that searches meet again and again."""
_WRITTEN = 64
"""Moments that are written lately: that of a transaction stands in nearly all its rows."""


def require_aware(moment: datetime) -> datetime:
    """Return the moment in UTC. Raises InvalidInput for text, and as ``in_utc``."""
    if not isinstance(moment, datetime):
        raise InvalidInput(
            f"a moment is a datetime with a UTC offset, not {type(moment).__name__}; pass "
            'datetime.fromisoformat("2026-01-15T09:00:00+00:00") or the like'
        )
    if moment.tzinfo is UTC:
        return moment
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInput(
            f"{moment.isoformat()} has no UTC offset; write {moment.isoformat()}+00:00 or the like"
        )
    return in_utc(moment)


def require_aware_or_none(moment: datetime | None) -> datetime | None:
    """Return ``require_aware``, or None for None."""
    return None if moment is None else require_aware(moment)


def in_utc(moment: datetime) -> datetime:
    """Return an aware moment in UTC. Raises InvalidInput when UTC has no such year."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(
            f"{moment.isoformat()} lies outside the years 1 to 9999 of UTC; choose a moment "
            "within them"
        ) from None


def to_text(moment: datetime) -> str:
    """Return fixed-width UTC text with microseconds, so that text order is time order."""
    return _text_of(require_aware(moment))


@lru_cache(maxsize=_WRITTEN)
def _text_of(moment: datetime) -> str:
    # Remembered in UTC only: the two hours of a clock set back are equal in their own zone.
    return moment.isoformat(timespec="microseconds")


def to_text_or_none(moment: datetime | None) -> str | None:
    """Return ``to_text``, or None for None."""
    return None if moment is None else to_text(moment)


def to_us(moment: datetime) -> int:
    """Return whole microseconds since the Unix epoch."""
    return (require_aware(moment) - _EPOCH) // _MICROSECOND


def to_us_or_none(moment: datetime | None) -> int | None:
    """Return ``to_us``, or None for None."""
    return None if moment is None else to_us(moment)


def from_text(text: str) -> datetime:
    """Read what ``to_text`` wrote. Raises InvalidInput when the text carries no offset."""
    return require_aware(datetime.fromisoformat(text))


def from_text_or_none(text: str | None) -> datetime | None:
    """Return ``from_text``, or None for None."""
    return None if text is None else from_text(text)


@lru_cache(maxsize=_REMEMBERED)
def from_us(microseconds: int) -> datetime:
    """Return the moment that ``to_us`` counted."""
    return _EPOCH + timedelta(microseconds=microseconds)


def to_json(value: object) -> str:
    """Return compact JSON with sorted keys; NaN and infinities are refused."""
    try:
        text = orjson.dumps(value, option=_AS_ENCODER).decode()
    except TypeError:  # what only the other one takes: lone surrogates, numbers as keys
        return _ENCODER.encode(value)
    # A NaN became null, so what holds a null is encoded by the one that tells them apart.
    return _ENCODER.encode(value) if "null" in text else text
