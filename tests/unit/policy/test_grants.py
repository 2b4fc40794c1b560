"""The scopes that grants open, and those they never open."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from retold.models import Grant, Principal, Scope
from retold.policy.grants import (
    allowed_scopes,
    belongs_to,
    default_scope,
    readable_scopes,
    writable_scopes,
)

ANA = Principal("helper", "ana")
PRIVATE = Scope("agent", "helper/ana")


@dataclass
class _Repository:
    rows: list[Grant]

    def list_for(self, agent_id: str) -> list[Grant]:
        return [row for row in self.rows if row.agent_id == agent_id]


@dataclass
class _Transaction:
    rows: list[Grant] = field(default_factory=list)

    @property
    def grants(self) -> _Repository:
        return _Repository(self.rows)


def grant(scope: str, *, read: bool = True, write: bool = True, agent: str = "helper") -> Grant:
    return Grant(agent, Scope.parse(scope), read, write)


def test_private_scope_is_readable_and_writable_without_any_grant() -> None:
    tx = _Transaction()

    assert readable_scopes(tx, ANA) == (PRIVATE,)
    assert writable_scopes(tx, ANA) == (PRIVATE,)


def test_scopes_follow_the_right_that_was_granted() -> None:
    tx = _Transaction([grant("project:apollo", write=False), grant("org:acme", read=False)])

    assert readable_scopes(tx, ANA) == (PRIVATE, Scope("project", "apollo"))
    assert writable_scopes(tx, ANA) == (PRIVATE, Scope("org", "acme"))


@pytest.mark.parametrize(
    "scope",
    ["user:bob", "agent:helper/bob", "agent:other/bob", "agent:helper/ana/bob", "agent:x/bob/ana"],
)
def test_grant_on_another_users_scope_has_no_effect(scope: str) -> None:
    """Fails when ``belongs_to`` is no longer asked in ``allowed_scopes``."""
    tx = _Transaction([grant(scope)])

    assert readable_scopes(tx, ANA) == (PRIVATE,)
    assert writable_scopes(tx, ANA) == (PRIVATE,)


@pytest.mark.parametrize(
    "scope", ["user:ana", "agent:other/ana", "agent:other", "project:acme/repo", "org:acme"]
)
def test_grant_takes_effect_on_own_and_shared_scopes(scope: str) -> None:
    assert belongs_to(ANA, Scope.parse(scope))


def test_grant_of_another_agent_has_no_effect() -> None:
    assert allowed_scopes(ANA, [grant("org:acme", agent="other")], "read") == (PRIVATE,)


def test_scopes_are_listed_once_and_in_one_order() -> None:
    grants = [grant("org:acme"), grant("agent:helper/ana"), grant("agent:b"), grant("org:acme")]

    assert allowed_scopes(ANA, grants, "read") == (
        PRIVATE,
        Scope("agent", "b"),
        Scope("org", "acme"),
    )


@pytest.mark.parametrize(
    ("grants", "expected"),
    [
        ([], PRIVATE),
        ([grant("user:ana")], Scope("user", "ana")),
        ([grant("user:ana", write=False)], PRIVATE),
        ([grant("user:ana", read=False)], PRIVATE),
        ([grant("user:bob")], PRIVATE),
    ],
    ids=["none", "both", "read only", "write only", "another user"],
)
def test_default_scope_is_the_user_scope_only_with_both_rights(
    grants: list[Grant], expected: Scope
) -> None:
    assert default_scope(ANA, grants) == expected
