"""The log row against the table and the page that describe it."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from retold.models import Explanation
from retold.retrieve.trace import LOGGED_STAGES, STAGES
from retold.store.search_log import COLUMNS
from tests.unit.retrieve.world import World

PAGE = (Path(__file__).parents[3] / "docs" / "retrieval.md").read_text(encoding="utf-8")


def first_cells(heading: str) -> set[str]:
    """Return the names in the first column of the table under a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    return set(re.findall(r"`([a-z_]+)`", " ".join(cells)))


def test_page_names_every_stage() -> None:
    assert first_cells("The stages") == set(STAGES)


def test_page_names_every_column_of_the_log() -> None:
    assert first_cells("The log") == set(COLUMNS)


def test_page_names_every_field_of_an_explanation() -> None:
    assert first_cells("Explanations") == {one.name for one in fields(Explanation)}


@pytest.mark.parametrize("detail", ["full", "summary"])
def test_row_has_exactly_the_columns_of_the_table(
    world: World, monkeypatch: pytest.MonkeyPatch, detail: str
) -> None:
    rows = []
    monkeypatch.setattr(world.retriever._log, "write", lambda row: rows.append(row) or "written")
    settings = world.config.logs.model_copy(update={"detail": detail})
    monkeypatch.setattr(
        world.retriever, "_config", world.config.model_copy(update={"logs": settings})
    )

    world.search("tea")

    assert set(rows[0]) == set(COLUMNS)
    assert rows[0]["detail"] == detail


def test_log_time_is_the_only_one_a_row_cannot_hold() -> None:
    assert set(STAGES) - set(LOGGED_STAGES) == {"log"}
