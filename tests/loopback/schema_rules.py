"""What both providers refuse in the JSON schema of a tool, and what their strict modes refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

TYPES = frozenset({"object", "array", "string", "integer", "number", "boolean", "null"})
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLES = ("items", "not", "if", "then", "else", "contains", "propertyNames")
KEYED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
FORMATS = frozenset("date-time time date duration email hostname uri ipv4 ipv6 uuid".split())


def nodes(schema: Any, path: str = "$") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every schema in a schema with its path, the outer before the inner."""
    if not isinstance(schema, Mapping):
        return
    yield path, schema
    for word in LISTS:
        for number, inner in enumerate(schema.get(word) or ()):
            yield from nodes(inner, f"{path}.{word}[{number}]")
    for word in (*SINGLES, "additionalProperties"):
        yield from nodes(schema.get(word), f"{path}.{word}")
    for word in KEYED:
        for name, inner in (schema.get(word) or {}).items():
            yield from nodes(inner, f"{path}.{word}.{name}")


def malformed(schema: Any) -> Iterator[str]:
    """Yield what a meta-schema of draft 2020-12 finds wrong, as far as tools ever go."""
    if not isinstance(schema, Mapping):
        yield "the schema is not an object"
        return
    for path, node in nodes(schema):
        for problem in _node_problems(node):
            yield f"{path}: {problem}"
        target = node.get("$ref")
        if target is not None and not _resolves(schema, target):
            yield f"{path}: $ref {target!r} leads nowhere"


def _node_problems(node: Mapping[str, Any]) -> Iterator[str]:
    types = node.get("type", [])
    for one in [types] if isinstance(types, str) else types:
        if one not in TYPES:
            yield f"{one!r} is no type"
    if "enum" in node and not (isinstance(node["enum"], list) and node["enum"]):
        yield "enum is a list with at least one value"
    if "required" in node and not _is_string_set(node["required"]):
        yield "required is a list of different strings"
    for word in ("minItems", "maxItems", "minLength", "maxLength"):
        if word in node and not _is_count(node[word]):
            yield f"{word} is a whole number from 0"
    if "pattern" in node and not _compiles(node["pattern"]):
        yield "pattern is a regular expression"


def untyped_enums(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the enums that do not say what their values are."""
    for path, node in nodes(schema):
        if "enum" in node and "type" not in node:
            yield f"{path}: this enum has no 'type'"


def arrays_without_items(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arrays that do not say what they hold."""
    for path, node in nodes(schema):
        if node.get("type") == "array" and "items" not in node and "prefixItems" not in node:
            yield f"{path}: array schema missing items"


def openai_strict(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what Structured Outputs refuses in a schema of OpenAI's strict mode."""
    refused = ("oneOf", "allOf", "not", "if", "then", "else", "dependentRequired")
    refused += ("dependentSchemas", "patternProperties", "default", "minLength", "maxLength")
    properties = values = 0
    for path, node in nodes(schema):
        for word in refused:
            if word in node:
                yield f"{path}: '{word}' is not permitted"
        if node.get("type") == "object" or "properties" in node:
            names = list(node.get("properties", {}))
            properties += len(names)
            if node.get("additionalProperties") is not False:
                yield f"{path}: 'additionalProperties' is required to be supplied and to be false"
            if sorted(node.get("required", [])) != sorted(names):
                yield f"{path}: 'required' has to name every key in properties"
        if node.get("format", "date") not in FORMATS - {"uri"}:
            yield f"{path}: format {node['format']!r} is not supported"
        values += len(node.get("enum", ()))
        if path.count(".properties.") > 10:
            yield f"{path}: more than 10 levels of nesting"
    if properties > 5000 or values > 1000:
        yield f"{properties} properties and {values} enum values; 5000 and 1000 are the limits"


def anthropic_strict(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield what Anthropic's strict tools refuse in a schema."""
    refused = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    refused += ("minLength", "maxLength", "maxItems", "uniqueItems", "oneOf", "not")
    for path, node in nodes(schema):
        for word in refused:
            if word in node:
                yield f"{path}: property '{word}' is not supported"
        if node.get("minItems", 0) not in (0, 1):
            yield f"{path}: minItems is 0 or 1"
        if node.get("type") == "object" and node.get("additionalProperties") is not False:
            yield f"{path}: 'additionalProperties' must be explicitly set to false"
        if node.get("format", "date") not in FORMATS:
            yield f"{path}: format {node['format']!r} is not supported"
        if any(isinstance(value, dict | list) for value in node.get("enum", ())):
            yield f"{path}: an enum holds plain values only"
        if str(node.get("$ref", "#")) == "#" and "$ref" in node:
            yield f"{path}: a schema that contains itself is not supported"


def optional_parameters(schema: Mapping[str, Any]) -> int:
    """Count the properties, at any depth, that a caller may leave out."""
    return sum(
        len(set(node.get("properties", {})) - set(node.get("required", ())))
        for _, node in nodes(schema)
    )


def _is_string_set(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(one, str) for one in value)
        and len(set(value)) == len(value)
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _compiles(pattern: Any) -> bool:
    try:
        re.compile(pattern)
    except (re.error, TypeError):
        return False
    return True


def _resolves(schema: Mapping[str, Any], target: str) -> bool:
    node: Any = schema
    for part in [one for one in target.removeprefix("#").split("/") if one]:
        node = node.get(part) if isinstance(node, Mapping) else None
    return target.startswith("#") and isinstance(node, Mapping)
