import os
import pty
import re
import subprocess
import sys

import pytest
import yaml

from retold import __version__
from retold.cli.app import COMMANDS, cli
from tests.cli_support import environment, refusal, retold, retold_here
from tests.warm_process import WarmPopen, warm_run

READING = (
    ("status",),
    ("migrate",),
    ("list",),
    ("get", "AN_ID"),
    ("history", "AN_ID"),
    ("dump",),
    ("scope", "list"),
    ("grant", "planner", "project:apollo", "--read"),
    ("completion", "fish"),
)
GLOBAL = {
    "--store": "memory.sqlite",
    "--config": "settings.yaml",
    "--profile": "offline",
    "--as": "sam",
    "--json": None,
}


@pytest.fixture
def directory(store):
    """Return a directory with a store and a configuration file."""
    values = {
        "embedding": {"model": "all-MiniLM-L6-v2/onnx-int8", "dims": 384},
        "ingestion": {"equivalence": {"model": "lexical"}},
    }
    (store.parent / "settings.yaml").write_text(yaml.safe_dump(values))
    return store.parent


@pytest.mark.parametrize("option", GLOBAL)
def test_global_option_is_accepted_before_the_command_and_after_it(option, directory):
    given = [option] if GLOBAL[option] is None else [option, GLOBAL[option]]

    before = retold(*given, "status", cwd=directory)
    after = retold("status", *given, cwd=directory)

    assert (before.code, before.err) == (0, "")
    assert before == after


@pytest.mark.parametrize("command", READING, ids=" ".join)
@pytest.mark.parametrize("option", GLOBAL)
def test_every_command_takes_global_options_in_either_position(option, command, directory):
    page = retold_here("list", "--json", store=directory / "memory.sqlite").document
    words = [word.replace("AN_ID", page["records"][0]["id"]) for word in command]
    given = [option] if GLOBAL[option] is None else [option, GLOBAL[option]]

    before = retold_here(*given, *words, cwd=directory)
    after = retold_here(*words, *given, cwd=directory)

    assert before.code == 0, before.err
    assert before == after or command[0] == "grant"
    assert after.code == 0
    if option == "--json" and command[0] != "dump":
        assert after.document


def test_option_between_a_group_and_its_command_counts(directory):
    finished = retold_here("scope", "--json", "list", "--store", "memory.sqlite", cwd=directory)

    assert finished.document["scopes"][0]["total"] == 4


def test_option_after_the_command_wins(directory):
    finished = retold(
        "--store", "nowhere.sqlite", "status", "--store", "memory.sqlite", cwd=directory
    )

    assert finished.code == 0


def test_every_command_takes_every_global_option():
    for name in COMMANDS:
        context = cli.make_context("retold", [], resilient_parsing=True)
        command = cli.get_command(context, name)
        options = {flag for parameter in command.params for flag in parameter.opts}

        assert set(GLOBAL) <= options, name


def test_overview_says_of_each_command_what_its_help_begins_with():
    context = cli.make_context("retold", [], resilient_parsing=True)
    for name, (_, summary) in COMMANDS.items():
        help_text = cli.get_command(context, name).help

        assert summary.split()[0] == help_text.split()[0], name


def test_store_comes_from_the_environment_after_the_flag(directory):
    status = retold("status", "--json", RETOLD_STORE=str(directory / "memory.sqlite"))

    assert status.document["path"] == str(directory / "memory.sqlite")


def test_store_comes_from_the_configuration_when_nothing_else_names_it(directory):
    settings = directory / "settings.yaml"
    values = yaml.safe_load(settings.read_text()) | {
        "store": {"path": str(directory / "memory.sqlite")}
    }
    settings.write_text(yaml.safe_dump(values))

    assert retold("status", "--config", settings).code == 0


def test_version_and_help_leave_with_0():
    assert retold("--version").out == f"retold {__version__}\n"
    assert retold().out == retold("--help").out
    assert retold("search", "--help").out.startswith("Usage: retold search")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("frobnicate",), "No such command 'frobnicate'; see `retold --help`"),
        (("status", "--nonsense"), "No such option"),
        (("search", "tea"), "Missing option '--agent' (`assistant` unless you named yours)"),
        (("search", "--agent", "a", "--user", "u"), "Missing argument"),
        (("search", "--agent", "a", "--user", "u", "-k", "0", "tea"), "0 is not in the range"),
        (("search", "--agent", "a", "--user", "u", "--type", "dream", "tea"), "'dream' is not one"),
        (
            ("search", "--agent", "a", "--user", "u", "--since", "2026-03-01", "tea"),
            "pass the like of 2026-03-01T00:00:00+00:00",
        ),
        (("migrate", "--expire-unmapped", "--allow-unmapped"), "not both"),
        (("status", "--config", "none.yaml"), "none.yaml"),
        (("list", "--config", "none.yaml"), "none.yaml"),
        (("dump", "--profile", "huge"), "choose one of standard, lite, offline"),
        (("list", "--store", "\udcff"), "no store"),
        (("scope", "lst"), "No such command 'lst'"),
        (("status", "--profile", "huge"), "choose one of standard, lite, offline"),
        (("status", "--profile", "lite", "--config", "x.yaml"), "not both"),
        (("demo", "--store", "x.sqlite"), "--keep DIR"),
        (("demo", "--script", "none.yaml"), "none.yaml"),
        (("demo", "--keep", ""), "--keep is blank"),
        (("status", "--as", "a\nb"), "control characters"),
        (("status", "--as", "\x1b[31mroot"), "control characters"),
    ],
    ids=lambda value: "-".join(value[:3]) if isinstance(value, tuple) else "",
)
def test_wrong_command_line_is_one_line_and_leaves_with_2(arguments, said, tmp_path):
    assert said in refusal(retold(*arguments, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


BROKEN = {
    "no yaml": ("a: [", "settings.yaml"),
    "unknown key": ("retrival: {}", "retrival"),
    "wrong value": ("retrieval: {default_k: many}", "retrieval.default_k"),
    "no mapping": ("- one", "settings.yaml"),
    "not text": (b"\xff\xfe\x00", "settings.yaml"),
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("command", [("list",), ("dump",), ("get", "x"), ("scope", "list")])
def test_broken_configuration_is_one_line_that_names_the_place(command, broken, directory):
    content, said = BROKEN[broken]
    kept = content if isinstance(content, bytes) else content.encode()
    (directory / "settings.yaml").write_bytes(kept)

    assert said in refusal(retold_here(*command, "--config", "settings.yaml", cwd=directory))


@pytest.mark.parametrize("profile", ["standard", "lite"])
def test_missing_model_names_the_flag_and_not_the_argument_of_the_library(profile, store):
    who = ("--agent", "helper", "--user", "ana")
    line = refusal(retold("search", *who, "--profile", profile, "tea", "--store", store))

    assert "--profile offline" in line
    assert "profile='offline'" not in line
    assert "profile=" not in line


def test_unexpected_error_is_one_line_without_content_and_leaves_with_1(store, tmp_path):
    """What breaks inside is named by its class and place; its text could hold a memory."""
    (tmp_path / "sitecustomize.py").write_text(
        "import outside_guard; outside_guard.install()\n"
        "import retold.operations.status as status\n"
        "def broken(*given):\n"
        "    raise KeyError('Ana lives in Porto.')\n"
        "status.store_status = broken\n"
    )
    path = environment()["PYTHONPATH"]
    line = refusal(
        retold("status", "--store", store, PYTHONPATH=f"{tmp_path}{os.pathsep}{path}"), code=1
    )

    assert re.fullmatch(r"retold: unexpected KeyError at \w+\.py:\d+; please report .*", line)


def test_reader_that_leaves_early_gets_no_traceback(store):
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m retold status --json --store {store} | true"],
        capture_output=True,
        check=False,
        env=environment(),
        text=True,
    )

    assert done.stderr == ""


@pytest.mark.parametrize("options", [("--help",), ("status",), ("status", "--json")])
def test_full_device_is_one_line_and_leaves_with_1(options, store):
    with open("/dev/full", "wb") as full:
        done = warm_run(
            [sys.executable, "-m", "retold", *options],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(RETOLD_STORE=str(store)),
            text=True,
        )

    assert done.returncode == 1
    assert done.stderr == "retold: standard output: No space left on device; send it elsewhere\n"


def test_full_device_on_both_streams_leaves_with_its_code(store):
    with open("/dev/full", "wb") as full:
        done = warm_run(
            [sys.executable, "-m", "retold", "status", "--store", "none"],
            stdout=full,
            stderr=full,
            env=environment(),
        )

    assert done.returncode == 2


@pytest.mark.parametrize("options", [("--help",), ("status",), ("status", "--json")])
def test_closed_output_is_silent(options, store):
    line = f"exec {sys.executable} -m retold {' '.join(options)} >&-"
    done = subprocess.run(
        ["bash", "-c", line],
        stderr=subprocess.PIPE,
        check=False,
        env=environment(RETOLD_STORE=str(store)),
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")


def on_a_terminal(*arguments, **variables):
    """Run a command with a terminal as its standard output and return what the terminal got."""
    ours, theirs = pty.openpty()
    process = WarmPopen(
        [sys.executable, "-m", "retold", *arguments], stdout=theirs, env=environment(**variables)
    )
    os.close(theirs)
    got = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux ends a terminal with EIO
            break
        if not piece:
            break
        got += piece
    os.close(ours)
    assert process.wait() == 0
    return got.decode()


@pytest.mark.parametrize("command", [("list",), ("scope", "list"), ("get", "AN_ID")])
def test_no_command_colours_under_no_color_or_off_a_terminal(command, store):
    page = retold_here("list", "--json", store=store).document
    words = [word.replace("AN_ID", page["records"][0]["id"]) for word in command]

    assert "\x1b" not in on_a_terminal(*words, "--store", str(store), NO_COLOR="1")
    assert "\x1b" not in retold_here(*words, store=store).out


def test_colour_needs_a_terminal_and_no_no_color(store):
    coloured = on_a_terminal("status", "--store", str(store))
    plain = on_a_terminal("status", "--store", str(store), NO_COLOR="1")

    assert "\x1b[1m" in coloured
    assert "\x1b" not in plain
    assert "\x1b" not in retold("status", "--store", store).out
    assert "\x1b" not in on_a_terminal("status", "--json", "--store", str(store))
