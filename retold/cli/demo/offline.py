"""A promise of the demonstration: no socket opens while it runs."""

from __future__ import annotations

import sys
from typing import Final

_HARMLESS: Final = ("socket.gethostname", "socket.sethostname")


def refuse_sockets() -> None:
    """Make every later use of a socket in this process raise; an audit hook never goes away.

    Each child of the demonstration calls this before anything else.
    """
    sys.addaudithook(_refuse)


def _refuse(event: str, _arguments: tuple[object, ...]) -> None:
    if event.startswith("socket.") and event not in _HARMLESS:
        raise PermissionError(f"the demonstration opens no sockets ({event})")
