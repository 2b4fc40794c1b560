"""When a provider that does not answer is left alone, and when it is tried again; pure rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from retold.store.providers import Circuit

OPENS_AFTER: Final = 3
"""Outages in a row after which a provider is left alone."""

FIRST_REST: Final = timedelta(seconds=30)
LONGEST_REST: Final = timedelta(minutes=5)
"""Rests double from the first to the longest: after an outage of ten minutes a provider was asked
seven times in all, however many sessions wait (design/workers.md 3)."""

LONGEST_ASKED_FOR: Final = timedelta(hours=1)
"""The most that a provider's own ``retry-after`` is believed."""

PROBE: Final = timedelta(minutes=5)
"""How long one call that was let through to see may take before another may."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Let no call through; ``until`` is when to look again."""

    until: datetime


def admit(circuit: Circuit, now: datetime) -> Circuit | Refuse:
    """Return the circuit after a call was let through, or why none is.

    The first call after a rest is let through alone, to see whether the provider answers.
    """
    if circuit.state == "closed":
        return circuit
    until = circuit.open_until
    # A rest that ends later than any that begins now comes from a clock that was set back since.
    if until is not None and now < until <= now + LONGEST_ASKED_FOR:
        # A call that is out to see may be answered at any moment.
        return Refuse(until if circuit.state == "open" else min(until, now + FIRST_REST))
    return Circuit("half_open", circuit.failures, now + PROBE)


def after_outage(
    circuit: Circuit, now: datetime, *, retry_after_seconds: float | None = None
) -> Circuit:
    """Return the circuit after a call that failed as an outage.

    ``retry_after_seconds`` is what the provider asked for, None when it did not.
    """
    failures = circuit.failures + 1
    if failures < OPENS_AFTER and circuit.state == "closed":
        return Circuit("closed", failures)
    rest = min(FIRST_REST * 2 ** min(max(failures - OPENS_AFTER, 0), 16), LONGEST_REST)
    if retry_after_seconds is not None:
        asked = timedelta(seconds=min(retry_after_seconds, LONGEST_ASKED_FOR.total_seconds()))
        rest = max(rest, asked)
    until = now + rest
    if circuit.state == "open" and circuit.open_until is not None:
        until = max(until, circuit.open_until)
    return Circuit("open", failures, until)


def after_answer(circuit: Circuit) -> Circuit:
    """Return the circuit after the provider answered, whatever it said."""
    return circuit if circuit == Circuit() else Circuit()


def after_no_call(circuit: Circuit, now: datetime) -> Circuit:
    """Return the circuit after a call was let through and none was made: the next one may see."""
    if circuit.state != "half_open":
        return circuit
    return Circuit("open", circuit.failures, now)
