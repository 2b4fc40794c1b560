"""The threat model names tests that exist, and every defence names one."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = re.findall(r"^- `(tests/[\w/]+\.py)::(test_\w+)`$", PAGE, flags=re.MULTILINE)
DEFENDED = PAGE.partition("## What is defended")[2].partition("## What is not defended")[0]
SECTIONS = dict(re.findall(r"^### (.+?)$(.*?)(?=^### |\Z)", DEFENDED, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_test_that_the_threat_model_names_exists(file, name):
    source = (ROOT / file).read_text(encoding="utf-8")

    assert re.search(rf"^def {name}\(", source, flags=re.MULTILINE)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_defence_names_a_test(section):
    assert re.search(r"^- `tests/", SECTIONS[section], flags=re.MULTILINE)


def test_no_test_is_named_in_a_form_that_is_not_checked():
    assert len(NAMED) == PAGE.count("::test_") > 0
