"""``grant`` and ``revoke``: what they change, what they say and what they refuse."""

import pytest

from retold import Retold
from retold.store import Store
from tests.cli_support import refusal, retold_here


def events(store):
    with Store.open(store) as opened, opened.read() as tx:
        return [(one.actor, dict(one.payload)) for one in tx.events.list_by_kind("grant.changed")]


def test_grant_lets_an_agent_find_what_is_shared_and_revoke_takes_it_away(store):
    with Retold.open(store) as opened:
        opened.host.write("project:apollo", "The launch window opens at dawn.")
    asked = ("search", "--agent", "planner", "--user", "omar", "--json", "When is the launch?")

    found = []
    for change in (("grant", "--read"), ("revoke",)):
        found.append(len(retold_here(*asked, store=store).document["results"]))
        done = retold_here(change[0], "planner", "project:apollo", *change[1:], store=store)
        assert (done.code, done.err) == (0, "")
    found.append(len(retold_here(*asked, store=store).document["results"]))

    assert found == [0, 1, 0]


def test_grant_replaces_the_rights_and_says_what_they_were(store):
    first = retold_here("grant", "planner", "user:ana", "--read", store=store)
    again = retold_here("grant", "planner", "user:ana", "--write", store=store)
    document = retold_here("grant", "planner", "user:ana", "--read", "--json", store=store).document

    assert first.out.splitlines() == [
        "granted    planner may read user:ana",
        "note       nothing is stored in user:ana yet",
    ]
    assert again.out == "granted    planner may write user:ana\nbefore     it could read\n"
    assert document["grant"] == {
        "agent_id": "planner",
        "scope": "user:ana",
        "can_read": True,
        "can_write": False,
    }
    assert document["before"] == document["grant"] | {"can_read": False, "can_write": True}


def test_change_is_audited_under_the_name_of_the_operator(store):
    retold_here("--as", "sam", "grant", "planner", "user:ana", "--read", "--write", store=store)
    revoked = retold_here("revoke", "planner", "user:ana", "--as", "kim", "--json", store=store)

    assert revoked.document["revoked"]["can_write"] is True
    assert events(store) == [
        ("sam", {"agent_id": "planner", "scope": "user:ana", "read": True, "write": True}),
        ("kim", {"agent_id": "planner", "scope": "user:ana", "read": False, "write": False}),
    ]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("grant", "planner", "project:apollo"), "pass --read, --write or both"),
        (("grant", "planner", "agent:helper/ana", "--read"), "private to one agent and user"),
        (("grant", "plan/ner", "project:apollo", "--read"), "slash"),
        (("grant", " ", "project:apollo", "--read"), "blank"),
        (("grant", "\udcff", "project:apollo", "--read"), "surrogate"),
        (("grant", "planner", "project:\udcff", "--read"), "surrogate"),
        (("grant", "planner", "projct:apollo", "--read"), "choose one of"),
        (("grant", "planner", "apollo", "--read"), "such as user:ana"),
        (("grant", "planner"), "Missing argument"),
        (("revoke", "planner", "project:apollo"), "has no grant on 'project:apollo'"),
        (("revoke", "\x1b[31m", "project:apollo"), "control characters"),
        (("revoke", "planner", ""), "such as user:ana"),
    ],
)
def test_what_cannot_be_granted_is_one_line_and_changes_nothing(command, said, store):
    before = store.read_bytes()
    line = refusal(retold_here(*command, store=store))

    assert said in line
    assert "\x1b" not in line
    assert store.read_bytes() == before
