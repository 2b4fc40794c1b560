"""The configuration reference and the commented YAML file, written from the field descriptions.

Regenerate both after a change of a key::

    from pathlib import Path
    from retold.config.reference import render_yaml, replace_reference

    Path("config/retold.yaml").write_text(render_yaml())
    page = Path("docs/configuration.md")
    page.write_text(replace_reference(page.read_text()))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from retold.config.root import RetoldConfig

BEGIN = "<!-- keys: written by retold.config.reference -->"
END = "<!-- end of keys -->"


@dataclass(frozen=True, slots=True)
class KeyDoc:
    """One documented line: a setting, or a block when ``is_block``.

    ``path`` is dotted; ``default`` is the value as YAML writes it, empty for a block; ``unit`` is
    empty where the value is a name or a switch.
    """

    path: str
    default: str
    unit: str
    meaning: str
    is_block: bool


def describe(block: type[BaseModel] = RetoldConfig, prefix: str = "") -> Iterator[KeyDoc]:
    """Yield every block and key in the order of the YAML file, a block before its keys."""
    for name, field in block.model_fields.items():
        path, inner = prefix + name, field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield KeyDoc(path, "", "", _first_sentence(inner), is_block=True)
            yield from describe(inner, f"{path}.")
        else:
            yield _key_doc(path, field)


def render_reference() -> str:
    """Return a Markdown section per block that has keys of its own, one line per key."""
    docs = tuple(describe())
    sections = []
    for block in docs:
        rows = [_row(doc) for doc in docs if not doc.is_block and _parent(doc) == block.path]
        if block.is_block and rows:
            head = f"### `{block.path}`\n\n{block.meaning}\n\n"
            table = "\n".join(["| key | default | unit | meaning |", "|---|---|---|---|", *rows])
            sections.append(head + table)
    return "\n\n".join(sections) + "\n"


def replace_reference(page: str) -> str:
    """Return the page with the text between its two markers written anew.

    Raises ValueError when a marker is missing.
    """
    head, _, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end:
        raise ValueError(f"the page lacks {BEGIN!r} or {END!r}")
    return f"{head}{BEGIN}\n\n{render_reference()}\n{END}{tail}"


def render_yaml() -> str:
    """Return a YAML file of every default, each key under a comment that says what it means."""
    lines = ["# Every setting with its default; a file may hold only the keys it changes."]
    for doc in describe():
        depth = doc.path.count(".")
        indent, name = "  " * depth, doc.path.rpartition(".")[2]
        unit = f" ({doc.unit})" if doc.unit else ""
        if depth == 0:
            lines.append("")
        lines.append(f"{indent}# {doc.meaning}{unit}")
        lines.append(f"{indent}{name}:" + (f" {doc.default}" if not doc.is_block else ""))
    return "\n".join(lines) + "\n"


def _key_doc(path: str, field: FieldInfo) -> KeyDoc:
    extra = field.json_schema_extra
    unit = str(extra.get("unit", "")) if isinstance(extra, dict) else ""
    return KeyDoc(path, _yaml_value(field.default), unit, _meaning(field), is_block=False)


def _meaning(field: FieldInfo) -> str:
    """Return the description, with the choices of a closed set that has several."""
    meaning = field.description or ""
    choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    if len(choices) < 2:  # noqa: PLR2004  # a set of one leaves nothing to choose
        return meaning
    return f"{meaning} One of {', '.join(str(choice) for choice in choices)}."


def _yaml_value(value: Any) -> str:  # noqa: ANN401  # a default may be any YAML value
    """Write a default on one line, as YAML."""
    plain = list(value) if isinstance(value, tuple) else value
    text = yaml.safe_dump(plain, default_flow_style=True, width=10_000)
    return text.removesuffix("\n").removesuffix("\n...")


def _first_sentence(block: type[BaseModel]) -> str:
    return (block.__doc__ or "").strip().splitlines()[0]


def _parent(doc: KeyDoc) -> str:
    return doc.path.rpartition(".")[0]


def _row(doc: KeyDoc) -> str:
    return f"| `{doc.path}` | `{doc.default}` | {doc.unit} | {doc.meaning} |"
