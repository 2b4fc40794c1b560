"""The examples of docs/cli.md: real output at 80 columns that anybody gets again.

To document a command, write in docs/cli.md what a reader would type, with nothing under it::

    ```console
    $ retold grant planner project:apollo --read
    ```

Then ``python -m tests.cli_documentation --write`` runs the page from its first example to its last
and fills in what each one prints; ``tests/test_documentation.py`` compares the page on every run.
``...`` in an output stays where it still fits: put it where a line holds milliseconds or bytes.

The examples run in an empty directory that holds ``memory.sqlite``, made by ``prepare``: add there
what a new section needs, at the end. ``retold`` is the real command in a process of its own; it
is only handed the lab's clock, which stands at ``TODAY``, and the lab's ids, which go on counting
from one example to the next. A ``python`` block before an example makes other files.
"""

import argparse
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from retold import Retold
from retold.cli.app import run
from retold.cli.options import Sources
from retold.runtime import Overrides
from retold.testing import MOMENT, CountingIds, FakeClock
from tests import docs_support
from tests.docs_support import ROOT, Block, Runner

PAGES = ("docs/cli.md",)
TODAY = MOMENT.replace(month=2, day=2)
FIRST_ID = 1001
"""What the ids of the examples count from; those of ``prepare`` count from 1."""


def prepare(path: Path) -> None:
    """Make the store that the examples look at; the offline profile with its real models."""
    clock = FakeClock()
    lab = Overrides(clock=clock, id_source=CountingIds())
    with Retold.open(path, profile="offline", overrides=lab) as retold:
        with retold.session("mira", session_id="monday") as session:
            session.turn("user", "I'm allergic to sesame. I live in Porto.")
            session.remember(
                "Mira is allergic to sesame.",
                attribute="allergy",
                evidence="I'm allergic to sesame",
            )
            session.remember(
                "Mira lives in Porto.", attribute="home_city", evidence="I live in Porto"
            )
        clock.advance(days=7)
        with retold.session("mira", session_id="next monday") as session:
            session.turn("user", "We have moved to Braga now. 我每天早上喝乌龙茶。")
            session.remember(
                "Mira lives in Braga.", attribute="home_city", evidence="We have moved to Braga now"
            )
            session.remember("我每天早上喝乌龙茶。", attribute="drink")
            session.remember("Mira may like jasmine tea too.", allow_inference=True)
        clock.advance(days=1)
        retold.host.grant("planner", "project:apollo", read=True)
        retold.host.write(
            "project:apollo", "The launch window opens at dawn.", source="wiki/launch"
        )


class LabRunner(Runner):
    """Run the examples of a page with the lab's clock and ids, 80 columns wide."""

    retold = (
        "-c",
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.cli_documentation import lab_command\nsys.exit(lab_command())\n",
    )

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        (tools := directory / ".lab").mkdir()
        command = tools / "retold"
        command.write_text(f"#!{sys.executable}\n{self.retold[1]}", encoding="utf-8")
        command.chmod(0o755)
        self.environment["PATH"] = f"{tools}{os.pathsep}{self.environment['PATH']}"
        self.environment["COLUMNS"] = "80"
        self.environment["RETOLD_LAB"] = str(tools / "next_id")
        prepare(directory / "memory.sqlite")


def lab_command() -> int:
    """Be ``retold`` for one example, with ids that go on from the last one."""
    state = Path(os.environ["RETOLD_LAB"])
    number = int(state.read_text("utf-8")) if state.exists() else FIRST_ID
    used = 0

    def next_id() -> str:
        nonlocal used
        used += 1
        return CountingIds.nth(number + used - 1)

    try:
        return run(sources=Sources(FakeClock(TODAY), next_id))
    finally:
        state.write_text(str(number + used), "utf-8")


def rewritten(page: str, file: str, directory: Path) -> str:
    """Return the page with the output of every console example as it is printed today."""
    lines = page.splitlines()
    with LabRunner(directory) as runner:
        for block in reversed([*_outputs(page, file, runner)]):
            shown = block.text.splitlines()
            lines[block.line : lines.index("```", block.line)] = shown
    return "\n".join(lines) + "\n"


def _outputs(page: str, file: str, runner: Runner) -> Iterator[Block]:
    """Run every block in order and yield the console blocks with their present output."""
    for block in docs_support.blocks_of(page, file):
        if not block.runs:
            continue
        if block.language == "python":
            runner.python(block)
            continue
        text = "\n".join(
            f"$ {command.line}\n{merged(command.expected, runner.command(command.line))}".rstrip()
            for command in docs_support.commands_of(block)
        )
        yield Block(block.file, block.line, block.tags, text)


def merged(expected: str, actual: str) -> str:
    """Return the output to show: the lines printed, in the words of the page where those fit."""
    if docs_support.matches(expected, actual):
        return expected
    old = expected.strip("\n").splitlines()
    printed = [line.rstrip() for line in actual.strip("\n").splitlines()]
    shown: list[str] = []
    above = below = 0
    for kept, fitting in [*_common(old, printed), (len(old), len(printed))]:
        new = printed[below:fitting]
        shown += ["..."] if new and "..." in old[above:kept] else new
        shown += old[kept : kept + 1]
        above, below = kept + 1, fitting + 1
    return "\n".join(shown)


def _common(old: Sequence[str], printed: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of the longest run of old lines, in order, that still fit."""
    best: list[list[list[tuple[int, int]]]] = [[[] for _ in range(len(printed) + 1)]]
    for above, line in enumerate(old):
        row: list[list[tuple[int, int]]] = [[]]
        for below, new in enumerate(printed):
            longest = max(best[above][below + 1], row[below], key=len)
            if line != "..." and re.fullmatch(docs_support.line_pattern(line), new):
                longest = max(longest, [*best[above][below], (above, below)], key=len)
            row.append(longest)
        best.append(row)
    return best[-1][-1]


def main() -> int:
    """Compare the pages with what the examples print; ``--write`` brings them up to date."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--write", action="store_true", help="change the pages")
    write = parser.parse_args().write
    stale = []
    for file in PAGES:
        page = (ROOT / file).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as directory:
            present = rewritten(page, file, Path(directory))
        if present != page:
            stale.append(file)
            if write:
                (ROOT / file).write_text(present, encoding="utf-8")
    command = shlex.join([Path(sys.executable).name, "-m", "tests.cli_documentation", "--write"])
    for file in stale:
        verdict = "brought up to date" if write else f"out of date; run {command}"
        sys.stdout.write(f"{file}: {verdict}\n")
    return 0 if write or not stale else 1


if __name__ == "__main__":
    sys.exit(main())
