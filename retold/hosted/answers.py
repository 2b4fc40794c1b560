"""Reading one JSON object out of what a model wrote."""

from __future__ import annotations

import json
import re
from typing import Final

_STRUCTURE: Final = re.compile(r'["{}\\]')
_THOUGHTS: Final = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
"""What some local models put before their answer."""


def first_object(text: str) -> dict[str, object] | None:
    """Return the first balanced JSON object of a text, fenced or not; None without one.

    What stands in braces and is no JSON, or has a name twice, is passed over. An object that never
    ends is no answer, and neither are the objects within it.
    """
    thoughts = _THOUGHTS.match(text)
    start = text.find("{", thoughts.end() if thoughts else 0)
    while start >= 0:
        end = _end_of_object(text, start)
        if end is None:
            return None
        found = _parsed(text[start:end])
        if found is not None:
            return found
        start = text.find("{", end)
    return None


def _end_of_object(text: str, start: int) -> int | None:
    """Return where the object that opens at ``start`` has ended; None when it does not."""
    depth, quoted, at = 0, False, start
    while (found := _STRUCTURE.search(text, at)) is not None:
        sign, at = found[0], found.end()
        if sign == "\\":
            at += 1
        elif sign == '"':
            quoted = not quoted
        elif not quoted:
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return at
    return None


def _parsed(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_object_of_pairs
        )
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _object_of_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse an object that says two things under one name: either may be the one that is meant."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name stands twice in an object")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
