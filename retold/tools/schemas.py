"""JSON schemas of the tools, made from the input models.

Two forms. The published one is what a strict validator checks: draft 2020-12, closed objects, and
in memory_revise a ``oneOf`` over the four shapes. The model's one has no union at its root, which
providers of models refuse, a type beside every enum, and no argument that models get wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, Final, cast

from retold.tools.inputs import (
    REVISIONS,
    ForgetInput,
    GetInput,
    MergeInput,
    SearchInput,
    ToolInput,
    WriteInput,
)

Schema = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
HIDDEN: Final = ("evidence_turn",)
"""Accepted, and not advertised: models miscount turns."""

_ROOT_UNIONS: Final = ("oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$schema")


def published_schema(name: str, *, write_targets: Sequence[str], default_k: int) -> Schema:
    """Return the schema that a strict validator checks arguments against.

    ``write_targets`` are the symbolic targets on offer and go into memory_write, ``default_k`` into
    memory_search. Raises KeyError for an unknown tool.
    """
    schemas: dict[str, Callable[[], Schema]] = {
        "memory_search": lambda: _search(default_k),
        "memory_get": lambda: _of(GetInput),
        "memory_write": lambda: _write(write_targets),
        "memory_revise": _revise,
        "memory_forget": lambda: _of(ForgetInput),
    }
    return {"$schema": DIALECT, **schemas[name]()}


def for_model(schema: Mapping[str, Any]) -> Schema:
    """Return a published schema as a model is shown it: flat, typed enums, nothing hidden."""
    shown = {key: value for key, value in schema.items() if key not in _ROOT_UNIONS}
    shown["properties"] = {
        name: value for name, value in schema["properties"].items() if name not in HIDDEN
    }
    return cast("Schema", _typed(shown))


def _search(default_k: int) -> Schema:
    schema = _of(SearchInput)
    schema["properties"]["k"]["default"] = default_k
    return schema


def _write(write_targets: Sequence[str]) -> Schema:
    schema = _of(WriteInput)
    schema["properties"]["write_target"]["enum"] = list(write_targets)
    return schema


def _revise() -> Schema:
    """Return one closed object with every property, and a ``oneOf`` that says which go together.

    A closed object cannot see into its branches: properties declared only there would be refused.
    """
    branches = [*REVISIONS.values(), MergeInput]
    schemas = [_of(branch) for branch in branches]
    properties: Schema = {}
    for schema in schemas:
        for name, value in schema["properties"].items():
            properties.setdefault(name, value)
    properties["action"] = {
        "type": "string",
        "enum": list(REVISIONS),
        "description": "What to do with the record.",
    }
    always = [
        name for name in schemas[0]["required"] if all(name in s["required"] for s in schemas)
    ]
    return {
        "type": "object",
        "properties": properties,
        "required": always,
        "additionalProperties": False,
        "oneOf": [_branch(schema) for schema in schemas],
    }


def _branch(schema: Schema) -> Schema:
    branch: Schema = {
        "required": schema["required"],
        "propertyNames": {"enum": list(schema["properties"])},
    }
    if "action" in schema["properties"]:
        branch["properties"] = {"action": {"const": schema["properties"]["action"]["const"]}}
    return branch


def _of(model: type[ToolInput]) -> Schema:
    """Return the schema of one model, a copy of one's own: some frameworks change what they get."""
    return deepcopy(_made(model))


@cache
def _made(model: type[ToolInput]) -> Schema:
    """Return the schema of one model without references, titles and nulls."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    plain = cast("Schema", _plain(schema, definitions))
    plain.pop("description", None)
    return plain


def _plain(node: object, definitions: Mapping[str, Any]) -> object:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = dict(definitions[node["$ref"].rpartition("/")[2]])
        target.pop("description", None)
        return _plain({**target, **{k: v for k, v in node.items() if k != "$ref"}}, definitions)
    if "anyOf" in node:
        # An optional field: nulls are dropped before validation, and nobody is told to send one.
        (kind,) = (one for one in node["anyOf"] if one != {"type": "null"})
        rest = {k: v for k, v in node.items() if k != "anyOf" and (k, v) != ("default", None)}
        return _plain({**kind, **rest}, definitions)
    return {
        key: _properties(value, definitions) if key == "properties" else _plain(value, definitions)
        for key, value in node.items()
        if key != "title"
    }


def _properties(named: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    return {name: _plain(value, definitions) for name, value in named.items()}


def _typed(node: object) -> object:
    """Return the schema with a type beside every enum."""
    if isinstance(node, list):
        return [_typed(item) for item in node]
    if not isinstance(node, dict):
        return node
    typed = {key: _typed(value) for key, value in node.items()}
    if isinstance(typed.get("enum"), list):
        typed.setdefault("type", "string")
    return typed
