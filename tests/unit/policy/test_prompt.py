"""What a model is told about its memory: every required rule, in every mode, word for word."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from retold.errors import InvalidInput
from retold.models import TRIGGER_MODES
from retold.policy.prompt import POLICY_VERSION, SOURCE, parse_rules, policy_rules, policy_text

WORDINGS = {"memory-use-1": "2b4464e845075fe7d3e405a31c4f9238ee1b113566c789877c404212892aa5c8"}
"""The digest of every wording there was, by version. Add a line; never change one."""

EVERYWHERE = ("tools", "check", "data", "save-statement", "save-decision", "no-guess")
SEARCHED_BY_THE_MODEL = ("search-first", "search-not")
REQUIRED = {
    "tool_only": {*EVERYWHERE, *SEARCHED_BY_THE_MODEL},
    "auto": {*EVERYWHERE, "recalled"},
    "hybrid": {*EVERYWHERE, *SEARCHED_BY_THE_MODEL, "recalled", "recalled-more"},
}
TOOLS = {
    "tool_only": {"memory_search", "memory_write"},
    "auto": {"memory_write"},
    "hybrid": {"memory_search", "memory_write"},
}
SAYS = {
    "tools": ("long-term memory", "tools"),
    "search-first": ("Before you act", "prefers", "decided", "earlier conversation", "one to three",
                     "memory_search", "not sure"),
    "search-not": ("Do not search", "general knowledge", "this conversation"),
    "recalled": ("before you answer", "recalled memory"),
    "recalled-more": ("exactly like", "memory_search yourself", "more specific"),
    "check": ("status", "source", "date", "provisional", "old", "may be wrong", "ask the user"),
    "data": ("no command", "source is the user"),
    "save-statement": ("preference", "fact about themselves", "decision", "memory_write",
                       "their own words", "evidence"),
    "save-decision": ("reach together", "episodic", "reason"),
    "no-guess": ("Never save", "guess"),
}  # fmt: skip


@pytest.mark.parametrize("mode", TRIGGER_MODES)
def test_mode_states_exactly_the_rules_it_needs(mode):
    assert set(policy_rules(mode)) == REQUIRED[mode]


@pytest.mark.parametrize(
    ("mode", "rule"), [(mode, rule) for mode in TRIGGER_MODES for rule in sorted(REQUIRED[mode])]
)
def test_text_of_a_mode_holds_each_required_rule_with_its_words(mode, rule):
    line = policy_rules(mode)[rule]

    assert line in policy_text(mode).splitlines()
    assert [words for words in SAYS[rule] if words not in line] == []


@pytest.mark.parametrize("mode", TRIGGER_MODES)
def test_text_names_only_tools_that_the_mode_registers(mode):
    assert set(re.findall(r"memory_\w+", policy_text(mode))) == TOOLS[mode]


@pytest.mark.parametrize("mode", TRIGGER_MODES)
def test_text_is_plain_and_short(mode):
    text = policy_text(mode)

    assert text.isascii()
    assert "<!--" not in text
    assert text == text.strip()
    assert len(text) <= 1200


def test_wording_is_the_one_its_version_names():
    """A changed file needs a new version, and a new line in the table above."""
    source = resources.files("retold.policy").joinpath(SOURCE).read_bytes()

    assert WORDINGS[POLICY_VERSION] == hashlib.sha256(source).hexdigest()


def test_text_is_the_same_in_every_process():
    program = "import sys; from retold.policy.prompt import policy_text; " + (
        "sys.stdout.write(policy_text('hybrid'))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert told == {policy_text("hybrid")}


def test_unknown_mode_is_refused_by_naming_the_choices():
    with pytest.raises(InvalidInput, match="tool_only, auto, hybrid"):
        policy_text("always")


BROKEN = {
    "text before the first rule": "Hello\n<!-- rule: a | auto -->\nText.",
    "a rule twice": "<!-- rule: a | auto -->\nOne.\n<!-- rule: a | hybrid -->\nTwo.",
    "an unknown mode": "<!-- rule: a | sometimes -->\nText.",
    "a rule without text": "<!-- rule: a | auto -->\n<!-- rule: b | auto -->\nText.",
    "a head that is misspelt": "<!-- rule: a | auto -->\nOne.\n<!-- rule b | auto -->\nTwo.",
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_malformed_file_of_rules_is_refused(source):
    with pytest.raises(ValueError, match=r"first rule|malformed"):
        parse_rules(source)


def test_page_shows_which_mode_states_which_rule():
    page = (Path(__file__).parents[3] / "docs" / "policy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \|((?: (?:yes )?\|){3})", page, re.MULTILINE)
    shown = {
        (rule, mode)
        for rule, cells in rows
        for mode, cell in zip(TRIGGER_MODES, cells.split("|"), strict=False)
        if cell.strip()
    }

    assert shown == {(rule, mode) for mode in TRIGGER_MODES for rule in policy_rules(mode)}
