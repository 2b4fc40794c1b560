import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.hosted.answers import first_object


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"a": 1}', {"a": 1}, id="alone"),
        pytest.param('```json\n{"a": 1}\n```', {"a": 1}, id="fence"),
        pytest.param('Sure: {"a": 1} or {"a": 2}', {"a": 1}, id="first of two"),
        pytest.param('a set {x, y}, then {"a": 1}', {"a": 1}, id="braces of prose"),
        pytest.param('{"a": "}{\\"}"}', {"a": '}{"}'}, id="braces and quotes in text"),
        pytest.param('[{"a": 1}]', {"a": 1}, id="object in a list"),
        pytest.param('<think>{"a": 0}</think> {"a": 1}', {"a": 1}, id="thoughts before"),
        pytest.param('{"a": {"b": {}}}', {"a": {"b": {}}}, id="nested"),
        pytest.param("", None, id="nothing"),
        pytest.param("null", None, id="no object"),
        pytest.param('{"a": [{"b": 1}', None, id="cut outer object, whole inner one"),
        pytest.param('{"a": "x', None, id="cut text"),
        pytest.param('{"a": NaN}', None, id="NaN"),
        pytest.param('{"a": [1], "a": []}', None, id="a name twice"),
        pytest.param('{"b": {"a": 1, "a": 2}}', None, id="a name twice within"),
        pytest.param("{'a': 1}", None, id="single quotes"),
        pytest.param('{"a":' * 100_000 + "1" + "}" * 100_000, None, id="too deep"),
        pytest.param("{" * 200_000, None, id="only openings"),
        pytest.param("{x}" * 50_000, None, id="many sets"),
    ],
)
def test_first_object_is_the_first_balanced_one(text, expected):
    assert first_object(text) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(
    value=st.dictionaries(st.text(), JSON, max_size=4),
    before=st.text(alphabet="ab \n`[]:,1"),
    after=st.text(),
)
def test_any_object_is_found_in_any_text_around_it(value, before, after):
    assert first_object(f"{before}{json.dumps(value)}{after}") == value


@given(st.text())
def test_any_text_gives_an_object_or_none(text):
    found = first_object(text)

    assert found is None or isinstance(found, dict)
