"""The configuration reference and the commented YAML file, written from the field descriptions.

After a change of a key, ``python -m retold.config.reference`` in a checkout writes both anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from retold.config.load import PROFILE_KEY
from retold.config.profiles import PROFILES
from retold.config.root import RetoldConfig

BEGIN = "<!-- keys: written by python -m retold.config.reference -->"
END = "<!-- end of keys -->"


@dataclass(frozen=True, slots=True)
class KeyDoc:
    """One documented line: a setting, or a block when ``is_block``.

    ``path`` is dotted; ``kind`` says in words what values it takes and ``default`` is the value as
    YAML writes it, both empty for a block; ``unit`` is empty where the value is a name or a switch.
    """

    path: str
    kind: str
    default: str
    unit: str
    meaning: str
    is_block: bool


def describe() -> Iterator[KeyDoc]:
    """Yield every block and key in the order of the YAML file, a block before its keys."""
    yield KeyDoc(
        PROFILE_KEY,
        f"one of {', '.join(PROFILES)}, or null",
        "null",
        "",
        "Profile whose values hold where the file names none; null is the one that the store was "
        "made with, and standard for a new one.",
        is_block=False,
    )
    yield from _described(RetoldConfig, "")


def _described(block: type[BaseModel], prefix: str) -> Iterator[KeyDoc]:
    schemas = block.model_json_schema()["properties"]
    for name, field in block.model_fields.items():
        path, inner = prefix + name, field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield KeyDoc(path, "", "", "", _first_sentence(inner), is_block=True)
            yield from _described(inner, f"{path}.")
        else:
            yield _key_doc(path, field, kind_of(schemas[name]))


def render_reference() -> str:
    """Return a Markdown section per block that has keys of its own, one line per key."""
    docs = tuple(describe())
    columns = ["| key | type | default | unit | meaning |", "|---|---|---|---|---|"]
    outside = [_row(doc) for doc in docs if not doc.is_block and not _parent(doc)]
    sections = ["### Outside the blocks\n\n" + "\n".join([*columns, *outside])]
    for block in docs:
        rows = [_row(doc) for doc in docs if not doc.is_block and _parent(doc) == block.path]
        if block.is_block and rows:
            head = f"### `{block.path}`\n\n{block.meaning}\n\n"
            sections.append(head + "\n".join([*columns, *rows]))
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
        choices = f" {doc.kind.capitalize()}." if doc.kind.startswith("one of ") else ""
        if depth == 0:
            lines.append("")
        lines.append(f"{indent}# {doc.meaning}{choices}{unit}")
        lines.append(f"{indent}{name}:" + (f" {doc.default}" if not doc.is_block else ""))
    return "\n".join(lines) + "\n"


def kind_of(schema: Mapping[str, Any]) -> str:
    """Return in words what values the JSON schema of one key takes."""
    if "anyOf" in schema:
        return ", or ".join(kind_of(one) for one in schema["anyOf"])
    if "enum" in schema:
        return f"one of {', '.join(str(choice) for choice in schema['enum'])}"
    if "const" in schema:
        return str(schema["const"]).lower()
    if schema["type"] == "array":
        inner = schema["items"]
        return f"list of {kind_of(inner).removeprefix('one of ')}"
    return _WORDS[schema["type"]] + _limits(schema)


def main() -> None:
    """Write the page and the YAML file of the checkout in the working directory."""
    page = Path("docs/configuration.md")
    page.write_text(replace_reference(page.read_text(encoding="utf-8")), encoding="utf-8")
    Path("config/retold.yaml").write_text(render_yaml(), encoding="utf-8")


_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
}


def _limits(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f", {low:g} to {high:g}"
    if low is not None:
        return f", from {low:g}"
    above = schema.get("exclusiveMinimum")
    return "" if above is None else f", above {above:g}"


def _key_doc(path: str, field: FieldInfo, kind: str) -> KeyDoc:
    extra = field.json_schema_extra
    unit = str(extra.get("unit", "")) if isinstance(extra, dict) else ""
    meaning = field.description or ""
    return KeyDoc(path, kind, _yaml_value(field.default), unit, meaning, is_block=False)


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
    cells = [f"`{doc.path}`", doc.kind, f"`{doc.default}`", doc.unit, doc.meaning]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
