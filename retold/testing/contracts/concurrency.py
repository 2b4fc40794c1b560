"""Calls that run side by side, for the rules about threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

Given = TypeVar("Given")
Answer = TypeVar("Answer")

THREADS = 4


def side_by_side(call: Callable[[Given], Answer], inputs: Sequence[Given]) -> list[Answer]:
    """Return the answer to each input, in order, from four threads that start at one moment."""
    start = Barrier(THREADS)

    def share(first: int) -> list[Answer]:
        start.wait()
        return [call(inputs[at]) for at in range(first, len(inputs), THREADS)]

    with ThreadPoolExecutor(THREADS) as pool:
        shares = list(pool.map(share, range(THREADS)))
    return [shares[at % THREADS][at // THREADS] for at in range(len(inputs))]
