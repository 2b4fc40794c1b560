"""Commands that end early: a reader that leaves, Ctrl-C, and nowhere to write to."""

import os
import pty
import signal
import subprocess
import sys

import pytest

from tests.cli.test_dump import multiply, read_all
from tests.cli_support import environment, retold_here
from tests.warm_process import WarmPopen, warm_run

PRINTING = {
    "get": ("get", "AN_ID"),
    "list": ("list",),
    "history": ("history", "AN_ID"),
    "dump": ("dump",),
    "scope": ("scope", "list"),
    "completion": ("completion", "bash"),
    "grant": ("grant", "planner", "project:apollo", "--read"),
}


@pytest.fixture
def known(store):
    """Return the command lines with the id of a record."""
    page = retold_here("list", "--json", "--limit", "1", store=store).document
    return {
        name: [word.replace("AN_ID", page["records"][0]["id"]) for word in words]
        for name, words in PRINTING.items()
    }


@pytest.mark.parametrize("command", PRINTING)
def test_closed_output_ends_a_command_in_silence(command, known, store):
    done = warm_run(
        [sys.executable, "-m", "retold", *known[command]],
        stdout=WarmPopen.CLOSED,
        stderr=subprocess.PIPE,
        env=environment(RETOLD_STORE=str(store)),
        text=True,
    )

    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "left out" not in line] == []


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("command", PRINTING)
def test_full_device_is_one_line(command, options, known, store):
    with open("/dev/full", "wb") as full:
        done = warm_run(
            [sys.executable, "-m", "retold", *known[command], *options],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(RETOLD_STORE=str(store)),
            text=True,
        )

    assert done.returncode == 1
    assert done.stderr == "retold: standard output: No space left on device; send it elsewhere\n"


def test_reader_that_leaves_a_dump_early_ends_it_in_silence(store):
    multiply(store, 3000)
    with WarmPopen(
        [sys.executable, "-m", "retold", "dump", "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout.readline().startswith(b"{")
        process.stdout.close()
        said = process.stderr.read().decode()
        code = process.wait(timeout=120)

    assert code == 1
    assert [line for line in said.splitlines() if not line.startswith("dumped ")] == []
    assert [path.name for path in store.parent.iterdir()] == [store.name]


def test_ctrl_c_is_one_line_and_leaves_no_file(store):
    multiply(store, 3000)
    with WarmPopen(
        [sys.executable, "-m", "retold", "dump", "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout.readline().startswith(b"{")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)

    assert process.returncode == 1
    assert said.decode().splitlines()[-1] == "retold: interrupted"
    assert all(line.startswith(("dumped ", "retold: inter")) for line in said.decode().splitlines())
    assert [path.name for path in store.parent.iterdir()] == [store.name]


def test_ctrl_c_begins_a_line_of_its_own_on_a_terminal(store, tmp_path):
    """The bar and the ^C of the terminal stand on a line that is ended first."""
    multiply(store, 6000)
    ours, theirs = pty.openpty()
    reading, writing = os.pipe()
    process = WarmPopen(
        [sys.executable, "-m", "retold", "dump", "--store", str(store)],
        stdout=writing,
        stderr=theirs,
        env=environment(),
    )
    os.close(theirs)
    os.close(writing)
    with os.fdopen(reading, "rb") as records:
        for _ in range(2000):
            records.readline()
        process.send_signal(signal.SIGINT)
        records.read()
        shown = read_all(ours)

    assert process.wait(timeout=120) == 1
    assert shown.endswith("\r\nretold: interrupted\r\n")
    assert "Traceback" not in shown


def test_ctrl_c_while_the_program_starts_is_no_traceback(tmp_path):
    """Fails when `main` no longer catches an interrupt around its import."""
    (tmp_path / "sitecustomize.py").write_text(
        "import outside_guard, sys\noutside_guard.install()\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'retold.cli.app':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
    )
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])

    done = subprocess.run(
        [sys.executable, "-m", "retold", "--help"],
        capture_output=True,
        check=False,
        env=environment(PYTHONPATH=path),
    )

    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
