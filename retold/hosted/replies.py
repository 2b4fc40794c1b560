"""What an answer says, whoever's wire it came over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from retold.models import TokenUsage

MOST_TOKENS: Final = 1 << 40
"""A million times what any model takes; sums of a day stay within SQLite's integers."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a model.

    ``value`` is the object that came as one already, ``text`` what else was written. ``stopped``
    is a code for an answer that did not end by itself. ``usage`` None means nothing was reported.
    """

    text: str = field(repr=False)
    value: dict[str, object] | None = field(repr=False)
    stopped: str | None
    model: str
    usage: TokenUsage | None


def items(body: Mapping[str, object], name: str) -> tuple[Mapping[str, object], ...]:
    """Return the objects of a list in a body; nothing where there is no list."""
    value = body.get(name)
    found = value if isinstance(value, list) else []
    return tuple(one for one in found if isinstance(one, Mapping))


def count(body: Mapping[str, object], name: str) -> int:
    """Return a number of tokens, at most ``MOST_TOKENS``; 0 for anything that is none."""
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), MOST_TOKENS)
