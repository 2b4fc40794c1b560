"""docs/tools.md says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from retold import errors
from retold.tools.answers import UnknownTool
from retold.tools.catalogue import DESCRIPTIONS

PAGE = (Path(__file__).parents[3] / "docs" / "tools.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_page_holds_the_description_a_model_reads(name):
    words = " ".join(line.removeprefix("> ") for line in PAGE.splitlines())

    assert f"`{name}`:  {DESCRIPTIONS[name]}" in words


def test_page_holds_the_code_of_every_refusal_a_tool_can_give():
    codes = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`\w+`.*?) \|", PAGE, re.M))))
    requests = {
        error.code
        for error in vars(errors).values()
        if isinstance(error, type) and issubclass(error, errors.RequestError)
    }
    never = {
        "request_error",  # the base class
        "unsupported_evidence",  # the tools keep such a claim as an inference, and say so
        "invalid_source_kind",  # the schema has no such choice
    }

    assert (requests | {UnknownTool.code, "internal_error"}) - never <= codes
