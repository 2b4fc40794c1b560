"""Read the fenced blocks of the documentation and run the ones that are examples.

Every fence is tagged with a language.

- ``python`` blocks run, in one process for each file, so that they share names.
  What a block prints is compared with a block tagged ``text output`` right after it; without one
  it must print nothing.
- ``console`` blocks run too.
  A line that starts with ``$ `` is a command for bash, and the lines up to the next one are what it
  prints on standard output and standard error together.
  A command that fails prints ``[exit N]`` on a line of its own at the end.
- Both kinds run in file order in one empty directory for each file, without a network.
- In an expected output ``...`` stands for any characters within a line; alone on a line, for any
  number of lines.
- ``file=NAME.py`` after ``python`` saves the block in that directory instead of running it; later
  examples import it or run it.
- ``norun`` after ``python`` or ``console`` marks what needs a key or a model hub.
  ``test_documentation.py`` lists these blocks and checks the options in them against ``--help``.
- ``bash``, ``json``, ``sql``, ``text``, ``toml`` and ``yaml`` blocks are shown and never run.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cli_support import retold_here
from tests.network_guard import outside_guard
from tests.warm_process import WarmPopen, warm_run

ROOT = Path(__file__).parent.parent
RUN = ("python", "console")
SHOWN = ("bash", "json", "sql", "text", "toml", "yaml")
SECONDS = 120

FILE_TAG = re.compile(r"file=(?P<name>\w+\.py)")
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`]*)$")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block; ``line`` is the number of its opening fence, counted from 1."""

    file: str
    line: int
    tags: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        """Return where the block stands, as ``file:line``."""
        return f"{self.file}:{self.line}"

    @property
    def language(self) -> str:
        """Return the first tag; empty when the fence has none."""
        return self.tags[0] if self.tags else ""

    @property
    def runs(self) -> bool:
        """Tell whether this block is an executed example."""
        return self.language in RUN and "norun" not in self.tags and self.saved_as is None

    @property
    def saved_as(self) -> str | None:
        """Return the name of the file that this block is; None for every other block."""
        match = FILE_TAG.fullmatch(self.tags[1]) if len(self.tags) > 1 else None
        return match["name"] if match else None

    @property
    def is_output(self) -> bool:
        """Tell whether this block shows what the Python block before it prints."""
        return self.tags == ("text", "output")


@dataclass(frozen=True, slots=True)
class Command:
    """One ``$`` line of a console block with the output expected of it."""

    line: str
    expected: str


def documents(root: Path = ROOT) -> tuple[Path, ...]:
    """Return the README, when there is one, then all pages under docs, sorted."""
    readme = [root / "README.md"] if (root / "README.md").exists() else []
    return (*readme, *sorted((root / "docs").rglob("*.md")))


def blocks_of(text: str, file: str) -> tuple[Block, ...]:
    """Return the fenced blocks of a page in order; a fence left open raises ValueError."""
    blocks = []
    opened: tuple[int, str, tuple[str, ...]] | None = None
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = FENCE.match(line)
        if opened is None and match:
            opened = (number, match["indent"], tuple(match["info"].split()))
            lines = []
        elif opened is not None and match and not match["info"].strip():
            blocks.append(Block(file, opened[0], opened[2], "\n".join(lines)))
            opened = None
        elif opened is not None:
            lines.append(line.removeprefix(opened[1]))
    if opened is not None:
        raise ValueError(f"{file}:{opened[0]}: this fence is never closed")
    return tuple(blocks)


def tag_problem(block: Block, previous: Block | None) -> str | None:
    """Return what is wrong with the tags of a block; None when nothing is."""
    rest = block.tags[1:]
    if block.language not in (*RUN, *SHOWN):
        return f"{block.place}: tag this fence with one of {', '.join((*RUN, *SHOWN))}"
    allowed = {"python": "norun", "console": "norun", "text": "output"}.get(block.language)
    if block.language == "python" and len(rest) == 1 and block.saved_as:
        return None
    if rest and rest != (allowed,):
        return f"{block.place}: unknown tag {' '.join(rest)!r} after {block.language!r}"
    if block.is_output and (previous is None or previous.language != "python"):
        return f"{block.place}: an output block follows the python block that prints it"
    return None


def commands_of(block: Block) -> tuple[Command, ...]:
    """Split a console block; text before its first ``$`` line raises ValueError."""
    commands: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
        elif line.strip():
            raise ValueError(f"{block.place}: the first line of a console block starts with '$ '")
    return tuple(Command(line, "\n".join(output)) for line, output in commands)


def matches(expected: str, actual: str) -> bool:
    """Compare line by line without trailing blanks; ``...`` is wild as the module says."""
    wanted = expected.strip("\n").splitlines()
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "..." else line_pattern(line) + r"\n" for line in wanted
    )
    lines = [line.rstrip() for line in actual.strip("\n").splitlines()]
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def line_pattern(line: str) -> str:
    """Return the regular expression of one expected line."""
    return r".*".join(re.escape(part) for part in line.rstrip().split("..."))


PLAIN_CALL = re.compile(r"""retold(?: +(?:[\w./:=,@+-]|"[^"$`\\]*"|'[^']*')+)*""")
"""A call of ``retold`` that a shell passes on as it stands."""

PYTHON_HOST = """
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for request in sys.stdin:
    block = json.loads(request)
    printed, error = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile("\\n" * block["line"] + block["text"], block["file"], "exec"), names)
        except BaseException:
            error = traceback.format_exc()
    print(json.dumps({"printed": printed.getvalue(), "error": error}), flush=True)
"""


class Runner:
    """Run the examples of one page in a directory of their own; a context manager."""

    retold = ("-m", "retold")
    """What Python runs for a plain call of ``retold``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = example_environment(os.environ, directory)
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *exception: object) -> None:
        if self.process is not None:
            self.process.communicate(timeout=SECONDS)

    def python(self, block: Block) -> str:
        """Run a Python block and return what it printed; its exception fails the test."""
        if self.process is None:
            self.process = WarmPopen(
                [sys.executable, "-c", PYTHON_HOST],
                cwd=self.directory,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"file": block.file, "line": block.line, "text": block.text}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"{block.place} ended the process"
        reply = json.loads(answer)
        assert reply["error"] is None, f"{block.place} raised\n{reply['error']}"
        return str(reply["printed"])

    def save(self, block: Block) -> None:
        """Write a block into the directory under the name that its tag gives it."""
        assert block.saved_as is not None
        (self.directory / block.saved_as).write_text(block.text + "\n", encoding="utf-8")

    def command(self, line: str) -> str:
        """Run one command line and return all it printed, with ``[exit N]`` when it failed.

        A shell is asked where there is something for it to do.
        """
        options = {
            "cwd": self.directory,
            "env": self.environment,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "text": True,
            "timeout": SECONDS,
        }
        if PLAIN_CALL.fullmatch(line):
            done = warm_run([sys.executable, *self.retold, *shlex.split(line)[1:]], **options)
        else:
            done = subprocess.run(["bash", "-c", line], check=False, **options)
        status = f"[exit {done.returncode}]\n" if done.returncode else ""
        return done.stdout + status


def example_environment(environment: Mapping[str, str], directory: Path) -> dict[str, str]:
    """Return what an example sees: the installed `retold`, no setting of ours, no network."""
    kept = {name: value for name, value in environment.items() if not name.startswith("RETOLD_")}
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    kept["HOME"] = str(directory)
    kept["COLUMNS"] = "100"
    return outside_guard.guarded_environment(kept)


def help_of(*command: str) -> str:
    """Return the ``--help`` text of a command."""
    finished = retold_here(*command, "--help", COLUMNS="200")
    assert finished.code == 0, finished
    return finished.out


def subcommands(help_text: str) -> tuple[str, ...]:
    """Return the names under ``Commands:`` of a help text; empty when it has none."""
    _, _, listing = help_text.partition("\nCommands:\n")
    return tuple(re.findall(r"^  ([a-z][\w-]*)(?: |$)", listing, flags=re.MULTILINE))


def all_commands() -> Iterator[tuple[str, ...]]:
    """Yield every command that does something, as a tuple of names below `retold`."""
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        command = waiting.pop()
        children = subcommands(help_of(*command))
        waiting.extend((*command, child) for child in children)
        if command and not children:
            yield command


def retold_calls(block: Block) -> Iterator[tuple[str, ...]]:
    """Yield the words of every `retold ...` command of a console block, `retold` left out."""
    for command in commands_of(block):
        words = shlex.split(command.line, comments=True)
        if words[:1] == ["retold"]:
            yield tuple(words[1:])


def unknown_options(words: tuple[str, ...], names: set[tuple[str, ...]]) -> list[str]:
    """Return the options in a call of `retold` that the ``--help`` of its command lacks."""
    plain = tuple(word for word in words if not word.startswith("-"))
    command = max((name for name in names if contains_in_order(plain, name)), key=len, default=())
    known = set(re.findall(r"--?[A-Za-z][\w-]*", help_of(*command) + help_of()))
    options = [word.partition("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]
    return [option for option in options if option not in known]


def contains_in_order(words: tuple[str, ...], name: tuple[str, ...]) -> bool:
    """Tell whether a command's names follow each other somewhere in the words."""
    width = len(name)
    return any(words[at : at + width] == name for at in range(len(words) - width + 1))
