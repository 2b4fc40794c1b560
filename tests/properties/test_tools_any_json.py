"""Whatever a model sends, every tool gives a structured answer, and an error leaves no trace."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from retold.testing import MemoryLab
from retold.text.frames import MEMORY_TOOL_NAMES, holds_memory_output
from tests.examples import examples
from tests.unit.tools.calls import BAD, GOOD

EXAMPLES = settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
SAID = "I live in Porto now, and I am allergic to peanuts."
NOTED = ("events", "event_refs")
"""A refused access leaves one event without content, as the audit wants."""

# Lone surrogates included: JSON text can spell them.
texts = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    [
        "",
        " ",
        "\x00",
        "\ud800",
        "mem_00000001",
        "mem_",
        "personal",
        SAID,
        "2026-03-19",
        "NaN",
        "x" * 1001,
    ]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
FIELDS = sorted({key for _, arguments in (GOOD | BAD).values() for key in arguments})
near_objects = st.dictionaries(
    st.sampled_from(FIELDS) | texts, json_values | st.sampled_from(["semantic", "confirm"])
)


def places(value: object, path: tuple = ()) -> Iterator[tuple]:
    """Yield the path of every value inside a JSON value."""
    yield path
    if isinstance(value, Mapping):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from places(item, (*path, place))


@st.composite
def damaged_calls(draw) -> tuple[str, object]:
    """Return a good call with one value replaced by any other, or one field too much."""
    name, arguments = draw(st.sampled_from(sorted((GOOD | BAD).values(), key=str)))
    damaged = copy.deepcopy(arguments)
    path = draw(st.sampled_from(list(places(damaged))))
    value = draw(json_values)
    if not path:
        return name, draw(st.sampled_from([value, {**damaged, "extra": value}]))
    inner = damaged
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return name, damaged


@pytest.fixture
def lab():
    """A store that holds a little of everything."""
    with MemoryLab.open() as lab:
        session = lab.session("ana", session_id="chat")
        session.turn("user", SAID)
        session.remember("The user lives in Porto", evidence=SAID, attribute="home_city")
        yield lab


def counts(lab) -> dict[str, int]:
    return lab.row_counts()


def check(lab, tools, name, arguments) -> None:
    """Call a tool and hold its answer against what every answer promises."""
    before = counts(lab)

    answer = tools.call(name, arguments)

    after = counts(lab)
    assert isinstance(answer.text, str)
    answer.text.encode()
    json.dumps(answer.data, allow_nan=False).encode()
    assert holds_memory_output(answer.text)
    assert answer.is_error == ("error" in answer.data)
    if not answer.is_error:
        return
    code = answer.data["error"]["code"]
    assert code != "internal_error", (name, arguments)
    assert answer.data["error"]["message"]
    noted = 1 if code in ("not_found", "scope_not_writable") else 0
    grown = {
        table: after[table] - before[table] for table in after if after[table] != before[table]
    }
    assert set(grown) <= set(NOTED)
    assert all(number <= noted for number in grown.values())


@pytest.mark.parametrize("name", MEMORY_TOOL_NAMES)
def test_any_json_value_gives_a_structured_answer_and_no_partial_write(lab, name):
    """Let the parser raise anything but InvalidInput, or write before it, and this fails."""
    tools = lab.session("ana", session_id="chat").tools()

    @EXAMPLES
    @given(arguments=json_values | near_objects)
    def any_value(arguments):
        check(lab, tools, name, arguments)
        check(lab, tools, name, json.dumps(arguments))

    any_value()


def test_good_calls_with_one_wrong_value_are_answered_and_write_nothing_by_halves(lab):
    tools = lab.session("ana", session_id="chat").tools()

    @settings(EXAMPLES, max_examples=examples(300))
    @given(call=damaged_calls())
    def any_damage(call):
        check(lab, tools, *call)

    any_damage()


def test_any_text_in_place_of_arguments_is_answered(lab):
    tools = lab.session("ana", session_id="chat").tools()

    @settings(EXAMPLES, max_examples=examples(100))
    @given(text=texts | st.text(st.sampled_from('{}[]":,\\ue1'), max_size=40))
    def any_text(text):
        for name in MEMORY_TOOL_NAMES:
            check(lab, tools, name, text)

    any_text()


def test_any_name_of_a_tool_is_answered(lab):
    tools = lab.session("ana", session_id="chat").tools()

    @settings(EXAMPLES, max_examples=examples(100))
    @given(name=json_values, arguments=json_values)
    def any_name(name, arguments):
        check(lab, tools, name, arguments)

    any_name()


def test_what_the_schema_takes_the_tool_does_not_call_malformed(lab):
    """And what it refuses, the tool refuses: a framework that validates loses nothing.

    The schema cannot say what blank text or a moment is, so those may be refused beyond it; nulls
    are dropped, and 8.0 is 8, so those are left out here.
    """
    tools = lab.session("ana", session_id="chat").tools()
    schemas = {name: Draft202012Validator(tools[name].published_schema) for name in tools}

    @settings(EXAMPLES, max_examples=examples(300))
    @given(call=damaged_calls())
    def agreed(call):
        name, arguments = call
        if holds(arguments, lambda value: value is None or isinstance(value, float)):
            return
        answer = tools.call(name, arguments)
        refused = answer.is_error and answer.data["error"]["code"] == "invalid_input"
        problems = answer.data["error"].get("problems", []) if refused else []
        if not schemas[name].is_valid(arguments):
            assert answer.is_error
        elif problems:
            beyond = ("blank", "NUL", "surrogate", "ISO 8601", "UTC", "control")
            assert any(word in one["message"] for one in problems for word in beyond), problems

    agreed()


def holds(value: object, wanted) -> bool:
    """Return whether a JSON value holds one that is wanted, at any depth."""
    if isinstance(value, Mapping):
        return any(holds(item, wanted) for item in value.values())
    if isinstance(value, list):
        return any(holds(item, wanted) for item in value)
    return wanted(value)


@pytest.mark.parametrize("case", GOOD)
@pytest.mark.parametrize("part", ["embedder", "judge", "both"])
def test_failing_models_leave_nothing_half_written(lab, case, part):
    tools = lab.session("ana", session_id="chat").tools()
    before = counts(lab)
    if part != "judge":
        lab.embedder.fail(RuntimeError("embedder"))
    if part != "embedder":
        lab.judge.fail(RuntimeError("judge"))

    answer = tools.call(*GOOD[case])

    if answer.is_error:
        grown = {name for name, number in counts(lab).items() if number != before[name]}
        assert grown <= set(NOTED)
        assert "RuntimeError" not in answer.text
