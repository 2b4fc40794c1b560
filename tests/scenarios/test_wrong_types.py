"""What is no id, no list and no name is refused by name, never with an error of Python's own."""

from __future__ import annotations

import pytest

from retold import InvalidInput

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


def test_list_takes_types_and_status_from_any_iterable(world):
    world.tell("Ana collects old maps", attribute="hobby")

    page = world.session().list(types=iter(["semantic"]), status=iter(["confirmed"]))

    assert [one.content for one in page] == ["Ana collects old maps"]
