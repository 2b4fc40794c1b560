"""Several processes that live and end together."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

from retold.cli.exits import DONE, UNEXPECTED

_EXTRA_SECONDS = 5
"""What a process has beyond its own time to end before it is killed."""


def run_together(
    commands: Sequence[Sequence[str]], environment: Mapping[str, str], *, grace_seconds: float
) -> int:
    """Run commands until SIGTERM, Ctrl-C or the end of one; then end all of them in order.

    Each is told this process by ``RETOLD_SUPERVISOR`` and ends with it. Returns 0 when all ended
    as they should.
    """
    told = {**environment, "RETOLD_SUPERVISOR": str(os.getpid())}
    running: list[subprocess.Popen[bytes]] = []
    with _signals(running) as stopped:
        # Sessions of their own: Ctrl-C in a terminal reaches this process alone, which asks them.
        running += [
            subprocess.Popen(command, env=told, start_new_session=True) for command in commands
        ]
        if stopped:  # a signal that came while they were started
            _ask_to_end(running)
        _wait_for_one(running)
        _ask_to_end(running)
        codes = [_ended(each, grace_seconds + _EXTRA_SECONDS) for each in running]
    return DONE if all(code == 0 for code in codes) else UNEXPECTED


@contextmanager
def _signals(running: Sequence[subprocess.Popen[bytes]]) -> Iterator[list[int]]:
    """Pass SIGTERM and Ctrl-C on inside; yield the list of the signals that came."""
    came: list[int] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        _ask_to_end(running)

    before = {each: signal.signal(each, pass_on) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait_for_one(running: Sequence[subprocess.Popen[bytes]]) -> None:
    """Wait until any of them ends, and leave its exit code to be read."""
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    for each in running:
        each.poll()


def _ask_to_end(running: Sequence[subprocess.Popen[bytes]]) -> None:
    for each in running:
        if each.returncode is None:
            each.send_signal(signal.SIGTERM)


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
