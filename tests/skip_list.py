"""The committed list of tests that may be skipped, and where.

``tests/expected_skips.txt`` has one line for each: ``node id glob | environment | reason``.
The environment is one of the labels below; a skip that no line allows fails the session.
"""

import fnmatch
import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("expected_skips.txt")

ELSEWHERE = "proven-on-3.11"
"""Where a run on 3.11 of the same commit stands beside this one: what a second interpreter cannot
change, such as a page, a measuring script or the layers, is proven there."""

OPTIONAL_PACKAGES = {
    "no-torch": "sentence_transformers",
    "no-anthropic": "anthropic",
    "no-openai": "openai",
    "no-matplotlib": "matplotlib",
}


@dataclass(frozen=True, slots=True)
class ExpectedSkip:
    """One line of the list."""

    node_id_glob: str
    environment: str
    reason: str

    def allows(self, node_id: str, environments: Iterable[str]) -> bool:
        """Tell whether this line covers a test skipped in a place with these labels."""
        # Parameter ids stand in square brackets, which fnmatch would read as a character class.
        glob = self.node_id_glob.replace("[", "[[]")
        return self.environment in environments and fnmatch.fnmatchcase(node_id, glob)


def is_beside() -> bool:
    """Tell whether a run on 3.11 stands beside this one."""
    return bool(os.environ.get("RETOLD_TESTS_PROVEN_ON_3_11"))


def labels() -> frozenset[str]:
    """Return the labels of this environment, ``any`` always among them."""
    missing = {
        label
        for label, package in OPTIONAL_PACKAGES.items()
        if importlib.util.find_spec(package) is None
    }
    version = f"py{sys.version_info.major}.{sys.version_info.minor}"
    user = {"root"} if hasattr(os, "geteuid") and os.geteuid() == 0 else set()
    beside = {ELSEWHERE} if is_beside() else set()
    return frozenset({"any", version, sys.platform, *missing, *user, *beside})


def parse(text: str) -> tuple[ExpectedSkip, ...]:
    """Read the list; blank lines and lines that start with # are not entries."""
    lines = (line.strip() for line in text.splitlines())
    entries = []
    for line in lines:
        if line and not line.startswith("#"):
            parts = [part.strip() for part in line.split(" | ")]
            if len(parts) != 3 or not all(parts):
                raise ValueError(f"expected 'node id glob | environment | reason': {line!r}")
            entries.append(ExpectedSkip(*parts))
    return tuple(entries)


def unexpected(
    skipped: Iterable[str], entries: Iterable[ExpectedSkip], environments: frozenset[str]
) -> list[str]:
    """Return the node ids that were skipped though no entry allows it, sorted."""
    known = tuple(entries)
    return sorted(
        node_id
        for node_id in set(skipped)
        if not any(entry.allows(node_id, environments) for entry in known)
    )
