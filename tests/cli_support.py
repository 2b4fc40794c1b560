"""Command lines in processes of their own, without a network and without settings of the caller."""

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from retold.cli.app import run
from tests.network_guard import outside_guard
from tests.warm_process import warm_run

SECONDS = 120


@dataclass(frozen=True, slots=True)
class Finished:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Return standard output read as one JSON document."""
        return json.loads(self.out)


def environment(**variables: str) -> dict[str, str]:
    """Return an environment with the guard, 80 columns and no setting but the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RETOLD_")}
    kept.pop("NO_COLOR", None)
    return outside_guard.guarded_environment(kept | {"COLUMNS": "80"}) | variables


OWN_START = ("PYTHON", "LANG", "LC_", "OMP_", "OPENBLAS_")
"""Variables that an interpreter, or a library, reads when it starts."""


def retold(*arguments: str | Path, cwd: Path | None = None, **variables: str) -> Finished:
    """Run ``retold`` with these arguments in a process of its own."""
    needs_a_start = any(name.startswith(OWN_START) for name in variables)
    return _ran(subprocess.run if needs_a_start else warm_run, arguments, cwd, variables)


def retold_afresh(*arguments: str | Path, cwd: Path | None = None, **variables: str) -> Finished:
    """Run ``retold`` in an interpreter that starts with it."""
    return _ran(subprocess.run, arguments, cwd, variables)


def _ran(run: Any, arguments: Any, cwd: Path | None, variables: dict[str, str]) -> Finished:
    done = run(
        [sys.executable, "-m", "retold", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=environment(**variables),
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def retold_here(
    *arguments: str | Path,
    store: Path | None = None,
    cwd: Path | None = None,
    **variables: str,
) -> Finished:
    """Run ``retold`` on a store in this process: sooner, where that proves as much."""
    if store is not None:
        variables["RETOLD_STORE"] = str(store)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RETOLD_")}
    kept.pop("NO_COLOR", None)
    with (
        mock.patch.dict(os.environ, kept | {"COLUMNS": "80"} | variables, clear=True),
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")) as out,
        contextlib.redirect_stderr(io.TextIOWrapper(io.BytesIO(), "utf-8")) as err,
    ):
        code = run([*map(str, arguments)])
        out.flush(), err.flush()
    return Finished(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def without_modules(directory: Path, *names: str) -> str:
    """Return a PYTHONPATH under which these modules are not installed; its file is in directory."""
    (directory / "sitecustomize.py").write_text(
        "import sys, outside_guard\noutside_guard.install()\n"
        f"sys.modules.update(dict.fromkeys({names!r}))\n",
        encoding="utf-8",
    )
    return os.pathsep.join([str(directory), environment()["PYTHONPATH"]])


def refusal(finished: Finished, code: int = 2) -> str:
    """Check that a command failed with one line on standard error alone, and return the line."""
    assert (finished.code, finished.out) == (code, ""), finished
    lines = finished.err.splitlines()
    assert len(lines) == 1, finished.err
    assert lines[0].startswith("retold: ")
    return lines[0]
