import pytest
from pydantic import BaseModel, ConfigDict, Field

from retold.hosted.schemas import strict_schema, without_nulls
from tests.loopback import schema_rules


class Fact(BaseModel):
    model_config = ConfigDict(extra="forbid")

    content: str = Field(min_length=1, max_length=300)
    confidence: float = Field(0.5, ge=0, le=1)
    valid_until: str | None = None
    tags: list[str] = Field(default_factory=list, max_length=3)


class Facts(BaseModel):
    """What a reader found."""

    facts: list[Fact] = Field(max_length=20)
    best: Fact | None = None
    summary: str | None


UNION = {
    "type": "object",
    "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    "properties": {
        "a": {"oneOf": [{"type": "string", "pattern": "^x"}, {"type": "integer", "minimum": 1}]},
        "b": {"const": "b", "type": "string"},
        "c": {"type": "array", "items": {"type": "string", "format": "uri"}, "minItems": 2},
        "d": {"allOf": [{"type": "string"}]},
    },
}
SCHEMAS = [
    pytest.param(Facts.model_json_schema(), id="pydantic"),
    pytest.param(UNION, id="unions and limits"),
    pytest.param({"type": "object"}, id="empty"),
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_strict_schema_is_one_that_openai_takes(schema):
    strict = strict_schema(schema, all_required=True)

    assert list(schema_rules.malformed(strict)) == []
    assert list(schema_rules.openai_strict(strict)) == []
    assert strict["type"] == "object"
    assert "anyOf" not in strict


@pytest.mark.parametrize("schema", SCHEMAS)
def test_strict_schema_is_one_that_anthropic_takes(schema):
    strict = strict_schema(schema, all_required=False)

    assert list(schema_rules.malformed(strict)) == []
    assert list(schema_rules.anthropic_strict(strict)) == []


def test_limits_become_words():
    strict = strict_schema(Facts.model_json_schema(), all_required=True)
    content = strict["$defs"]["Fact"]["properties"]["content"]

    assert content["description"] == "(maxLength 300, minLength 1)"


def test_schema_of_the_caller_is_left_as_it_was():
    schema = Facts.model_json_schema()
    strict_schema(schema, all_required=True)

    assert schema == Facts.model_json_schema()


def test_nulls_are_kept_where_the_property_is_required_and_taken_out_elsewhere():
    fact = {"content": "A.", "confidence": None, "valid_until": None, "tags": None}
    answer = {"facts": [fact], "best": fact, "summary": None, "more": None}

    plain = without_nulls(answer, Facts.model_json_schema())

    assert plain == {
        "facts": [{"content": "A."}],
        "best": {"content": "A."},
        "summary": None,
        "more": None,
    }


def test_what_the_schema_does_not_speak_of_may_nest_without_end():
    deep = None
    for _ in range(100_000):
        deep = [{"x": deep}]
    answer = {"facts": [{"key": deep, "tags": [deep]}], "more": deep}

    plain = without_nulls(answer, Facts.model_json_schema())

    assert plain["more"] is deep
    assert plain["facts"][0]["key"] is deep


def test_reference_that_leads_in_a_circle_ends():
    schema = {
        "type": "object",
        "$defs": {"N": {"$ref": "#/$defs/N"}},
        "properties": {"n": {"$ref": "#/$defs/N"}},
    }

    assert without_nulls({"n": {"x": None}}, schema) == {"n": {"x": None}}
