"""All five tools run the same statements for a foreign id or name as for one that is not there.

B26 B31. Statements are recorded as in ``test_traces``; the answers are compared as a model and as
a program see them.
"""

from __future__ import annotations

import json

import apsw
import pytest

from retold import Overrides, Retold, Scope
from retold.config import profile_config
from retold.testing import FakeClock, FakeEmbedder, FakeJudge
from tests.properties.test_traces import MISSING, Recorder

SAID = "yes it is so indeed"


@pytest.fixture
def recorder():
    """Record the statements of every connection that is opened during a test."""
    recorder = Recorder()
    apsw.connection_hooks.append(recorder)
    yield recorder
    apsw.connection_hooks.remove(recorder)


@pytest.fixture
def world(tmp_path, recorder):
    """A store in which Bo's record and entity are foreign to Ana, and one she may only read."""
    overrides = Overrides(embedder=FakeEmbedder(dims=16), judge=FakeJudge(), clock=FakeClock())
    config = profile_config("offline")
    with Retold.open(tmp_path / "memory.sqlite", config=config, overrides=overrides) as retold:
        theirs = retold.session("bo", session_id="chat")
        foreign = theirs.remember(
            "Robin likes tea", source_kind="agent_inference", about="Robin"
        ).record_id
        mine = retold.session("ana", session_id="chat")
        own = mine.remember("Cook likes cake", source_kind="agent_inference", about="Cook")
        retold.host.grant("assistant", "project:apollo", read=True, write=False)
        readable = retold.host.write(Scope("project", "apollo"), "The launch is in May").record_id
        mine.turn("user", SAID)
        tools = mine.tools()
        for name in ("memory_search", "memory_get"):
            tools.call(name, {"queries": ["x"], "ids": [MISSING]})
        ids = {
            "record": foreign,
            "readable": readable,
            "entity": theirs.get(foreign).found[0].entity_ids[0],
            "own entity": mine.get(own.record_id).found[0].entity_ids[0],
        }
        yield tools, ids


def trace(recorder, tools, name, arguments, *ids):
    """Return the statements of a call and its answer, ids and fence tokens taken out."""
    statements, answer = recorder.of(lambda: tools.call(name, arguments))
    text, data = answer.text, json.dumps(answer.data)
    for id_ in ids:
        bare = id_.removeprefix("mem_")
        text, data = (one.replace(id_, "<id>").replace(bare, "<id>") for one in (text, data))
    head, _, rest = text.partition(": ")
    return statements, (head.split(" ")[:2], rest, data, answer.is_error)


BY_RECORD = {
    "get": lambda id_: ("memory_get", {"ids": [id_]}),
    "get among others": lambda id_: ("memory_get", {"ids": ["no such id", id_]}),
    "confirm": lambda id_: (
        "memory_revise",
        {"id": id_, "action": "confirm", "reason": "r", "evidence": SAID},
    ),
    "supersede": lambda id_: (
        "memory_revise",
        {"id": id_, "action": "supersede", "reason": "r", "content": "new", "evidence": SAID},
    ),
    "expire": lambda id_: ("memory_revise", {"id": id_, "action": "expire", "reason": "r"}),
    "forget": lambda id_: ("memory_forget", {"id": id_, "reason": "r"}),
}


@pytest.mark.parametrize("form", ["full", "with prefix", "short"])
@pytest.mark.parametrize("verb", BY_RECORD)
def test_foreign_record_runs_the_statements_of_a_missing_one(world, recorder, verb, form):
    """Resolve an ending in the whole store, or load a record before its scope, and this fails."""
    tools, ids = world
    written = {
        "full": lambda id_: id_,
        "with prefix": lambda id_: f"mem_{id_}",
        "short": lambda id_: f"mem_{id_[-8:]}",
    }[form]
    foreign, missing = written(ids["record"]), written(MISSING)

    there = trace(recorder, tools, *BY_RECORD[verb](foreign), foreign)
    nowhere = trace(recorder, tools, *BY_RECORD[verb](missing), missing)

    assert there == nowhere
    assert there[0], "nothing was recorded"
    assert there[1][3]


@pytest.mark.parametrize("verb", [verb for verb in BY_RECORD if not verb.startswith("get")])
def test_unwritable_record_runs_the_statements_of_a_missing_one(world, recorder, verb):
    tools, ids = world

    there = trace(recorder, tools, *BY_RECORD[verb](ids["readable"]), ids["readable"])
    nowhere = trace(recorder, tools, *BY_RECORD[verb](MISSING), MISSING)

    assert there == nowhere


@pytest.mark.parametrize("place", ["entity_id", "merge_into"])
def test_foreign_entity_is_merged_like_a_missing_one(world, recorder, place):
    tools, ids = world
    other = "merge_into" if place == "entity_id" else "entity_id"

    def merge(id_):
        arguments = {place: id_, other: ids["own entity"], "reason": "r"}
        return trace(recorder, tools, "memory_revise", arguments, id_)

    assert merge(ids["entity"]) == merge(MISSING)


@pytest.mark.parametrize("role", ["about", "mentions"])
def test_foreign_entity_of_a_write_is_answered_like_a_missing_one(world, recorder, role):
    tools, ids = world

    def write(id_):
        one = {"kind": "person", "name": "Robin", "role": role, "entity_id": id_}
        arguments = {"type": "episodic", "content": "Met for lunch", "entities": [one]}
        return trace(recorder, tools, "memory_write", arguments, id_)

    write(MISSING)
    assert write(ids["entity"]) == write(MISSING)


def test_name_that_a_stranger_uses_is_written_like_one_that_nobody_uses(world, recorder):
    """A write about Robin, whom only Bo knows, must not differ from one about Quill."""
    tools, _ = world

    def write(name):
        one = {"kind": "person", "name": name, "role": "about"}
        arguments = {"type": "episodic", "content": "Met for lunch", "entities": [one]}
        statements, answer = recorder.of(lambda: tools.call("memory_write", arguments))
        return statements, answer.data["outcome"], answer.data["status"]

    write("Warmup")
    assert write("Robin") == write("Quill")


@pytest.mark.parametrize(
    "arguments",
    [
        lambda name: {"queries": ["lunch"], "entities": [name]},
        lambda name: {"queries": [f"what about {name}"]},
    ],
    ids=["entities", "queries"],
)
def test_name_that_a_stranger_uses_is_searched_like_one_that_nobody_uses(
    world, recorder, arguments
):
    tools, _ = world
    tools.call("memory_search", arguments("Warmup"))

    def search(name):
        statements, answer = recorder.of(lambda: tools.call("memory_search", arguments(name)))
        return statements, answer.data["results"], answer.data["degraded"]

    assert search("Robin") == search("Quill")
