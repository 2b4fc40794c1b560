"""What a rule is: one thing a provider refuses, where that is said, and how to see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.loopback.conversation import Body


@dataclass(frozen=True, slots=True)
class Source:
    """Where a restriction is stated.

    ``kind`` says how far to trust it: ``sdk`` stands in the source of the provider's own client,
    ``docs`` in the provider's pages (named by title), ``report`` is the text of a refusal that
    users published, and ``fixture`` is a choice of ours where the provider is silent or laxer.
    """

    kind: str
    place: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One restriction; ``find`` yields the message of each breach.

    Rules run in the order of their table, and later ones may rely on earlier ones.
    """

    name: str
    says: str
    source: Source
    find: Callable[[Body], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Breach:
    """A request that the provider would refuse, and why."""

    rule: str
    message: str


def first_breach(rules: Sequence[Rule], body: Body) -> Breach | None:
    """Return what a provider would answer: the first thing that is wrong, or None."""
    for rule in rules:
        for message in rule.find(body):
            return Breach(rule.name, message)
    return None
