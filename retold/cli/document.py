"""JSON documents from results: every field, times in ISO 8601."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click

from retold.models import Scope

_STEERING: Final = {
    code: f"\\u{code:04x}"
    for first, last in (
        (0x7F, 0x9F),
        (0x61C, 0x61C),
        (0x200E, 0x200F),
        (0x2028, 0x202E),
        (0x2066, 0x2069),
    )
    for code in range(first, last + 1)
}
"""JSON lets these stand as they are; some end a line, steer a terminal or reorder what it shows."""


def plain(value: object) -> Any:  # noqa: ANN401  # JSON has no narrower type
    """Return the value as JSON types: dataclasses as objects, moments as ISO text."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Scope | Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [plain(one) for one in value]
    return value


def echo_document(value: object) -> None:
    """Print one JSON document; a lone surrogate is escaped, since UTF-8 has no form for it."""
    text = json_text(plain(value), indent=2)
    click.echo(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return JSON types as text that is safe to print; without ``indent`` it is one line.

    It is one line for every reader, whatever that takes for the end of a line.
    """
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False).translate(
        _STEERING
    )


def flat(value: object, name: str = "") -> Iterator[str]:
    """Yield ``a.b value`` for every leaf of a document; what is empty is left out."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from flat(one, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        if any(isinstance(one, Mapping | list | tuple) for one in value):
            for place, one in enumerate(value, start=1):
                yield from flat(one, f"{name}.{place}" if name else str(place))
        elif value:
            yield f"{name} {' + '.join(map(_leaf, value))}".strip()
    elif value is not None:
        yield f"{name} {_leaf(value)}".strip()


def _leaf(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
