"""Which agent may use which shared scope."""

import pytest

from retold.models import Grant, Scope

ANA = Scope("user", "ana")
REPO = Scope("project", "acme/repo")


def test_grants_lists_one_agents_rights_in_scope_order(store):
    with store.write() as tx:
        tx.grants.set("assistant", ANA, can_read=True, can_write=False)
        tx.grants.set("assistant", REPO, can_read=True, can_write=True)
        tx.grants.set("other", ANA, can_read=True, can_write=True)

    with store.read() as tx:
        assert tx.grants.list_for("assistant") == [
            Grant("assistant", REPO, can_read=True, can_write=True),
            Grant("assistant", ANA, can_read=True, can_write=False),
        ]
        assert [grant.agent_id for grant in tx.grants.list_all()] == ["assistant"] * 2 + ["other"]


def test_grants_set_replaces_the_earlier_rights(store):
    with store.write() as tx:
        tx.grants.set("assistant", ANA, can_read=True, can_write=True)
        tx.grants.set("assistant", ANA, can_read=True, can_write=False)

    with store.read() as tx:
        assert tx.grants.list_all() == [Grant("assistant", ANA, can_read=True, can_write=False)]


@pytest.mark.parametrize("granted", [True, False], ids=["granted", "never granted"])
def test_grants_delete_tells_whether_there_was_one(store, granted):
    with store.write() as tx:
        if granted:
            tx.grants.set("assistant", ANA, can_read=True, can_write=True)

        assert tx.grants.delete("assistant", ANA) is granted
        assert tx.grants.list_for("assistant") == []


def test_grants_delete_leaves_other_agents_alone(store):
    with store.write() as tx:
        tx.grants.set("assistant", ANA, can_read=True, can_write=True)
        tx.grants.set("other", ANA, can_read=True, can_write=True)

        assert tx.grants.delete("assistant", ANA)
        assert [grant.agent_id for grant in tx.grants.list_all()] == ["other"]


def test_grants_list_for_unknown_agent_is_empty(store):
    with store.read() as tx:
        assert tx.grants.list_for("nobody") == []
