"""What is no id, no list and no name is refused by name, never with an error of Python's own."""

from __future__ import annotations

import numpy as np
import pytest

from retold import InvalidInput, Retold, policy_text

CALLS = {
    "forget-surrogate": (lambda session: session.forget("\ud800"), "record_id"),
    "forget-list": (lambda session: session.forget([]), "record_id"),
    "expire": (lambda session: session.expire("\ud800", reason="x"), "record_id"),
    "confirm": (lambda session: session.confirm(5, reason="x"), "record_id"),
    "replace": (lambda session: session.replace(None, "x", reason="x"), "record_id"),
    "merge": (lambda session: session.merge("\ud800", "x", reason="x"), "entity_id"),
    "get": (lambda session: session.get(5), "ids"),
    "get-ids": (lambda session: session.get([5]), "ids"),
    "history": (lambda session: session.history([]), "ids"),
    "list-types": (lambda session: session.list(types=5), "semantic, episodic, procedural"),
    "list-no-types": (lambda session: session.list(types=[]), "semantic, episodic, procedural"),
    "list-status": (lambda session: session.list(status=5), "provisional, confirmed"),
    "search": (lambda session: session.search(5), "queries"),
    "search-types": (lambda session: session.search("x", types=5), "semantic, episodic"),
    "search-entities": (lambda session: session.search("x", entities=5), "entities"),
    "search-nested-types": (lambda session: session.search("x", types=[["semantic"]]), "types"),
    "search-history": (lambda session: session.search("x", include_history="no"), "history"),
    "remember-inference": (
        lambda session: session.remember("Likes tea", allow_inference="no"),
        "allow_inference",
    ),
    "remember-replaces": (lambda session: session.remember("Likes tea", replaces="no"), "replaces"),
}
SCOPE = "project:apollo"
OPENED = {
    "grant-read": (lambda opened: opened.host.grant("a", SCOPE, read="0"), "read"),
    "grant-write": (lambda opened: opened.host.grant("a", SCOPE, write=2), "write"),
    "record": (lambda opened: opened.session("ana", record="no"), "record"),
    "extract": (lambda opened: opened.session("ana", extract="no"), "extract"),
    "finish": (lambda opened: opened.session("ana").finish(extract="no"), "extract"),
    "async-record": (lambda opened: opened.asession("ana", record="no"), "record"),
    "numpy": (
        lambda opened: opened.host.grant("a", SCOPE, read=np.bool_(True)),
        "not numpy.bool",
    ),
    "dedup": (lambda opened: opened.host.write(SCOPE, "Uses tabs", dedup="no"), "dedup"),
    "subject": (lambda opened: opened.host.write(SCOPE, "Uses tabs", subject=[]), "subject"),
    "source": (lambda opened: opened.host.write(SCOPE, "Uses tabs", source=["a"]), "source"),
    "policy": (lambda opened: policy_text(["tool_only"]), "trigger mode"),
}


@pytest.mark.parametrize("call", CALLS)
def test_session_refuses_what_it_cannot_read_and_stores_nothing(call, world):
    attempt, named = CALLS[call]
    session = world.session()
    before = world.retold.row_counts()

    with pytest.raises(InvalidInput, match=named) as refusal:
        attempt(session)

    assert isinstance(refusal.value, ValueError)
    assert world.retold.row_counts() == before


@pytest.mark.parametrize("call", OPENED)
def test_opened_store_refuses_what_it_cannot_read_and_stores_nothing(call, world):
    """The text "no" would mean yes: a right, a transcript or a hosted call that nobody wanted."""
    attempt, named = OPENED[call]
    before = world.retold.row_counts()

    with pytest.raises(InvalidInput, match=named):
        attempt(world.retold)

    if call != "finish":  # its session was opened first
        assert world.retold.row_counts() == before


@pytest.mark.parametrize("switch", ["create", "migrate", "read_only"])
def test_opening_takes_no_text_for_a_switch(switch, tmp_path):
    with pytest.raises(InvalidInput, match=switch):
        Retold.open(tmp_path / "memory.sqlite", profile="offline", **{switch: "no"})

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["", b"", ":memory:"])
def test_what_names_no_file_makes_none(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InvalidInput, match="file"):
        Retold.open(path, profile="offline")

    assert list(tmp_path.iterdir()) == []


def test_list_takes_types_and_status_from_any_iterable(world):
    world.tell("Ana collects old maps", attribute="hobby")

    page = world.session().list(types=iter(["semantic"]), status=iter(["confirmed"]))

    assert [one.content for one in page] == ["Ana collects old maps"]
