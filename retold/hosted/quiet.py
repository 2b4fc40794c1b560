"""Keep what the clients log about our calls out of every log.

At DEBUG both clients write whole requests, the prompt included, and a host that debugs itself
sets DEBUG on the root logger. Their loggers belong to the host too, so that nothing is dropped
but what a thread of ours says while it calls.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_LOUD: Final = ("anthropic", "openai", "httpx", "httpx2", "httpcore", "httpcore2")
_calling: ContextVar[bool] = ContextVar("retold_hosted_call", default=False)


def _is_not_ours(_record: logging.LogRecord) -> bool:
    return not _calling.get()


@contextmanager
def quiet_clients() -> Iterator[None]:
    """Drop what the clients' loggers say in this context, also of a client that it loads.

    ``hush_loaded`` belongs between the loading and the first request.
    """
    for name in _LOUD:
        _hush(name)
    hush_loaded()
    token = _calling.set(True)
    try:
        yield
    finally:
        _calling.reset(token)


def hush_loaded() -> None:
    """Take in the loggers that came with a client; a filter holds for one logger alone."""
    for name in tuple(logging.root.manager.loggerDict):
        if name.partition(".")[0] in _LOUD:
            _hush(name)


def _hush(name: str) -> None:
    # The same function is added once, however often.
    logging.getLogger(name).addFilter(_is_not_ours)
