"""Whether an embedder reads the script that a query is written in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from retold.protocols import Embedder, ScriptReader
from retold.text.scripts import dominant_script

ALL_SCRIPTS: Final = "all"
UNDECLARED: Final = ("latin",)
"""What an embedder reads that says nothing: all of them read it, and trusting vectors of an unknown
script costs more than leaving a good one half of its weight (retrieval_quality.md 2.2)."""


def scripts_of(embedder: Embedder | None, configured: Collection[str] | None) -> frozenset[str]:
    """Return the scripts that vectors mean something for; what is configured wins."""
    if configured is not None:
        return frozenset(configured)
    if isinstance(embedder, ScriptReader):
        return frozenset(embedder.scripts)
    return frozenset(UNDECLARED)


def read_queries(queries: Sequence[str], scripts: Collection[str]) -> tuple[bool, ...]:
    """Return for each query whether most of its letters are of these scripts.

    A query without letters, such as a number, counts as read.
    """
    if ALL_SCRIPTS in scripts:
        return (True,) * len(queries)
    return tuple(
        (script := dominant_script(query)) in scripts or script == "common" for query in queries
    )
