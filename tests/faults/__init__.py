"""Disks that fail, power that goes and processes that are killed.

Long storms are sampled; ``RETOLD_FULL_STORM=1`` runs every point of them.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

Point = TypeVar("Point")

FULL_STORM = os.environ.get("RETOLD_FULL_STORM") == "1"


def sampled(points: Sequence[Point], every: int) -> Sequence[Point]:
    """Return every n-th point and the last one; all of them in a full storm."""
    if FULL_STORM:
        return points
    return [*points[:-1:every], *points[-1:]]
