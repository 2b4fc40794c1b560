"""Which scopes an agent reads and writes for whom."""

from __future__ import annotations

import pytest

from retold.errors import InvalidInput, ScopeNotWritable
from retold.models import Scope
from tests.scenarios.support import ANA, PRIVATE_ANA, PROJECT, contents, person


def test_agent_reads_and_writes_its_own_private_scope_without_a_grant(world):
    assert world.host.grants() == ()

    result = world.tell("Ana collects old maps", attribute="hobby")

    assert world.record(result).scope == PRIVATE_ANA
    assert contents(world.session().search("old maps")) == ["Ana collects old maps"]


def test_grant_on_one_user_gives_nothing_in_a_session_of_another(world):
    """Fails when `belongs_to` in policy/grants.py no longer compares the user's id."""
    world.host.grant("helper", ANA, read=True, write=True)
    world.tell("Ana collects old maps", attribute="hobby")
    bob = world.session("bob")

    with pytest.raises(ScopeNotWritable):
        world.write(bob, "Ana sold her maps", attribute="hobby", scope=ANA)

    assert contents(bob.search("Ana collects old maps")) == []
    assert world.active("bob") == []
    assert world.active("ana") == ["Ana collects old maps"]


@pytest.mark.parametrize("granted", ["nothing", "read"])
def test_user_scope_is_refused_and_nothing_changes_until_it_is_granted_for_writing(world, granted):
    if granted == "read":
        world.host.grant("helper", ANA, read=True, write=False)
    session = world.session()
    session.turn("user", "I collect old maps from the harbour.")
    before = world.row_counts(without=("events", "event_refs"))

    with pytest.raises(ScopeNotWritable) as refused:
        world.write(session, "Ana collects old maps", attribute="hobby", scope=ANA)

    assert refused.value.code == "scope_not_writable"
    assert world.row_counts(without=("events", "event_refs")) == before


def test_user_scope_is_the_default_once_it_is_granted_for_reading_and_writing(world):
    world.host.grant("helper", ANA, read=True, write=True)

    result = world.tell("Ana collects old maps", attribute="hobby")

    assert world.record(result).scope == ANA


@pytest.mark.parametrize("channel", ["dense", "lexical", "entity"])
def test_no_channel_shows_one_users_record_to_another_user_of_the_same_agent(world, channel):
    """B30: none of the generators may be the one that was not scoped."""
    for user, fruit in (("ana", "apples"), ("bob", "baseball")):
        world.host.grant("helper", Scope("user", user), read=True, write=True)
        charlie = (person("Charlie"),)
        world.tell(f"Charlie likes {fruit}", user=user, attribute="likes", mentions=charlie)
    mine = world.session("ana").search("Charlie likes")
    theirs = world.session("bob").search("Charlie likes apples", entities=["ana", "Charlie"])

    assert [row[0] for row in world.log(mine)[channel]] == [mine.items[0].record.id]
    assert mine.items[0].record.id not in str(world.raw_log(theirs))
    assert "apples" not in theirs.text
    assert contents(theirs) == ["Charlie likes baseball"]


def test_plain_agent_scope_is_closed_without_a_grant_and_shared_by_users_with_one(world):
    shared = Scope("agent", "helper")
    world.host.write(shared, "The helper answers in British English")

    assert contents(world.session("ana").search("British English")) == []

    world.host.grant("helper", shared)

    for user in ("ana", "bob"):
        found = world.session(user).search("British English")
        assert contents(found) == ["The helper answers in British English"]
    assert contents(world.session("ana", agent="other").search("British English")) == []


def test_grant_stored_on_a_private_scope_reaches_only_the_sessions_of_its_user(world):
    """Fails when `belongs_to` in policy/grants.py ignores the user half of an agent scope."""
    world.tell("Ana collects old maps", attribute="hobby")
    with world.retold.store.write() as tx:
        tx.grants.set("spy", PRIVATE_ANA, can_read=True, can_write=True)

    assert contents(world.session("ana", agent="spy").search("old maps")) != []
    assert contents(world.session("bob", agent="spy").search("old maps")) == []
    bob = world.session("bob", agent="spy")
    with pytest.raises(ScopeNotWritable):
        world.write(bob, "Ana sold her maps", attribute="hobby", scope=PRIVATE_ANA)


def test_host_refuses_to_grant_a_private_scope(world):
    with pytest.raises(InvalidInput, match="cannot be granted"):
        world.host.grant("spy", PRIVATE_ANA)

    assert world.host.grants() == ()


@pytest.mark.parametrize(
    ("user", "agent"), [("b/c", "a"), ("c", "a/b")], ids=["in-the-user", "in-the-agent"]
)
def test_slash_is_refused_in_user_and_agent_ids(world, user, agent):
    before = world.row_counts()

    with pytest.raises(InvalidInput):
        world.session(user, agent=agent)

    assert world.row_counts() == before


def test_project_grant_opens_no_user_scope(world):
    world.host.grant("helper", ANA, read=True, write=True)
    world.tell("Ana collects old maps", attribute="hobby")
    world.host.revoke("helper", ANA)
    world.host.grant("helper", PROJECT, read=True, write=True)
    session = world.session(project_id=PROJECT.id)

    with pytest.raises(ScopeNotWritable):
        world.write(session, "Ana sold her maps", attribute="hobby", scope=ANA)

    assert contents(session.search("old maps")) == []
