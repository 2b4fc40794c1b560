"""How docs/cli.md is made: see tests/cli_documentation.py. Its content is compared elsewhere."""

import re

import pytest
from wcwidth import wcswidth

from tests import cli_documentation, docs_support
from tests.cli_documentation import merged
from tests.cli_support import retold_here

ROOT = docs_support.ROOT


@pytest.mark.parametrize(
    ("page", "printed", "shown"),
    [
        ("", "a\nb\n", "a\nb"),
        ("took ... ms", "took 3 ms\n", "took ... ms"),
        ("old\ntook ... ms", "new\ntook 3 ms\n", "new\ntook ... ms"),
        ("took ... ms\na", "a\nb\n", "a\nb"),
        ("a\n...\nd", "a\nb\nc\nd\ne\n", "a\n...\nd\ne"),
        ("a ...\n\nb ...", "x\na 1\n\nb 2\n", "x\na ...\n\nb ..."),
    ],
    ids=["empty", "fits", "another line", "gone", "lines left out", "more lines"],
)
def test_output_is_shown_in_the_words_of_the_page_where_they_fit(page, printed, shown):
    assert merged(page, printed) == shown
    assert docs_support.matches(shown, printed)


def test_page_made_again_holds_what_was_printed(tmp_path):
    page = (
        "# A page\n\n```console\n$ retold status --store none\nold\n```\n\n"
        '```python\nopen("made", "w").write("words")\n```\n\n```console\n$ cat made\n$ false\n```\n'
    )

    made = cli_documentation.rewritten(page, "page.md", tmp_path)

    assert made == (
        "# A page\n\n```console\n$ retold status --store none\n"
        "retold: there is no store at 'none'; name one with --store FILE or RETOLD_STORE\n"
        "[exit 2]\n```\n\n"
        '```python\nopen("made", "w").write("words")\n```\n\n'
        "```console\n$ cat made\nwords\n$ false\n[exit 1]\n```\n"
    )


@pytest.mark.parametrize("file", cli_documentation.PAGES)
def test_shown_output_fits_80_columns(file):
    """An error line and a JSON document are one line each, however long."""
    blocks = docs_support.blocks_of((ROOT / file).read_text(encoding="utf-8"), file)
    shown = [
        line
        for block in blocks
        if block.language == "console"
        for command in docs_support.commands_of(block)
        for line in command.expected.splitlines()
        if not line.startswith(("retold: ", "{"))
    ]

    assert [line for line in shown if wcswidth(line) > 80] == []


def test_page_shows_the_output_of_every_command():
    (file,) = cli_documentation.PAGES
    blocks = docs_support.blocks_of((ROOT / file).read_text(encoding="utf-8"), file)
    lines = [
        command.line
        for block in blocks
        if block.language == "console"
        for command in docs_support.commands_of(block)
    ]
    missing = [
        name
        for name in map(" ".join, docs_support.all_commands())
        if not any(re.search(rf"\bretold {name}\b", line) for line in lines)
    ]

    assert missing == [], "write `$ retold ...` there and run `tests.cli_documentation --write`"


@pytest.mark.parametrize("group", [(), ("scope",), ("sessions",), ("models",)])
def test_help_of_a_group_says_of_each_command_all_there_is_to_say(group):
    """click cuts a first sentence that does not fit into 80 columns; give a shorter one."""
    finished = retold_here(*group, "--help")
    listing = finished.out.partition("\nCommands:\n")[2].splitlines()

    assert listing
    assert [line for line in listing if line.endswith("...")] == []
    assert max(map(len, finished.out.splitlines())) <= 80
