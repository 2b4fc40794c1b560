import re

import pytest
import yaml

from tests import cli_documentation, docs_support
from tests.cli_documentation import LabRunner
from tests.docs_support import Block, Runner
from tests.loopback import LoopbackModel, assistant

# Examples that need a key or a model hub: page, then the first line of the block.
NORUN: set[tuple[str, str]] = {
    ("docs/hosted.md", '$ pip install "retold[anthropic]" && export ANTHROPIC_API_KEY=...'),
    ("docs/hosted.md", '$ pip install "retold[openai]" && export OPENAI_API_KEY=...'),
    ("docs/hosted.md", '$ pip install "retold[openai]" && export OPENROUTER_API_KEY=...'),
    ("docs/hosted.md", '$ pip install "retold[openai]" && ollama pull qwen3:8b'),
    ("docs/hosted.md", '$ pip install "retold[offline,anthropic]" && export ANTHROPIC_API_KEY=...'),
    ("docs/hosted.md", '$ pip install "retold[offline,openai]" && export OPENAI_API_KEY=...'),
    ("docs/hosted.md", '$ pip install "retold[offline,openai]" && export OPENROUTER_API_KEY=...'),
    ("docs/hosted.md", '$ pip install "retold[offline,openai]" && ollama pull qwen3:8b'),
}

PAGES = {
    str(path.relative_to(docs_support.ROOT)): path.read_text(encoding="utf-8")
    for path in docs_support.documents()
}
BLOCKS = {file: docs_support.blocks_of(text, file) for file, text in PAGES.items()}
ALL_BLOCKS = [block for blocks in BLOCKS.values() for block in blocks]
NORUN_BLOCKS = [block for block in ALL_BLOCKS if "norun" in block.tags]


# --- the pages ------------------------------------------------------------------------


def test_readme_exists():
    assert "README.md" in PAGES


@pytest.mark.parametrize("file", PAGES)
def test_page_tags_every_fence(file):
    blocks = BLOCKS[file]
    problems = [
        docs_support.tag_problem(block, previous)
        for previous, block in zip((None, *blocks), blocks, strict=False)
    ]

    assert [problem for problem in problems if problem] == []


@pytest.fixture
def provider(monkeypatch):
    """Send the clients of both providers to a pretend model on this machine."""
    with LoopbackModel(assistant.answer) as model:
        for name, value in model.environment.items():
            monkeypatch.setenv(name, value)
        yield model


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize("file", PAGES)
def test_page_examples_print_what_the_page_says(file, tmp_path):
    blocks = BLOCKS[file]
    with (LabRunner if file in cli_documentation.PAGES else Runner)(tmp_path) as runner:
        for block, following in zip(blocks, (*blocks[1:], None), strict=False):
            if block.saved_as:
                runner.save(block)
            elif block.runs and block.language == "python":
                expected = following.text if following and following.is_output else ""
                compare(block, expected, runner.python(block))
            elif block.runs:
                for command in docs_support.commands_of(block):
                    compare(block, command.expected, runner.command(command.line), command.line)


def compare(block: Block, expected: str, actual: str, what: str = "") -> None:
    if not docs_support.matches(expected, actual):
        made = block.file in cli_documentation.PAGES
        hint = "--- run `python -m tests.cli_documentation --write`" if made else ""
        pytest.fail(
            f"{block.place} {what}\n--- the page says\n{expected}\n--- it printed\n{actual}{hint}",
            pytrace=False,
        )


@pytest.mark.parametrize("file", PAGES)
def test_page_links_only_to_files_that_exist(file):
    prose = re.sub(r"^ *```.*?^ *```$", "", PAGES[file], flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose)
    folder = (docs_support.ROOT / file).parent

    missing = [link for link in links if "://" not in link and not (folder / link).exists()]

    assert missing == []


def test_decision_records_are_numbered_once():
    names = [file for file in PAGES if file.startswith("docs/adr/") and "README" not in file]
    numbers = [name.removeprefix("docs/adr/")[:4] for name in names]

    assert all(re.fullmatch(r"docs/adr/\d{4}-[a-z0-9-]+\.md", name) for name in names), names
    assert len(numbers) == len(set(numbers)), numbers


# --- examples that do not run ---------------------------------------------------------


def test_examples_that_do_not_run_are_the_listed_ones():
    found = {(block.file, block.text.partition("\n")[0]) for block in NORUN_BLOCKS}

    assert found == NORUN


def test_examples_that_do_not_run_name_real_options():
    python = [block for block in NORUN_BLOCKS if block.language == "python"]
    calls = [
        words
        for block in NORUN_BLOCKS
        if block.language == "console"
        for words in docs_support.retold_calls(block)
    ]
    names = set(docs_support.all_commands()) if calls else set()
    unknown = {words: docs_support.unknown_options(words, names) for words in calls}

    for block in python:
        compile(block.text, block.place, "exec")
    assert {words: options for words, options in unknown.items() if options} == {}


# --- nothing is undocumented ----------------------------------------------------------


def test_every_command_is_in_the_documentation():
    text = "\n".join(PAGES.values())
    commands = [" ".join(command) for command in docs_support.all_commands()]

    missing = [each for each in commands if not re.search(rf"\bretold {re.escape(each)}\b", text)]

    assert commands
    assert missing == [], "write a line about each of these commands in docs/"


def key_paths(tree: object, above: str = "") -> set[str]:
    """Return the dotted path of every leaf; a list and an empty mapping are leaves."""
    if not isinstance(tree, dict) or not tree:
        return {above}
    return {
        path
        for key, value in tree.items()
        for path in key_paths(value, f"{above}.{key}" if above else str(key))
    }


def documented_keys() -> set[str]:
    spelled = {
        key for text in PAGES.values() for key in re.findall(r"`([a-z_0-9]+(?:\.\w+)+)`", text)
    }
    shown = {
        key
        for block in ALL_BLOCKS
        if block.language == "yaml"
        for key in key_paths(yaml.safe_load(block.text))
    }
    return spelled | shown


def test_every_setting_is_in_the_documentation():
    defaults = (docs_support.ROOT / "config" / "retold.yaml").read_text(encoding="utf-8")
    documented = documented_keys()

    missing = [
        path
        for path in sorted(key_paths(yaml.safe_load(defaults)))
        # A mapping whose keys are free is documented as a whole.
        if path not in documented and path.rpartition(".")[0] not in documented
    ]

    assert missing == [], "write a line about each of these settings in docs/"


# --- the two commands of the README ---------------------------------------------------


def readme_commands() -> list[str]:
    return [
        line
        for block in BLOCKS["README.md"]
        if block.language == "bash"
        for line in block.text.splitlines()
    ]


@pytest.mark.parametrize(
    "command", ['pip install ".[offline]" && retold demo', 'pip install -e ".[dev]" && pytest']
)
def test_readme_shows_each_of_its_two_commands_once(command):
    assert readme_commands().count(command) == 1


# --- the harness itself ---------------------------------------------------------------


def block(text: str, *tags: str) -> Block:
    return Block("page.md", 1, tags, text)


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        pytest.param("a\nb", "a\nb\n", True, id="equal"),
        pytest.param("a", "a  \n", True, id="trailing blanks"),
        pytest.param("", "", True, id="nothing"),
        pytest.param("", "a\n", False, id="something where nothing is shown"),
        pytest.param("took ... ms", "took 3.2 ms", True, id="within a line"),
        pytest.param("a...", "a\nb", False, id="not across lines"),
        pytest.param("a\n...\nd", "a\nb\nc\nd", True, id="whole lines"),
        pytest.param("a\n...\nd", "a\nd", True, id="no line at all"),
        pytest.param("a.c", "abc", False, id="a dot is a dot"),
        pytest.param("a\nb", "b\na", False, id="another order"),
    ],
)
def test_matches_compares_output(expected, actual, same):
    assert docs_support.matches(expected, actual) is same


def test_blocks_of_reads_tags_lines_and_indented_fences():
    page = "text\n\n```python norun\na = 1\n```\n\n- item\n  ```text\n  x\n  ```\n"

    assert docs_support.blocks_of(page, "page.md") == (
        Block("page.md", 3, ("python", "norun"), "a = 1"),
        Block("page.md", 8, ("text",), "x"),
    )


def test_blocks_of_refuses_a_fence_that_never_closes():
    with pytest.raises(ValueError, match="never closed"):
        docs_support.blocks_of("```python\na = 1\n", "page.md")


@pytest.mark.parametrize(
    ("tags", "previous", "problem"),
    [
        pytest.param((), None, "tag this fence", id="no tag"),
        pytest.param(("ruby",), None, "tag this fence", id="unknown language"),
        pytest.param(("python", "skip"), None, "unknown tag", id="unknown option"),
        pytest.param(("bash", "norun"), None, "unknown tag", id="norun where nothing runs"),
        pytest.param(("python", "file=../a.py"), None, "unknown tag", id="file elsewhere"),
        pytest.param(("console", "file=a.py"), None, "unknown tag", id="file of no program"),
        pytest.param(("text", "output"), block("", "bash"), "follows", id="output of nothing"),
    ],
)
def test_tag_problem_names_what_is_wrong(tags, previous, problem):
    assert problem in (docs_support.tag_problem(block("", *tags), previous) or "")


def test_runner_shares_names_and_the_directory_between_blocks(tmp_path):
    with Runner(tmp_path) as runner:
        assert runner.python(block("word = 'kept'", "python")) == ""
        assert runner.python(block("open('f', 'w').write(word); print(word)", "python")) == "kept\n"
        assert runner.command("cat f; echo err >&2; exit 3") == "kepterr\n[exit 3]\n"


def test_runner_saves_a_block_for_the_ones_after_it(tmp_path):
    saved = block("word = 'kept'", "python", "file=words.py")
    with Runner(tmp_path) as runner:
        runner.save(saved)
        assert not saved.runs
        assert docs_support.tag_problem(saved, None) is None
        assert runner.python(block("import words; print(words.word)", "python")) == "kept\n"


def test_runner_fails_on_an_example_that_raises(tmp_path):
    with (
        Runner(tmp_path) as runner,
        pytest.raises(AssertionError, match=r"(?s)page\.md:1 raised.*ZeroDivisionError"),
    ):
        runner.python(block("1 / 0", "python"))


def test_runner_keeps_examples_off_the_network(tmp_path):
    attempt = "import socket\nsocket.create_connection(('192.0.2.1', 80))"
    with (
        Runner(tmp_path) as runner,
        pytest.raises(AssertionError, match="OutsideConnectionError"),
    ):
        runner.python(block(attempt, "python"))


def test_subcommands_reads_the_names_of_a_help_text():
    text = "Usage: retold\n\nCommands:\n  demo     Show it.\n           More.\n  open-it  Open.\n"

    assert docs_support.subcommands(text) == ("demo", "open-it")


def test_commands_of_splits_a_console_block():
    commands = docs_support.commands_of(block("$ a\nout\n$ b\n", "console"))

    assert [(each.line, each.expected) for each in commands] == [("a", "out"), ("b", "")]
