"""``retold completion``: the script, and what a real bash completes with it."""

import subprocess
import sys
from pathlib import Path

import pytest

from retold.cli.app import COMMANDS
from tests.cli_support import environment, refusal, retold, retold_here

SHELLS = {"bash": "complete -o", "zsh": "#compdef retold", "fish": "complete --no-files"}


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_prints_a_script_for_each_shell(shell):
    finished = retold_here("completion", shell)

    assert (finished.code, finished.err) == (0, "")
    assert SHELLS[shell] in finished.out
    assert retold_here("completion", shell, "--json").document == {
        "shell": shell,
        "script": finished.out.removesuffix("\n"),
    }


def test_another_shell_is_refused_by_name():
    assert "'bash', 'zsh', 'fish'" in refusal(retold_here("completion", "tcsh"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["retold", "st"], {"status"}),
        (["retold", "--sto"], {"--store"}),
        (["retold", "scope", "l"], {"list"}),
        (["retold", "list", "--status", "e"], {"expired"}),
        (["retold", "search", "--log"], {"--log"}),
        (["retold", "completion", ""], {"bash", "zsh", "fish"}),
        (["retold", "--profile", ""], {"standard", "lite", "offline"}),
        (["retold", "models", "pull", "l"], {"lite"}),
        (["retold", ""], set(COMMANDS)),
    ],
    ids=" ".join,
)
def test_bash_completes_with_the_script(words, expected, tmp_path):
    (tmp_path / "script").write_text(retold("completion", "bash").out)
    command = tmp_path / "retold"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m retold "$@"\n')
    command.chmod(0o755)
    quoted = " ".join(f"'{word}'" for word in words)
    program = (
        f"source ./script; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
        "_retold_completion ./retold; printf '%s\\n' \"${COMPREPLY[@]}\""
    )

    done = subprocess.run(
        ["bash", "-c", program],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env=environment(),
        text=True,
    )

    assert done.stderr == ""
    assert set(done.stdout.split()) == expected


def test_completing_a_command_loads_none_of_them(tmp_path):
    program = (
        "import os, sys\n"
        "os.environ |= {'_RETOLD_COMPLETE': 'bash_complete', 'COMP_WORDS': 'retold ', "
        "'COMP_CWORD': '1'}\n"
        "from retold.cli.app import run\n"
        "try:\n    run([])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('numpy', 'apsw', 'retold.cli.search') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        cwd=tmp_path,
        env=environment(),
        text=True,
    )

    assert "plain,status" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_page_says_where_the_scripts_go():
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")

    assert all(f"retold completion {shell} > " in page for shell in SHELLS)
