"""Endings of ids mean what this conversation was shown, and nothing else."""

from __future__ import annotations

import pytest

from retold.errors import InvalidInput
from retold.models import Principal
from retold.tools import shown
from retold.tools.shown import ShownIds, bare_id, is_short, the_one

ANA = Principal("helper", "ana", "chat")
ONE = "01890000-0000-7000-8000-0000aaaa0001"
TWO = "01890000-0000-7000-8000-0000bbbb0001"


def test_an_ending_finds_what_the_conversation_was_shown():
    ids = ShownIds()
    ids.note(ANA, [ONE, TWO])

    assert ids.ending_with(ANA, "aaaa0001") == (ONE,)
    assert ids.ending_with(ANA, "0001") == (ONE, TWO)
    assert ids.ending_with(ANA, "cccc0001") == ()


@pytest.mark.parametrize(
    "other",
    [
        Principal("helper", "bo", "chat"),
        Principal("critic", "ana", "chat"),
        Principal("helper", "ana", "other"),
        Principal("helper", "ana"),
    ],
)
def test_another_conversation_was_not_shown_it(other):
    """Key the ids by the session alone and a stranger's chat of that name resolves them."""
    ids = ShownIds()
    ids.note(ANA, [ONE])

    assert ids.ending_with(other, "aaaa0001") == ()


def test_the_least_recent_conversations_and_ids_are_dropped(monkeypatch):
    monkeypatch.setattr(shown, "MAX_CONVERSATIONS", 2)
    monkeypatch.setattr(shown, "MAX_IDS", 2)
    ids = ShownIds()
    who = [Principal("helper", "ana", f"chat {number}") for number in range(3)]
    for one in who:
        ids.note(one, [ONE, TWO])
    ids.note(who[1], ["01890000-0000-7000-8000-0000cccc0001"])

    assert ids.ending_with(who[0], "0001") == ()
    assert ids.ending_with(who[1], "0001") == (TWO, "01890000-0000-7000-8000-0000cccc0001")
    assert len(ids.ending_with(who[2], "0001")) == 2


def test_what_was_shown_again_is_as_good_as_new(monkeypatch):
    """Without ``move_to_end`` a long conversation, or an id in use, is dropped before others."""
    monkeypatch.setattr(shown, "MAX_CONVERSATIONS", 2)
    monkeypatch.setattr(shown, "MAX_IDS", 2)
    ids = ShownIds()
    who = [Principal("helper", "ana", f"chat {number}") for number in range(3)]
    ids.note(who[0], [ONE, TWO])
    ids.note(who[1], [ONE])
    ids.note(who[0], [ONE, "01890000-0000-7000-8000-0000cccc0001"])
    ids.note(who[2], [ONE])

    assert ids.ending_with(who[0], "0001") == (ONE, "01890000-0000-7000-8000-0000cccc0001")
    assert ids.ending_with(who[1], "0001") == ()


@pytest.mark.parametrize(
    "given", ["aaaa0001", "mem_aaaa0001", "[mem_aaaa0001]", " mem_aaaa0001 ", "[aaaa0001]"]
)
def test_models_write_an_id_as_they_saw_it(given):
    assert bare_id(given, "id") == "aaaa0001"


@pytest.mark.parametrize(
    "given", ["", " ", "mem_", "[]", "[mem_]", "\n", "a\nb", "\ud800", "x" * 513]
)
def test_what_is_no_id_is_refused(given):
    with pytest.raises(InvalidInput, match="id"):
        bare_id(given, "id")


def test_short_is_hexadecimal_of_at_least_eight_and_less_than_all():
    assert is_short("aaaa0001")
    assert is_short(ONE[1:])
    assert not any(map(is_short, (ONE, "aaa0001", "gggg0001", "%aaa0001", "AAAA0001")))


def test_an_ending_of_two_ids_is_refused_with_both():
    with pytest.raises(InvalidInput, match=f"{ONE}, {TWO}"):
        the_one((ONE, TWO), "0001", "id")


def test_an_ending_of_no_id_stays_as_it_is():
    assert the_one((), "aaaa0001", "id") == "aaaa0001"
