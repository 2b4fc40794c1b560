"""Named SQL statements, read once from the ``.sql`` file beside the class that owns them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

_NAME = re.compile(r"^-- name: (\w+)\s*$")


def parse_queries(text: str) -> dict[str, str]:
    """Split ``-- name: x`` blocks. A block is the name line, one purpose line, then the SQL.

    Raises ValueError for a name that occurs twice, a missing purpose or an empty statement.
    """
    found: dict[str, str] = {}
    for block in re.split(r"(?m)(?=^-- name: )", text)[1:]:
        head, purpose, *lines = block.splitlines()
        match = _NAME.match(head)
        if match is None or not purpose.startswith("-- "):
            raise ValueError(f"malformed statement head {head!r}")
        sql = "\n".join(lines).strip().rstrip(";")
        if not sql or match[1] in found:
            raise ValueError(f"statement {match[1]!r} is empty or named twice")
        found[match[1]] = sql
    return found


@cache
def load_queries(name: str) -> Mapping[str, str]:
    """Return the statements of ``retold/store/sql/<name>.sql`` by name."""
    source = resources.files("retold.store").joinpath("sql", f"{name}.sql")
    return MappingProxyType(parse_queries(source.read_text(encoding="utf-8")))
