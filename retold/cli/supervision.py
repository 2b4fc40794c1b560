"""Several processes that live and end together."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from retold.cli.exits import DONE, UNEXPECTED
from retold.operations.stopping import AT_ONCE, StopRequests, listen

_EXTRA_SECONDS = 5
"""What a process has beyond its own time to end before it is killed."""


def run_together(
    commands: Sequence[Sequence[str]], environment: Mapping[str, str], *, grace_seconds: float
) -> int:
    """Run commands until somebody asks to stop, or one ends; then let all of them end.

    Each is told this process by ``RETOLD_SUPERVISOR``, ends with it, takes any number of SIGTERMs
    for one, and stops waiting for its work at ``AT_ONCE``. Returns 0 when all ended as they should.
    """
    told = {**environment, "RETOLD_SUPERVISOR": str(os.getpid())}
    running: list[subprocess.Popen[bytes]] = []
    with _signals(running) as stopped:
        # Sessions of their own: Ctrl-C in a terminal reaches this process alone, which asks them.
        running += [
            subprocess.Popen(command, env=told, start_new_session=True) for command in commands
        ]
        if stopped:  # a signal that came while they were started
            _send(running, signal.SIGTERM)
        _wait_for_one(running)
        _send(running, signal.SIGTERM)
        codes = [_ended(each, grace_seconds + _EXTRA_SECONDS) for each in running]
        # A process that was stopped before it could listen died of it.
        as_asked = (0, -signal.SIGTERM, -AT_ONCE) if stopped else (0,)
    return DONE if all(code in as_asked for code in codes) else UNEXPECTED


@contextmanager
def _signals(running: Sequence[subprocess.Popen[bytes]]) -> Iterator[list[int]]:
    """Pass requests to stop on inside; yield the list of the signals that came."""
    came: list[int] = []
    requests = StopRequests()

    def pass_on(number: int, _frame: object) -> None:
        came.append(number)
        _send(running, AT_ONCE if requests.note() else signal.SIGTERM)

    before = listen(pass_on)
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


def _send(running: Sequence[subprocess.Popen[bytes]], number: int) -> None:
    for each in running:
        each.send_signal(number)  # does nothing to one that has ended


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
