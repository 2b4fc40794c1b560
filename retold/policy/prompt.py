"""The text that tells a model when to use memory, by who searches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final

from retold.errors import InvalidInput
from retold.models import TRIGGER_MODES, TriggerMode

POLICY_VERSION: Final = "memory-use-1"
"""Name of the wording; a run that is evaluated records it. Another wording has another name."""

SOURCE: Final = "memory_use.md"
_HEAD: Final = re.compile(r"<!-- rule: (?P<id>[a-z-]+) \| (?P<modes>[a-z_ ]+) -->")


def policy_text(mode: TriggerMode = "tool_only") -> str:
    """Return the text for a system prompt: one rule a line, no line break at the end.

    ``mode`` is the setting ``retrieval.trigger.mode``. The text is the same in every process and
    for every user, so that a provider's cache of the prompt's beginning holds. Raises InvalidInput
    for another mode.
    """
    if not isinstance(mode, str):
        raise InvalidInput(f"a trigger mode is one of {', '.join(TRIGGER_MODES)}")
    return "\n".join(policy_rules(mode).values())


@cache
def policy_rules(mode: TriggerMode = "tool_only") -> Mapping[str, str]:
    """Return the rules of a mode by id, in the order of the text, each on one line."""
    if mode not in TRIGGER_MODES:
        raise InvalidInput(
            f"unknown trigger mode {mode!r}; choose one of {', '.join(TRIGGER_MODES)}"
        )
    source = resources.files("retold.policy").joinpath(SOURCE).read_text(encoding="utf-8")
    rules = parse_rules(source)
    return MappingProxyType({name: text for name, (modes, text) in rules.items() if mode in modes})


def parse_rules(source: str) -> dict[str, tuple[frozenset[str], str]]:
    """Return (modes, text on one line) by rule id, in file order.

    Raises ValueError for text before the first rule, an id that occurs twice, an unknown mode or
    a rule without text.
    """
    before, *parts = _HEAD.split(source)
    rules: dict[str, tuple[frozenset[str], str]] = {}
    if before.strip():
        raise ValueError("text stands before the first rule")
    for rule_id, named, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        modes = frozenset(named.split())
        line = " ".join(text.split())
        if rule_id in rules or not modes <= set(TRIGGER_MODES) or not line or "<!--" in line:
            raise ValueError(f"rule {rule_id!r} is malformed or named twice")
        rules[rule_id] = (modes, line)
    return rules
