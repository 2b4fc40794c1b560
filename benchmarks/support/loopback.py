"""The model server of the tests, which benchmarks talk to over real HTTP with the real clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.extraction_model import accept_everything, block, over_http
from tests.loopback import Exchange, LoopbackModel, Reply

__all__ = [
    "Exchange",
    "LoopbackModel",
    "Reply",
    "accept_everything",
    "block",
    "over_http",
    "served",
]


@contextmanager
def served(model: LoopbackModel) -> Iterator[LoopbackModel]:
    """Serve, with the variables that send the clients of this process there."""
    with model:
        before = {name: os.environ.get(name) for name in model.environment}
        os.environ.update(model.environment)
        try:
            yield model
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value
