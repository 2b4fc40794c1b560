"""How candidates are shared out over calls of a reviewer; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def batches_of(
    items: Sequence[T], cost: Callable[[T], int], *, max_tokens: int
) -> tuple[tuple[T, ...], ...]:
    """Return consecutive batches, each of at most ``max_tokens``; every item is in exactly one.

    An item that costs more than that is a batch of its own. No items make no batch.
    """
    batches: list[list[T]] = []
    used = 0
    for item in items:
        tokens = cost(item)
        if not batches or used + tokens > max_tokens:
            batches.append([])
            used = 0
        batches[-1].append(item)
        used += tokens
    return tuple(map(tuple, batches))
