"""A program that is forked ends as it would in an interpreter of its own."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.cli_support import environment
from tests.docs_support import ROOT
from tests.warm_process import WarmPopen, warm_run

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
PROGRAMS = {
    "end": "import sys; print(__name__, sys.argv, end='')",
    "code": "import sys; sys.exit(4)",
    "words": "import sys; sys.exit('no')",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "interrupted": "raise KeyboardInterrupt",
    "error": "import sys; print('printed'); 1 / 0",
    "atexit": "import atexit; atexit.register(print, 'last')",
    "thread": (
        "import sys, threading; sys.stdin.close()\n"
        "threading.Timer(0.05, print, ['after the last line']).start()"
    ),
    "streams": "import sys; print(sys.stdin.read()); print('told', file=sys.stderr)",
    "folder": "import os, sys; print(os.getcwd(), os.environ['SAID'], len(os.environ))",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_forked_program_ends_as_a_fresh_one(program, tmp_path):
    command = [sys.executable, "-c", PROGRAMS[program], "an argument"]
    options = {"stdin": subprocess.DEVNULL, "cwd": tmp_path, "env": {"SAID": "so", "LC_ALL": "C"}}

    fresh = subprocess.run(command, **PIPES, **options, check=False)
    warm = warm_run(command, **PIPES, **options)

    assert (warm.returncode, warm.stdout) == (fresh.returncode, fresh.stdout)
    assert warm.stderr.splitlines()[-1:] == fresh.stderr.splitlines()[-1:]


@pytest.mark.parametrize("program", ["print('lost')", "import os; os.write(1, b'lost')"])
def test_forked_program_ends_as_a_fresh_one_on_a_full_device(program):
    command = [sys.executable, "-c", program]
    with open("/dev/full", "wb") as full:
        fresh = subprocess.run(command, **PIPES | {"stdout": full}, check=False, env={})
        warm = warm_run(command, **PIPES | {"stdout": full}, env={})

    assert warm.returncode == fresh.returncode
    assert warm.stderr.splitlines()[-1] == fresh.stderr.splitlines()[-1]


def test_forked_program_is_a_child_of_the_tests_in_a_session_of_its_own():
    program = "import os; print(os.getpid(), os.getppid(), os.getsid(0)); input()"
    with WarmPopen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, start_new_session=True, **PIPES
    ) as process:
        out, _ = process.communicate("\n", timeout=60)

    own, parent, session = map(int, out.split())
    assert (own, parent, session) == (process.pid, os.getpid(), process.pid)


def test_forked_program_has_no_standard_output_where_it_is_closed():
    program = "import sys; print(sys.stdout, file=sys.stderr)"

    done = warm_run(
        [sys.executable, "-c", program],
        stdout=WarmPopen.CLOSED, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip

    assert done.stderr == "None\n"


KILLED_TESTS = """
import os, signal, subprocess, sys
from multiprocessing import active_children
from pathlib import Path
from tests.faults.many_processes import FORKED, open_together, processes
from tests.cli_support import environment
from tests.docs_support import ROOT
from tests.warm_process import WarmPopen

waits = "import os, threading; print(os.getpid(), flush=True); threading.Event().wait()"
warm = WarmPopen([sys.executable, "-c", waits], stdout=subprocess.PIPE, text=True)
barrier = FORKED.Barrier(2)
with processes(FORKED.Queue(), barrier) as start:
    start(open_together, Path(), 1)
    while not barrier.n_waiting:
        os.sched_yield()
    print(warm.stdout.readline(), *(each.pid for each in active_children()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_processes_of_tests_that_are_killed_end_with_them():
    """Their streams come to an end only when the last of them is gone."""
    command = [sys.executable, "-c", KILLED_TESTS]
    with subprocess.Popen(command, **PIPES, env=environment(), cwd=ROOT) as tests:
        left = [int(word) for word in (tests.stdout.readline() + tests.stdout.readline()).split()]
        try:
            tests.communicate(timeout=60)
        finally:
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    assert len(left) == 2
    assert tests.returncode == -signal.SIGKILL
