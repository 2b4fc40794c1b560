"""What users of memory libraries ran into, through the tools that a model calls."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from retold.models import TURN_ROLES
from retold.text.frames import MEMORY_TOOL_NAMES
from tests.scenarios.support import PROJECT

UNKNOWN = "01890000-0000-7000-8000-00000000dead"


@pytest.fixture
def session(world):
    return world.session()


@pytest.fixture
def tools(session):
    return session.tools()


def write(session, content, quote=None, **more):
    """Write as a model does, with a quote of what the user just said."""
    said = session.turn("user", quote or content).content
    answer = session.tools().call(
        "memory_write",
        {"type": "semantic", "content": content, "attribute": "fact", "evidence": said, **more},
    )
    assert not answer.is_error, answer.text
    return answer.data["record_id"]


def found(tools, *queries, **more):
    answer = tools.call("memory_search", {"queries": list(queries), **more})
    assert not answer.is_error, answer.text
    return [one["content"] for one in answer.data["results"]]


def test_ingested_id_works_in_every_tool(session, tools):
    """B28."""
    record_id = write(session, "The user likes green tea")

    answers = [
        tools.call("memory_get", {"ids": [record_id]}),
        tools.call("memory_revise", {"id": record_id, "action": "expire", "reason": "r"}),
        tools.call("memory_forget", {"id": record_id, "reason": "r"}),
    ]

    assert [answer.is_error for answer in answers] == [False, False, False]


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "tea", "reason": "r"},
        {"id": "tea", "reason": "r"},
        {"id": "The user likes green tea", "reason": "r"},
        {"id": "*", "reason": "r"},
        {"id": "%", "reason": "r"},
        {"id": ["tea"], "reason": "r"},
    ],
)
def test_text_instead_of_an_id_forgets_nothing(world, session, tools, arguments):
    """B29: nothing is deleted by resemblance."""
    for drink in ("green tea", "black tea", "mint tea"):
        write(session, f"The user likes {drink}", attribute="likes")
    before = world.active()

    answer = tools.call("memory_forget", arguments)

    assert answer.data["error"]["code"] in ("invalid_input", "not_found")
    assert world.active() == before


def test_denied_forgetting_changes_nothing_and_is_noted(world, tools):
    """B26: the answer is that of an unknown id, and the audit keeps the attempt, not the target."""
    theirs = write(world.session("bob"), "The user likes rum")
    before = world.record(theirs)

    answers = [tools.call("memory_forget", {"id": one, "reason": "r"}) for one in (theirs, UNKNOWN)]

    assert {answer.data["error"]["code"] for answer in answers} == {"not_found"}
    assert world.record(theirs) == before
    one, two = world.events("write.denied")
    assert (one.payload, one.record_id) == (two.payload, two.record_id) == (one.payload, None)


def test_two_users_see_their_own_charlie_in_every_channel(world, session, tools):
    """B30: by words, by meaning and by name."""
    charlie = [{"kind": "person", "name": "Charlie", "role": "about"}]
    write(session, "Charlie likes apples", entities=charlie)
    bob = world.session("bob")
    write(bob, "Charlie likes baseball", entities=charlie)

    answer = tools.call("memory_search", {"queries": ["Charlie"], "entities": ["Charlie"], "k": 20})

    assert [one["content"] for one in answer.data["results"]] == ["Charlie likes apples"]
    assert "baseball" not in answer.text + json.dumps(answer.data)


@pytest.mark.parametrize(
    "more",
    [
        {"scope": "user:bob"},
        {"scope": "typo-scope"},
        {"user_id": "bob"},
        {"agent_id": "critic"},
        {"types": ["page"]},
        {"types": ["typo"]},
        {"context": "a whole transcript"},
        {"trigger": "auto"},
    ],
)
def test_unknown_filter_is_an_error_and_never_everything(world, session, tools, more):
    """B32: a filter that is not understood must not widen the search."""
    write(session, "The user likes green tea")
    before = world.row_counts()

    answer = tools.call("memory_search", {"queries": ["green tea"], **more})

    assert answer.data["error"]["code"] == "invalid_input"
    assert "green" not in answer.text
    assert world.row_counts() == before


def test_rows_written_by_one_door_are_read_by_every_other(world, session, tools):
    """B66: a tool, the facade, the host and the command line look at one store."""
    by_tool = write(session, "The user likes green tea", attribute="likes")
    by_facade = session.remember(
        "The user likes black coffee", evidence="I like black coffee.", attribute="likes"
    ).record_id
    world.host.grant("helper", PROJECT, read=True, write=True)
    by_host = world.host.write(PROJECT, "The office serves mint lemonade").record_id

    (seen,) = tools.call("memory_get", {"ids": [by_facade]}).data["records"]
    assert seen["content"] == "The user likes black coffee"
    assert session.get([by_tool]).found[0].content == "The user likes green tea"
    assert {by_tool, by_facade, by_host} == {one.id for one in session.list()}
    assert set(found(tools, "green tea", "black coffee", "mint lemonade", k=20)) == {
        "The user likes green tea",
        "The user likes black coffee",
        "The office serves mint lemonade",
    }
    second = world.open().session("ana", agent_id="helper").tools()
    assert "The user likes green tea" in found(second, "green tea", k=20)


def test_write_that_says_stored_can_be_read_at_once_by_another_process(world, session):
    """B64: success means a record; the id is readable before the answer is."""
    record_id = write(session, "The user likes green tea")

    second = world.open().session("ana", agent_id="helper").tools()

    (record,) = second.call("memory_get", {"ids": [record_id]}).data["records"]
    assert record["content"] == "The user likes green tea"


@pytest.mark.parametrize(
    "arguments",
    [
        "The user likes tea",
        [],
        {"type": "semantic", "content": "   ", "attribute": "likes"},
        {"type": "semantic", "content": [], "attribute": "likes"},
        {"type": "semantic", "content": {"text": "x"}, "attribute": "likes"},
        {"type": "semantic", "attribute": "likes"},
    ],
)
def test_write_of_nothing_is_an_error_and_stores_nothing(world, tools, arguments):
    """B64: never a success with nothing behind it."""
    before = world.row_counts()

    answer = tools.call("memory_write", arguments)

    assert answer.is_error
    assert "record_id" not in answer.data
    assert world.row_counts() == before


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("她对花生过敏", "花生"),
        ("週末はしりとりをする", "しりとり"),
        ("아이들과 끝말잇기를 한다", "끝말잇기"),
        ("แม่ชอบดื่มชาเขียวทุกเช้า", "ชาเขียว"),
        ("المستخدم يحب الشاي الأخضر", "الشاي"),
        ("המשתמש אוהב תה ירוק", "ירוק"),
        ("Пользователь любит чай", "чай"),
        ("Ο χρήστης πίνει τσάι", "τσάι"),
        ("重跑gen-itgc后再部署", "部署"),
        ("Loves 🍵 matcha every day", "matcha"),
    ],
)
def test_every_script_goes_in_and_comes_out_verbatim(session, tools, content, word):
    """B45 B46: through JSON text, as providers send arguments."""
    session.turn("user", content)
    arguments = json.dumps({"type": "episodic", "content": content, "evidence": content})

    written = tools.call("memory_write", arguments)
    answer = tools.call("memory_search", json.dumps({"queries": [word]}))

    assert not written.is_error, written.text
    assert [one["content"] for one in answer.data["results"]] == [content]
    assert f"> {content}" in answer.text.splitlines()
    json.dumps(answer.data).encode()


@pytest.mark.parametrize(
    "query", ["gpt-4o", "status: done", 'say "hi', "foo AND", "(draft", "what's the plan?", "*"]
)
def test_query_text_is_never_syntax(session, tools, query):
    """B47."""
    write(session, "gpt-4o status: done say hi foo and draft, what's the plan")

    assert not tools.call("memory_search", {"queries": [query]}).is_error


def test_time_reaches_the_store_through_every_tool_that_takes_one(world, session, tools):
    """B88 B54: moments are instants, whatever their offset."""
    record_id = write(
        session,
        "The user started a new job",
        type="episodic",
        event_at="2026-01-01T03:00:00+09:00",
    )

    (record,) = tools.call("memory_get", {"ids": [record_id]}).data["records"]
    assert datetime.fromisoformat(record["event_at"]).isoformat() == "2025-12-31T18:00:00+00:00"
    assert world.record(record_id).event_at.isoformat() == "2025-12-31T18:00:00+00:00"
    day = {"since": "2025-12-31T00:00:00Z", "until": "2026-01-01T00:00:00Z"}
    next_day = {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"}
    assert found(tools, "new job", **day) == ["The user started a new job"]
    assert found(tools, "new job", **next_day) == []
    for name, fields in (("memory_search", ("since", "until")), ("memory_write", ("event_at",))):
        shown = tools[name].schema["properties"]
        assert {shown[field]["format"] for field in fields} == {"date-time"}


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("memory_search", {"queries": ["x"], "since": "2026-01-01T03:00:00"}, "since"),
        ("memory_search", {"queries": ["x"], "until": "2026-01-01"}, "until"),
        (
            "memory_write",
            {"type": "episodic", "content": "x", "event_at": "2026-01-01 03:00"},
            "event_at",
        ),
    ],
)
def test_moment_without_an_offset_is_answered_with_the_corrected_one(
    world, tools, name, arguments, field
):
    """B54: no local zone is ever guessed."""
    before = world.row_counts()

    answer = tools.call(name, arguments)

    (problem,) = answer.data["error"]["problems"]
    assert problem["field"] == field
    assert "2026-01-01T0" in problem["message"]
    assert "+00:00" in problem["message"]
    corrected = problem["message"].split("the like of ")[1].rstrip(".")
    assert not tools.call(name, {**arguments, field: corrected}).is_error
    assert world.row_counts() != before


def test_empty_result_says_why_and_is_no_error(session, tools):
    """B59: nothing relevant is an answer, with the nearest miss."""
    write(session, "The staging server runs Debian")

    answer = tools.call("memory_search", {"queries": ["chocolate cake"]})

    assert not answer.is_error
    assert answer.data["results"] == []
    assert answer.data["empty_reason"]
    assert "no memory found" in answer.text


def test_outage_is_never_a_plain_empty_answer(world, session, tools):
    """B50: what a channel could not look through is said."""
    write(session, "The staging server runs Debian")
    world.embedder.fail(RuntimeError("no model"))

    answer = tools.call("memory_search", {"queries": ["qqq zzz"]})

    assert answer.data["degraded"]
    assert "degraded" in answer.text


def test_tools_tell_apart_whose_words_back_a_memory(session, tools):
    """B03: the assistant's proposal is not the user's fact."""
    session.turn("user", "What suits a beginner?")
    session.turn("assistant", "Buy the Canon R50.")

    answer = tools.call(
        "memory_write",
        {
            "type": "semantic",
            "content": "The user wants the Canon R50",
            "attribute": "camera",
            "source_kind": "user_statement",
            "evidence": "Buy the Canon R50.",
        },
    )

    assert answer.data["source_kind"] == "agent_inference"
    assert answer.data["status"] == "provisional"
    assert "assistant" in answer.data["note"]


def test_love_then_hate_leaves_one_and_two_allergies_stay(session, tools):
    """B05: an attribute that names one current value replaces; one that may hold several adds."""
    for said in ("I'm allergic to peanuts, so no satay.", "I am allergic to shellfish as well."):
        thing = "peanuts" if "peanuts" in said else "shellfish"
        write(session, f"The user is allergic to {thing}", said, attribute="allergy")
    write(session, "The user lives in Oslo", "I live in Oslo.", attribute="home_city")
    write(session, "The user lives in Bergen", "I live in Bergen now.", attribute="home_city")

    active = {one.content for one in session.list()}

    assert active == {
        "The user is allergic to peanuts",
        "The user is allergic to shellfish",
        "The user lives in Bergen",
    }


def test_names_of_tools_and_roles_are_fixed():
    """Transcripts, policies and integrations name them."""
    assert MEMORY_TOOL_NAMES == (
        "memory_search",
        "memory_get",
        "memory_write",
        "memory_revise",
        "memory_forget",
    )
    assert TURN_ROLES == ("user", "assistant", "tool")
