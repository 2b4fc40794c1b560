"""A process that has imported the command line and forks a child for each one to run.

Importing costs more than most commands do. Each command still runs in a process of its own, from
``python -m retold`` to its exit code; only a start that itself is under test needs an interpreter
of its own. Requests are lines of JSON on standard input, answered by the exit code.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

PRELOADED = (
    "numpy",
    "yaml",
    "retold.runtime",
    "retold.memory.opened",
    "retold.operations.status",
)


class WarmCommands:
    """Run commands one after the other; the process behind starts with the first."""

    def __init__(self, environment: dict[str, str]) -> None:
        """Take the environment of the process, which its imports see."""
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None

    def run(
        self, arguments: list[str], *, cwd: Path, environment: dict[str, str], seconds: float
    ) -> tuple[int, bytes, bytes]:
        """Return exit code, standard output and standard error of ``retold`` with these."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            request = {
                "arguments": arguments,
                "cwd": str(cwd),
                "environment": environment,
                "streams": [f"/proc/{os.getpid()}/fd/{one.fileno()}" for one in (out, err)],
            }
            code = self._asked(json.dumps(request), seconds)
            return code, *(_whole(stream) for stream in (out, err))

    def close(self) -> None:
        """End the process behind."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _asked(self, line: str, seconds: float) -> int:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm_cli"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[1],
                env=self._environment,
                text=True,
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        hung = threading.Timer(seconds, process.kill)
        hung.start()
        try:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            return int(process.stdout.readline())
        finally:
            hung.cancel()


def _whole(stream) -> bytes:
    stream.seek(0)
    return stream.read()


def _serve() -> None:
    from retold.cli.app import COMMANDS, cli

    for name in PRELOADED:
        importlib.import_module(name)
    context = cli.make_context("retold", [], resilient_parsing=True)
    for name in COMMANDS:
        cli.get_command(context, name)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(request) -> None:
    """Be the command until its end, and end without returning."""
    for number, path in enumerate(request["streams"], start=1):
        os.dup2(os.open(path, os.O_WRONLY), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    sys.argv = ["retold", *request["arguments"]]
    code = 1
    try:
        runpy.run_module("retold", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    with contextlib.suppress(Exception):
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve()
