"""Which exit code and which line on standard error an exception becomes."""

from __future__ import annotations

import errno
import traceback
from pathlib import Path
from typing import Final

from retold.errors import HostedNotAllowed, ModelError, RetoldError, StoreBusy, StoreCorrupt

DONE: Final = 0
UNEXPECTED: Final = 1
REFUSED: Final = 2
BACKLOG: Final = 3
PENDING: Final = 5
UNHEALTHY: Final = 6


_LOST_OUTPUT: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""How a full or failing device refuses what is printed; errors of other files name the file."""


_FOR_A_COMMAND: Final = ("open the store with profile='offline'", "pass --profile offline")
"""What the library tells a program to do, and what that is on the command line."""


class ChildFailed(Exception):
    """A process that this command started said what went wrong, and with which exit code."""

    def __init__(self, line: str, code: int) -> None:
        super().__init__(line)
        self.line = line
        self.code = code


_CODES: Final[tuple[tuple[type[BaseException], int], ...]] = (
    (StoreBusy, PENDING),
    (StoreCorrupt, UNHEALTHY),
    (HostedNotAllowed, REFUSED),
    (ModelError, UNHEALTHY),
    (RetoldError, REFUSED),
    (OSError, REFUSED),
)


def is_lost_output(error: BaseException) -> bool:
    """Return whether the command had done its work and could not print all of it."""
    return isinstance(error, OSError) and error.filename is None and error.errno in _LOST_OUTPUT


def exit_code(error: BaseException) -> int:
    """Return the exit code for an exception; what is not ours is unexpected."""
    if isinstance(error, ChildFailed):
        return error.code
    if is_lost_output(error):
        return UNEXPECTED
    return next((code for kind, code in _CODES if isinstance(error, kind)), UNEXPECTED)


def error_line(error: BaseException) -> str:
    """Return one line that says what to do.

    A foreign exception gives its class and place only, and one of the operating system the file
    and the reason: other texts may hold memory content.
    """
    if isinstance(error, RetoldError):
        return one_line(error.message.replace(*_FOR_A_COMMAND))
    if isinstance(error, ChildFailed):
        return error.line
    if isinstance(error, OSError) and is_lost_output(error):
        return f"standard output: {error.strerror}; send it elsewhere"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return one_line(f"{error.filename}: {error.strerror}")
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"unexpected {type(error).__name__}{place}; please report this line"


def one_line(text: str) -> str:
    """Return the text without line breaks."""
    return " ".join(text.split())
