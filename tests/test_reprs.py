"""No repr shows memory content: reprs end up in tracebacks and logs."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

PACKAGES = (
    "retold.models",
    "retold.host",
    "retold.hosted",
    "retold.results",
    "retold.ingest",
    "retold.retrieve",
    "retold.memory",
    "retold.policy",
    "retold.store",
    "retold.config",
    "retold.runtime",
    "retold.tools",
)

CONTENT_NAMES = {
    "aliases",
    "attribute",
    "before",
    "canonical",
    "content",
    "context",
    "dropped",
    "evidence",
    "name",
    "names",
    "queries",
    "query",
    "quote",
    "raw_queries",
    "rewritten_queries",
    "sequence",
    "stems",
    "subject",
    "summary",
    "tags",
    "text",
    "texts",
    "unjudged",
    "value",
    "vector",
    "words",
}
"""Names of fields that hold what somebody said, wrote or asked."""

OF_OURS = {("Slot", "name"), ("Tool", "name")}
"""Fields of such a name whose values are written in the code, not by a user."""


def dataclasses_of(package: str) -> Iterator[type]:
    """Yield the dataclasses defined in a package and below it."""
    home = importlib.import_module(package)
    names = [package]
    if hasattr(home, "__path__"):
        names += [info.name for info in pkgutil.walk_packages(home.__path__, f"{package}.")]
    for name in names:
        for _, cls in inspect.getmembers(importlib.import_module(name), inspect.isclass):
            if dataclasses.is_dataclass(cls) and cls.__module__ == name:
                yield cls


@pytest.mark.parametrize("package", PACKAGES)
def test_fields_that_hold_content_are_left_out_of_reprs(package):
    """Taking ``repr=False`` off any field of such a name makes this fail."""
    shown = [
        f"{cls.__module__}.{cls.__qualname__}.{field.name}"
        for cls in dataclasses_of(package)
        for field in dataclasses.fields(cls)
        if field.repr
        and field.name in CONTENT_NAMES
        and holds_text(str(field.type))
        and (cls.__name__, field.name) not in OF_OURS
    ]

    assert shown == []


def holds_text(annotation: str) -> bool:
    """Return whether a type may hold text or a vector; an object has a repr of its own."""
    return any(part in annotation for part in ("str", "NDArray", "Vector"))
