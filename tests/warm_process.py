"""Processes that are forked from one that has imported the library.

Importing costs more than most programs of the tests do. Each still is a process of its own, from
its first line to its exit code, and a child of the tests; only a start that itself is under test
needs an interpreter of its own.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import inspect
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from tests.network_guard import outside_guard

PRELOADED = (
    "numpy",
    "yaml",
    "retold.runtime",
    "retold.memory.opened",
    "retold.operations.status",
    "retold.testing",
)
LONGEST_REQUEST = 1 << 17
PR_SET_CHILD_SUBREAPER = 36
PR_SET_PDEATHSIG = 1

UNUSED = {
    "executable": None,
    "preexec_fn": None,
    "pass_fds": (),
    "shell": False,
    "restore_signals": True,
    "umask": -1,
    "process_group": -1,
}
HANDLES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


class WarmPopen(subprocess.Popen):
    """A ``Popen`` of ``[sys.executable, "-m", "-c" or a file, ...]`` that starts no interpreter.

    ``cwd``, ``env``, ``start_new_session``, the three streams and how they are read are those of
    ``Popen``, and a standard output of ``CLOSED`` is none at all, as after ``>&-``; other options
    are refused.
    """

    CLOSED = object()

    def __init__(self, args, *, stdout=None, **options) -> None:
        """Start the program."""
        self._closed = [1] if stdout is self.CLOSED else []
        super().__init__(args, stdout=None if self._closed else stdout, **options)

    def _execute_child(self, *given) -> None:
        """Do what ``Popen`` does here, but in the process behind."""
        known = inspect.signature(super()._execute_child).bind(*given).arguments
        assert {name: known[name] for name in UNUSED} == UNUSED
        program, *words = map(os.fspath, known["args"])
        assert program == sys.executable
        kind, name, *arguments = words if words[0] in ("-c", "-m") else ("file", *words)
        request = {
            "kind": kind,
            "name": name,
            "arguments": arguments,
            "cwd": os.fspath(known["cwd"] or Path.cwd()),
            "environment": dict(os.environ if known["env"] is None else known["env"]),
            "closed": self._closed,
            "new_session": known["start_new_session"],
        }
        streams = [known[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        self.pid = SERVER.start(
            request, [own if fd == -1 else fd for own, fd in enumerate(streams)]
        )
        self._child_created = True
        self._close_pipe_fds(*(known[name] for name in HANDLES))


def warm_run(args, *, timeout=120, **options) -> subprocess.CompletedProcess:
    """Return what ``subprocess.run`` does, ``capture_output`` and ``check`` apart."""
    with WarmPopen(args, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(args, process.returncode, out, err)


class _Server:
    """The process behind; it starts with the first request."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._socket: socket.socket | None = None

    def start(self, request: dict, streams: list[int]) -> int:
        """Return the id of a new process with these streams, a child of this one."""
        if self._socket is None:
            self._begin()
        # Whoever forks it ends at once, and the orphan comes to this process, not to the first.
        prctl = ctypes.CDLL(None).prctl
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode()], streams)
            answer = self._socket.recv(100)
        finally:
            prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        assert answer, "the process behind has ended"
        return int(answer)

    def close(self) -> None:
        """End the process behind."""
        if self._socket is not None:
            self._socket.close()
            self._process.wait()

    def _begin(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RETOLD_")}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm_process", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                cwd=Path(__file__).parents[1],
                env=outside_guard.guarded_environment(kept | {"OPENBLAS_NUM_THREADS": "1"}),
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self.close)


SERVER = _Server()


def _serve(connection: socket.socket) -> None:
    """Fork a program for every request, until nobody is left to ask."""
    from retold.cli.app import COMMANDS, cli

    for name in PRELOADED:
        importlib.import_module(name)
    context = cli.make_context("retold", [], resilient_parsing=True)
    for name in COMMANDS:
        cli.get_command(context, name)
    while True:
        data, streams, _, _ = socket.recv_fds(connection, LONGEST_REQUEST, 3)
        if not data:
            return
        ids, begins = os.pipe(), os.pipe()
        between = os.fork()
        if between == 0:
            child = os.fork()
            if child == 0:
                connection.close()
                os.read(begins[0], 1)
                _end_with(json.loads(data), streams)
                return
            os.write(ids[1], str(child).encode())
            os._exit(0)
        os.waitpid(between, 0)
        # Not before: until then it has another parent.
        os.write(begins[1], b"!")
        connection.send(os.read(ids[0], 100))
        for one in (*ids, *begins, *streams):
            os.close(one)


def _end_with(request, streams) -> None:
    """Be the program, and end with it; return only when the end is the interpreter's to tell.

    Taking down all that was imported costs more than most programs do, so that it is left out.
    """
    try:
        _become(request, streams)
        code = 0
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except OSError:
        sys.exit(code)
    os._exit(code)


def _become(request, streams) -> None:
    """Do all that the program does until its last line."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, max(streams) + 100)
    for number in request["closed"]:
        os.close(number)
    if request["new_session"]:
        os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # What is left of killed tests would go on for ever.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    sys.stdin = _stream(0, "r")
    sys.stdout = None if 1 in request["closed"] else _stream(1, "w")
    sys.stderr = _stream(2, "w", 1, errors="backslashreplace")
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    kind, name = request["kind"], request["name"]
    sys.argv = ["-c" if kind == "-c" else name, *request["arguments"]]
    if kind == "-m":
        sys.path[0] = request["cwd"]
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    elif kind == "file":
        sys.path[0] = str(Path(name).resolve().parent)
        runpy.run_path(name, run_name="__main__")
    else:
        sys.path[0] = ""
        exec(compile(name, "<string>", "exec"), {"__name__": "__main__"})


def _stream(number, mode, buffering=-1, errors="strict"):
    return open(number, mode, buffering, encoding="utf-8", errors=errors, closefd=False)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
