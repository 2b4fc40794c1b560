from dataclasses import fields

import pytest

from retold.models import Principal, Record, Scope, SearchRequest, Turn, WriteRequest
from retold.testing import (
    CountingIds,
    make_candidate,
    make_principal,
    make_record,
    make_request,
    make_search,
    make_turns,
)


@pytest.mark.parametrize(
    ("built", "type_"),
    [
        (make_record(), Record),
        (make_principal(), Principal),
        (make_request(), WriteRequest),
        (make_search(), SearchRequest),
        (make_turns()[0], Turn),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_builders_default_every_field(built, type_):
    assert isinstance(built, type_)
    assert all(hasattr(built, field.name) for field in fields(type_))


@pytest.mark.parametrize(
    "build", [make_record, make_candidate, make_principal, make_request, make_search]
)
def test_builders_refuse_unknown_fields(build):
    with pytest.raises(TypeError):
        build(colour="red")


def test_record_follows_its_number_and_subject():
    record = make_record(7, subject_entity_id="e1", attribute="home")

    assert record.id == CountingIds.nth(7)
    assert record.subject == "e1/home"
    assert make_record(7, subject_entity_id="e1").subject == "e1/-"
    assert make_record(7, subject_entity_id="e1", subject=None).subject is None


def test_record_takes_every_field_it_is_given():
    record = make_record(scope=Scope("project", "acme/repo"), status="superseded")

    assert record.scope == Scope("project", "acme/repo")
    assert not record.is_active


def test_candidate_of_a_number_is_the_record_of_that_number():
    assert make_candidate(3).record_id == make_record(3).id


def test_turns_number_themselves_and_know_their_origin():
    user, assistant, tool = make_turns("Hi", ("assistant", "Hello"), ("tool", "42"))

    assert [turn.turn for turn in (user, assistant, tool)] == [1, 2, 3]
    assert user.role == "user"
    assert assistant.origin == "dialogue"
    assert (tool.origin, tool.tool_name) == ("tool", "lookup")
    assert user.at < assistant.at < tool.at


def test_search_takes_one_query_or_several():
    assert make_search("tea").queries == ("tea",)
    assert make_search(["tea", "jazz"], k=3).k == 3
