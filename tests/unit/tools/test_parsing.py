"""What a model gets wrong is told by field, with what would be right."""

from __future__ import annotations

import json

import pytest

from retold.errors import InvalidInput
from retold.tools.parsing import (
    as_object,
    parse_forget,
    parse_revise,
    parse_search,
    parse_write,
)
from tests.unit.tools.calls import ID, REVISIONS, SOMEBODY


def problems(call, arguments) -> dict[str, dict]:
    with pytest.raises(InvalidInput) as refused:
        call(arguments)
    return {one["field"]: one for one in refused.value.details["problems"]}


@pytest.mark.parametrize(
    ("payload", "what"),
    [
        (None, "null"),
        ([], "a list"),
        (7, "a number"),
        (1.5, "a number"),
        (True, "true or false"),
        ("[1]", "a list"),
        ('"text"', "text"),
        ("null", "null"),
    ],
)
def test_anything_but_an_object_is_refused_by_kind(payload, what):
    with pytest.raises(InvalidInput, match=what):
        as_object(payload)


@pytest.mark.parametrize(
    "text",
    ["{", '{"a": }', "NaN", '{"k": NaN}', '{"k": Infinity}', "'a'", '{"a": 1} x', "9" * 5000],
)
def test_broken_json_is_refused(text):
    with pytest.raises(InvalidInput, match="JSON"):
        as_object(text)


def test_deep_nesting_is_refused_instead_of_breaking_the_interpreter():
    with pytest.raises(InvalidInput, match="deeply"):
        as_object('{"a":' + "[" * 100_000 + "]" * 100_000 + "}")
    nested: list = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(InvalidInput, match="deeply"):
        as_object({"a": nested})


def test_empty_text_is_an_empty_object():
    """Some providers send it for a call without arguments."""
    assert as_object("") == as_object(" ") == {}


def test_nulls_count_as_left_out():
    """A model in strict mode must name every field and writes null for most."""
    given = as_object(
        {"type": "episodic", "tags": None, "entities": [{**SOMEBODY, "entity_id": None}]}
    )

    assert given == {"type": "episodic", "entities": [SOMEBODY]}


def test_every_wrong_field_is_named_with_its_path_and_choices():
    found = problems(
        parse_write,
        {"type": "fact", "entities": [{"kind": "cat", "name": " ", "colour": 1}], "scope": "x"},
    )

    assert found["type"]["allowed"] == ["semantic", "episodic", "procedural"]
    assert found["content"]["message"] == "is required"
    assert found["entities[0].kind"]["allowed"][0] == "person"
    assert "blank" in found["entities[0].name"]["message"]
    assert found["entities[0].role"]["message"] == "is required"
    assert "entity_id" in found["entities[0].colour"]["allowed"]
    assert "write_target" in found["scope"]["allowed"]


def test_a_choice_inside_a_list_names_its_place():
    found = problems(parse_search, {"queries": ["a"], "types": ["semantic", "fact"]})

    assert found["types[1]"]["allowed"] == ["semantic", "episodic", "procedural"]


def test_messages_repeat_no_value():
    """An argument may hold what a user said; the error goes into logs of frameworks."""
    with pytest.raises(InvalidInput) as refused:
        parse_write({"type": "my secret", "content": "x" * 1001, "evidence": "\x00secret"})

    assert "secret" not in json.dumps(refused.value.details) + str(refused.value)


def test_naive_moment_is_answered_with_the_corrected_one():
    found = problems(parse_search, {"queries": ["a"], "since": "2026-03-19T09:00"})

    assert "2026-03-19T09:00:00+00:00" in found["since"]["message"]


@pytest.mark.parametrize(
    "moment", ["yesterday", "", "2026-13-01T00:00:00Z", 5, [], "0001-01-01T00:00+14:00"]
)
def test_no_moment_is_answered_with_an_example(moment):
    found = problems(parse_search, {"queries": ["a"], "until": moment})

    assert "20" in found["until"]["message"] or "years" in found["until"]["message"]


@pytest.mark.parametrize("moment", ["2026-03-19T10:00:00+01:00", "2026-03-19T09:00:00Z"])
def test_moments_with_any_offset_are_one_instant(moment):
    given = parse_search({"queries": ["a"], "since": moment})

    assert given.since.isoformat() == "2026-03-19T09:00:00+00:00"


def test_whole_numbers_may_come_as_floats():
    assert parse_search({"queries": ["a"], "k": 5.0}).k == 5
    assert "k" in problems(parse_search, {"queries": ["a"], "k": 5.5})


def test_revision_without_an_action_names_the_actions_and_the_merge():
    found = problems(parse_revise, {"id": ID, "reason": "r"})

    assert found["action"]["allowed"] == ["confirm", "supersede", "expire"]
    assert "merge_into" in found["action"]["message"]


@pytest.mark.parametrize("action", [[], {}, 1, "CONFIRM"])
def test_action_of_any_kind_is_answered(action):
    assert "action" in problems(parse_revise, {"id": ID, "reason": "r", "action": action})


def test_field_of_another_branch_is_refused_with_those_of_its_own():
    found = problems(parse_revise, {**REVISIONS["expire"], "content": "x"})

    assert found["content"]["allowed"] == ["id", "action", "reason"]


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u200b", "\u3164", "\u00a0"])
@pytest.mark.parametrize("field", ["content", "evidence", "attribute"])
def test_text_that_shows_nothing_is_refused(field, blank):
    arguments = {"type": "episodic", "content": "x", field: blank}

    assert field in problems(parse_write, arguments)


def test_only_the_first_problems_are_told():
    found = problems(parse_forget, {f"field {number}": 1 for number in range(500)})

    assert len(found) == 8


def test_long_field_names_are_cut():
    (one, *_) = (key for key in problems(parse_forget, {"x" * 9000: 1}) if key[0] == "x")

    assert len(one) == 80


@pytest.mark.parametrize(
    "parsed",
    [
        parse_search({"queries": ["secret"], "entities": ["secret"]}),
        parse_write({"type": "episodic", "content": "secret", "entities": [SOMEBODY]}),
        parse_revise(REVISIONS["supersede in full"]),
        parse_forget({"id": ID, "reason": "secret"}),
    ],
    ids=lambda parsed: type(parsed).__name__,
)
def test_repr_of_what_a_model_sent_shows_none_of_it(parsed):
    """It ends up in tracebacks, and with them in logs."""
    assert repr(parsed) == f"{type(parsed).__name__}()"
