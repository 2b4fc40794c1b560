"""JSON schemas as the strict modes of the providers take them, and answers read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from retold.models import JsonSchema

_KEPT: Final = frozenset("type enum const description anyOf items properties required $ref".split())
_LIMITS: Final = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern "
    "minItems maxItems uniqueItems format".split()
)
"""Keywords that strict modes refuse; they go into the description, where a model reads them."""


def strict_schema(schema: JsonSchema, *, all_required: bool) -> dict[str, object]:
    """Return the schema in the subset that both strict modes take.

    Objects are closed, limits become words, and unions are ``anyOf``, which the root never is.
    With ``all_required``, which OpenAI wants, every property is required and those that were not
    may be null; ``without_nulls`` takes these nulls out again.
    """
    strict = _node(schema, all_required=all_required)
    for name in ("$defs", "definitions"):
        inner = schema.get(name)
        if isinstance(inner, Mapping):
            strict[name] = {
                key: _node(one, all_required=all_required) for key, one in inner.items()
            }
    strict.pop("anyOf", None)
    return strict | {"type": "object"}


def _node(schema: object, *, all_required: bool) -> dict[str, object]:
    if not isinstance(schema, Mapping):
        return {}
    if "$ref" in schema:
        # Neither mode allows anything beside a reference.
        return {"$ref": schema["$ref"]}
    node: dict[str, object] = {key: value for key, value in schema.items() if key in _KEPT}
    if "const" in node:
        node["enum"] = [node.pop("const")]
    union = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if union:
        node["anyOf"] = [_node(one, all_required=all_required) for one in union]
    if "items" in node:
        node["items"] = _node(node["items"], all_required=all_required)
    if isinstance(schema.get("properties"), Mapping) or schema.get("type") == "object":
        node |= _closed(schema, all_required=all_required)
    limits = ", ".join(f"{key} {schema[key]}" for key in sorted(_LIMITS & set(schema)))
    if limits:
        node["description"] = f"{schema.get('description', '')} ({limits})".strip()
    return node


def _closed(schema: JsonSchema, *, all_required: bool) -> dict[str, object]:
    properties = schema.get("properties")
    fields: dict[str, object] = {}
    required = _names(schema.get("required"))
    for name, inner in (properties if isinstance(properties, Mapping) else {}).items():
        node = _node(inner, all_required=all_required)
        fields[name] = node if name in required or not all_required else _nullable(node)
    names = list(fields) if all_required else [name for name in fields if name in required]
    return {"properties": fields, "required": names, "additionalProperties": False}


def _nullable(node: dict[str, object]) -> dict[str, object]:
    null: dict[str, object] = {"type": "null"}
    union = node.get("anyOf")
    if isinstance(union, list):
        return node if null in union else node | {"anyOf": [*union, null]}
    if node.get("type") == "null":
        return node
    return {"anyOf": [node, null]}


def without_nulls(value: object, schema: JsonSchema) -> object:
    """Return an answer without the nulls of properties that need not be there.

    What the schema does not speak of stays as it is, however deep it nests.
    """
    return _without(value, schema, schema)


def _without(value: object, schema: object, root: JsonSchema) -> object:
    branches = list(_branches(schema, root))
    if isinstance(value, list):
        items = next((one["items"] for one in branches if "items" in one), None)
        return value if items is None else [_without(one, items, root) for one in value]
    if not isinstance(value, Mapping):
        return value
    kept: dict[str, object] = {}
    for name, inner in value.items():
        declared = [_properties(one)[name] for one in branches if name in _properties(one)]
        needed = not declared or any(name in _names(one.get("required")) for one in branches)
        if inner is not None or needed:
            kept[name] = _without(inner, {"anyOf": declared}, root) if declared else inner
    return kept


def _branches(schema: object, root: JsonSchema, depth: int = 0) -> Iterator[JsonSchema]:
    """Yield a schema and those it may stand for, references followed."""
    if not isinstance(schema, Mapping) or depth > _MOST_STEPS:
        return
    yield schema
    target = schema.get("$ref")
    if isinstance(target, str):
        yield from _branches(_resolved(target, root), root, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(word) or ():
            yield from _branches(one, root, depth + 1)


_MOST_STEPS: Final = 20
"""References that lead in a circle end here; a schema of ours nests three deep."""


def _resolved(target: str, root: JsonSchema) -> object:
    node: object = root
    for part in target.removeprefix("#/").split("/"):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _properties(schema: JsonSchema) -> Mapping[str, object]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _names(value: object) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list | tuple) else frozenset()
