"""How far a long command has got, on standard error."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Final

import click

_STEPS: Final = 10
_BAR_CELLS: Final = 24


class Progress:
    """A bar that is rewritten on a terminal; elsewhere a line at each further tenth.

    Work that is all done by its first report says nothing where lines stay. It never raises:
    nobody loses work because nobody looks.
    """

    def __init__(self, verb: str) -> None:
        """Take the word that lines begin with."""
        self._verb = verb
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._step = 0
        self._width = 0

    def show(self, text: str, share: float | None) -> None:
        """Say how far it is; ``share`` is the part done, None when nobody knows."""
        step = int((share or 0) * _STEPS)
        with suppress(OSError, ValueError):
            if self._is_terminal:
                line = f"{_bar(share)}{self._verb} {text}"
                click.echo(f"\r{line:<{self._width}}", err=True, nl=False)
                self._width = len(line)
            elif share is None:
                click.echo(f"{self._verb} {text}", err=True)
            elif step > self._step and (self._step or step < _STEPS):
                click.echo(f"{self._verb} {step * 100 // _STEPS} %, {text}", err=True)
        self._step = max(self._step, step)

    def end(self) -> None:
        """End the line that was rewritten."""
        if self._width:
            self._width = 0
            with suppress(OSError, ValueError):
                click.echo(err=True)


def _bar(share: float | None) -> str:
    if share is None:
        return ""
    full = int(min(share, 1.0) * _BAR_CELLS)
    return f"[{'#' * full}{'.' * (_BAR_CELLS - full)}] {share:4.0%} "
