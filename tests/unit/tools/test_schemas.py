"""The published schemas say exactly what the handlers accept; the model's form hides no danger."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator

from retold.errors import InvalidInput
from retold.text.frames import MEMORY_TOOL_NAMES
from retold.tools import parsing
from retold.tools.catalogue import DESCRIPTIONS
from retold.tools.schemas import for_model, published_schema
from tests.unit.tools.calls import BAD, GOOD, ID, OTHER_ID, REVISIONS

TARGETS = ("personal", "current_project")
PARSERS = {
    "memory_search": parsing.parse_search,
    "memory_get": parsing.parse_get,
    "memory_write": parsing.parse_write,
    "memory_revise": parsing.parse_revise,
    "memory_forget": parsing.parse_forget,
}


def published(name: str) -> dict:
    return published_schema(name, write_targets=TARGETS, default_k=8)


def strict(name: str) -> Draft202012Validator:
    """Return a validator that checks formats too."""
    return Draft202012Validator(published(name), format_checker=Draft202012Validator.FORMAT_CHECKER)


def nodes(schema: object, path: str = "") -> Iterator[tuple[str, dict]]:
    """Yield every object inside a schema with its path."""
    if isinstance(schema, dict):
        yield path, schema
        for key, value in schema.items():
            yield from nodes(value, f"{path}/{key}")
    elif isinstance(schema, list):
        for place, value in enumerate(schema):
            yield from nodes(value, f"{path}/{place}")


@pytest.mark.parametrize("name", MEMORY_TOOL_NAMES)
@pytest.mark.parametrize("form", [published, lambda name: for_model(published(name))])
def test_schema_is_valid_draft_2020_12(name, form):
    Draft202012Validator.check_schema(form(name))

    assert json.loads(json.dumps(form(name))) == form(name)


@pytest.mark.parametrize("case", GOOD)
def test_strict_validator_and_parser_both_take(case):
    """Drop the ``oneOf`` or declare properties in its branches only, and a branch fails here."""
    name, arguments = GOOD[case]

    assert [error.message for error in strict(name).iter_errors(arguments)] == []
    assert PARSERS[name](parsing.as_object(json.dumps(arguments)))


@pytest.mark.parametrize("case", [case for case in BAD if case != "write to a raw scope"])
def test_strict_validator_and_parser_both_refuse(case):
    name, arguments = BAD[case]

    assert not strict(name).is_valid(arguments)
    with pytest.raises(InvalidInput):
        PARSERS[name](arguments)


def test_write_target_that_is_not_on_offer_fails_the_schema():
    name, arguments = BAD["write to a raw scope"]

    assert not strict(name).is_valid(arguments)


@pytest.mark.parametrize("name", MEMORY_TOOL_NAMES)
def test_every_object_is_closed_and_every_property_described(name):
    schema = published(name)
    objects = [node for _, node in nodes(schema) if node.get("type") == "object"]

    assert all(node["additionalProperties"] is False for node in objects)
    for node in objects:
        assert [key for key, value in node["properties"].items() if not value["description"]] == []


def test_every_key_required_by_a_branch_is_declared_at_the_top():
    schema = published("memory_revise")
    needed = {key for branch in schema["oneOf"] for key in branch["required"]}
    named = {key for branch in schema["oneOf"] for key in branch["propertyNames"]["enum"]}

    assert len(schema["oneOf"]) == 4
    assert needed <= named == set(schema["properties"])


def test_branches_of_memory_revise_exclude_each_other():
    """A merge that also names a record fits no branch, rather than two."""
    both = {**REVISIONS["merge"], **REVISIONS["expire"]}

    assert not strict("memory_revise").is_valid(both)
    with pytest.raises(InvalidInput):
        parsing.parse_revise(both)


@pytest.mark.parametrize("name", MEMORY_TOOL_NAMES)
def test_models_see_no_union_at_the_root_and_a_type_on_every_enum(name):
    """Providers answer 400 for the whole request when a tool's root holds a union."""
    schema = for_model(published(name))
    unions = {"oneOf", "anyOf", "allOf", "not", "enum", "const", "$schema", "$ref", "$defs"}

    assert schema["type"] == "object"
    assert unions & set(schema) == set()
    for path, node in nodes(schema):
        assert "$ref" not in node, path
        assert not isinstance(node.get("enum"), list) or node["type"] == "string", path


@pytest.mark.parametrize("name", MEMORY_TOOL_NAMES)
def test_models_see_every_property_but_the_hidden_hint(name):
    shown = for_model(published(name))

    assert set(published(name)["properties"]) - set(shown["properties"]) <= {"evidence_turn"}
    assert "evidence_turn" not in json.dumps(shown)
    assert set(shown["required"]) <= set(shown["properties"])


def test_nobody_is_told_of_agents_users_scopes_or_contexts():
    """The host decides who asks; a model that could say so would be the host."""
    told = {key for name in MEMORY_TOOL_NAMES for key in published(name)["properties"]}

    assert told & {"agent_id", "user_id", "scope", "session_id", "context", "principal"} == set()


def test_source_kinds_of_host_and_extractor_are_not_offered():
    kinds = published("memory_write")["properties"]["source_kind"]["enum"]

    assert kinds == ["user_statement", "tool_result", "agent_inference"]


def test_write_targets_are_those_given():
    assert published("memory_write")["properties"]["write_target"]["enum"] == list(TARGETS)


def test_schema_is_made_anew_for_each_caller():
    """Some frameworks change the schema they are handed."""
    published("memory_write")["properties"].clear()
    for_model(published("memory_revise"))["properties"].clear()

    assert published("memory_write")["properties"]
    assert published("memory_revise")["properties"]


def test_descriptions_say_what_users_tripped_over():
    assert tuple(DESCRIPTIONS) == MEMORY_TOOL_NAMES
    assert "names one current value" in DESCRIPTIONS["memory_write"]
    assert "not erasure" in DESCRIPTIONS["memory_forget"]
    assert "one per call" in DESCRIPTIONS["memory_write"]
    assert "names the one current value" in (
        published("memory_write")["properties"]["attribute"]["description"].lower()
    )


def test_ids_are_full_or_short_in_the_schema():
    assert strict("memory_get").is_valid({"ids": [ID, OTHER_ID[-8:], f"mem_{ID[-8:]}"]})
