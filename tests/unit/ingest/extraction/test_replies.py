import jsonschema
import pytest

from retold.errors import InvalidCompletion
from retold.ingest.extraction.replies import (
    MOST_CANDIDATES,
    labels_of,
    read_extraction,
    read_moment,
    require_extraction,
)
from retold.ingest.extraction.schemas import ExtractionReply, ReviewReply, schema_of
from retold.models import EntityMention, KnownRecord, Scope

GOOD = {
    "type": "semantic",
    "content": "The user lives in Lisbon",
    "quote": "I moved to Lisbon",
    "line": 2,
    "source_kind": "user_statement",
    "attribute": "home_city",
    "entities": [{"name": "Lisbon", "kind": "other", "role": "mentions"}],
    "event_at": None,
    "valid_from": "2026-01-01T00:00:00+01:00",
    "valid_until": None,
    "review_at": None,
    "confidence": 0.9,
    "updates": "K1",
}
KNOWN = labels_of([KnownRecord("r1", "semantic", Scope("user", "ana"), "home_city", "Oslo")])
LINES = {1: 41, 2: 42}


def read(*items, summary=None):
    return read_extraction({"candidates": list(items), "summary": summary}, LINES, KNOWN)


def one(**fields):
    result = read({**GOOD, **fields})
    return result.candidates[0][1] if result.candidates else result.rejected[0]


# --- the schema -----------------------------------------------------------------------


@pytest.mark.parametrize("model", [ExtractionReply, ReviewReply])
def test_the_schema_is_one_that_strict_providers_take(model):
    schema = schema_of(model)

    def objects(value):
        if isinstance(value, dict):
            if value.get("type") == "object":
                yield value
            for inner in value.values():
                yield from objects(inner)
        if isinstance(value, list):
            for inner in value:
                yield from objects(inner)

    jsonschema.Draft202012Validator.check_schema(schema)
    assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf"} & set(schema)
    assert "$ref" not in str(schema)
    for each in objects(schema):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])


def test_an_answer_that_meets_the_schema_is_read_whole():
    answer = {"candidates": [GOOD], "summary": {"content": "Moved.", "decisions": ["stay"]}}
    jsonschema.validate(answer, schema_of(ExtractionReply))

    result = read_extraction(answer, LINES, KNOWN)

    ((position, candidate),) = result.candidates
    assert position == 0
    assert (candidate.evidence, candidate.evidence_turn) == ("I moved to Lisbon", 42)
    assert candidate.mentions == (EntityMention("other", "Lisbon", "mentions"),)
    assert candidate.valid_from.isoformat() == "2025-12-31T23:00:00+00:00"
    assert candidate.updates == "r1"
    assert (result.summary.content, result.summary.decisions) == ("Moved.", ("stay",))


# --- one bad item ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "reason", "detail"),
    [
        ("text", "malformed_candidate", "not an object"),
        (None, "malformed_candidate", "not an object"),
        ([GOOD], "malformed_candidate", "not an object"),
        ({}, "malformed_candidate", "content, quote, type"),
        ({**GOOD, "type": "secret"}, "malformed_candidate", "type"),
        ({**GOOD, "content": 5}, "malformed_candidate", "content"),
        ({**GOOD, "quote": None}, "malformed_candidate", "quote"),
        ({**GOOD, "source_kind": "system"}, "malformed_candidate", "source_kind"),
        ({**GOOD, "source_kind": "session_summary"}, "malformed_candidate", "source_kind"),
        ({**GOOD, "valid_from": "soon"}, "malformed_candidate", "valid_from"),
        ({**GOOD, "review_at": "9999-12-31T23:59:59-23:00"}, "malformed_candidate", "review_at"),
        ({**GOOD, "scope": "user:bob"}, "foreign_scope", "scope"),
        ({**GOOD, "user_id": "bob", "Scope": "x"}, "foreign_scope", "Scope, user_id"),
    ],
)
def test_a_bad_item_is_refused_and_costs_only_itself(item, reason, detail):
    result = read(GOOD, item, GOOD)

    assert [position for position, _ in result.candidates] == [0, 2]
    (rejected,) = result.rejected
    assert (rejected.position, rejected.reason, rejected.detail) == (1, reason, detail)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"line": "2"}, {"evidence_turn": None}),
        ({"line": 99}, {"evidence_turn": None}),
        ({"line": True}, {"evidence_turn": None}),
        ({"updates": "K2"}, {"updates": None}),
        ({"updates": 1}, {"updates": None}),
        ({"updates": " k1 "}, {"updates": "r1"}),
        ({"confidence": "high"}, {"confidence": None}),
        ({"confidence": 7}, {"confidence": 1.0}),
        ({"confidence": float("nan")}, {"confidence": None}),
        ({"entities": [{"name": " ", "kind": "person", "role": "about"}, 5]}, {"mentions": ()}),
        ({"entities": "Lisbon"}, {"mentions": ()}),
        ({"source_kind": None}, {"source_kind": "user_statement"}),
        ({"scope": None, "note": "extra"}, {"content": GOOD["content"]}),
    ],
)
def test_a_hint_that_cannot_be_read_is_left_out(fields, expected):
    candidate = one(**fields)

    assert {name: getattr(candidate, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "ends", "moment"),
    [
        ("2026-03-19", False, "2026-03-19T00:00:00+00:00"),
        ("2026-03-19", True, "2026-03-20T00:00:00+00:00"),
        ("9999-12-31", True, "9999-12-31T23:59:59.999999+00:00"),
        ("2026-03-19T10:00:00Z", True, "2026-03-19T10:00:00+00:00"),
        ("2026-03-19T10:00:00+02:00", False, "2026-03-19T08:00:00+00:00"),
        ("2026-03-19T10:00:00", False, "2026-03-19T10:00:00"),
    ],
)
def test_a_moment_is_read_with_its_offset(text, ends, moment):
    assert read_moment(text, ends=ends).isoformat() == moment


# --- the summary and the whole --------------------------------------------------------


@pytest.mark.parametrize(
    ("summary", "content", "decisions"),
    [
        ("They talked.", "They talked.", ()),
        ({"content": "They talked.", "decisions": ["go", 5, " "]}, "They talked.", ("go",)),
        ({"content": "They talked.", "decisions": "go"}, "They talked.", ()),
    ],
)
def test_a_summary_is_read_leniently(summary, content, decisions):
    read_summary = read(summary=summary).summary

    assert (read_summary.content, read_summary.decisions) == (content, decisions)


@pytest.mark.parametrize("summary", [None, 5, [], {}, {"content": " "}, {"content": ["x"]}, ""])
def test_what_is_no_summary_is_none(summary):
    assert read(GOOD, summary=summary).summary is None


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"candidates": None},
        {"candidates": {"0": GOOD}},
        {"candidates": [{}] * (MOST_CANDIDATES + 1)},
    ],
    ids=["nothing", "null", "object", "endless"],
)
def test_an_answer_without_a_list_of_candidates_is_no_answer(value):
    with pytest.raises(InvalidCompletion):
        require_extraction(value)
