"""The command line: ``retold``."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave the process with its exit code.

    0 done, 1 unexpected, 2 refused or invalid, 5 pending or incomplete, 6 unhealthy.
    """
    try:
        from retold.cli.app import run

        code = run(arguments)
    except KeyboardInterrupt:  # while it starts or ends; a command is interrupted in `run`
        sys.exit(1)
    sys.exit(code)
