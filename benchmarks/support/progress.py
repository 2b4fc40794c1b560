"""Say on standard error how far a long run has got."""

from __future__ import annotations

import sys
import time

_QUIET_SECONDS = 5.0


class Progress:
    """One line that is rewritten on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._said = float("-inf")

    def __call__(self, message: str) -> None:
        """Show the message, unless one was shown a moment ago where lines stay."""
        if sys.stderr.isatty():
            print(f"\r{message:<70}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._said >= _QUIET_SECONDS:
            self._said = time.monotonic()
            print(message, file=sys.stderr, flush=True)

    def done(self) -> None:
        """End the rewritten line."""
        if sys.stderr.isatty():
            print(file=sys.stderr)
