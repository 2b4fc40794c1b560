"""Scopes, principals and grants refuse what they cannot be."""

import pytest

from retold.errors import InvalidInput
from retold.models import Grant, Principal, Scope

WRONG = {
    "parse-number": lambda: Scope.parse(5),
    "parse-none": lambda: Scope.parse(None),
    "parse-bytes": lambda: Scope.parse(b"user:ana"),
    "parse-no-kind": lambda: Scope.parse("ana"),
    "parse-unknown-kind": lambda: Scope.parse("team:ana"),
    "kind-list": lambda: Scope([], "ana"),
    "id-number": lambda: Scope("user", 5),
    "id-none": lambda: Scope("user", None),
    "agent-number": lambda: Principal(5, "ana"),
    "user-none": lambda: Principal("helper", None),
    "session-number": lambda: Principal("helper", "ana", 0),
    "project-list": lambda: Principal("helper", "ana", None, []),
    "grant-text": lambda: Grant("helper", "user:ana", can_read=True, can_write=True),
    "grant-agent": lambda: Grant(5, Scope("user", "ana"), can_read=True, can_write=True),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_wrong_type_is_refused(make):
    with pytest.raises(InvalidInput):
        make()


def test_scope_is_read_from_what_it_shows():
    assert Scope.parse("agent:helper/ana:1") == Scope("agent", "helper/ana:1")
    assert Scope.parse(str(Scope("org", "acme"))) == Scope("org", "acme")
