"""A writer process that is killed between two of its writes, or inside one."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from retold.cli.demo.script import Crash
from retold.cli.exits import REFUSED, ChildFailed
from retold.models import Principal
from retold.util import new_id

_MOST_DELAY: Final = 16
"""The kill comes up to this many notes after the least number, so that no moment is special."""


@dataclass(frozen=True, slots=True)
class KilledWriter:
    """What a killed process had acknowledged: record ids in the order of its writes.

    ``signal`` is the number of the signal that ended it.
    """

    pid: int
    signal: int
    acknowledged: tuple[str, ...]


def killed_writer(store: Path, principal: Principal, part: Crash) -> KilledWriter:
    """Start a writer, let it acknowledge notes on a pipe, kill it and return what it had said.

    Raises ChildFailed when it ended before it could be killed.
    """
    order = {
        "store": str(store.absolute()),
        "agent": principal.agent_id,
        "user": principal.user_id,
        "note": part.note,
        "type": part.type,
    }
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "retold.cli.demo.writer", json.dumps(order)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None  # both are pipes
        assert process.stderr is not None
        wanted = part.at_least + int(new_id()[-1], 16) % _MOST_DELAY
        acknowledged = _read(process.stdout, wanted)
        process.kill()
        acknowledged += _read(process.stdout, None)
        complaint = process.stderr.read().decode("utf-8", "replace").strip()
    if process.returncode >= 0:
        raise ChildFailed(f"the writer ended by itself: {complaint}", REFUSED)
    return KilledWriter(process.pid, -process.returncode, tuple(acknowledged))


def _read(pipe: IO[bytes], count: int | None) -> list[str]:
    """Read whole lines, at most ``count``; a line that the kill cut short acknowledges nothing."""
    lines: list[str] = []
    while count is None or len(lines) < count:
        line = pipe.readline()
        if not line.endswith(b"\n"):
            break
        lines.append(line.decode("ascii").strip())
    return lines
