"""What a hosted model is asked, and what it answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from retold.models.identity import Scope

JsonSchema = Mapping[str, object]

_TASK: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One question to a hosted model, answered with one JSON object.

    ``model`` is ``provider/model``; bare ``claude-*`` and ``gpt-*`` work too. ``schema`` is the
    JSON schema of the answer, an object at its root whose objects are closed. ``task`` is one word
    for what is done, such as ``extraction``, and stands in logs. ``scopes`` are those whose text
    stands in the prompt: at least one, or nobody could say who allowed it to leave.
    ``timeout_ms`` bounds the whole call, with every retry. Raises ValueError for no scope, a task
    of other signs than letters, digits, ``_`` and ``-``, or a number that is not above 0.
    """

    model: str
    system: str = field(repr=False)
    prompt: str = field(repr=False)
    schema: JsonSchema = field(repr=False)
    task: str
    scopes: tuple[Scope, ...] = field(repr=False)
    timeout_ms: int
    max_output_tokens: int

    def __post_init__(self) -> None:
        if not self.scopes:
            raise ValueError("name the scopes whose text is in the prompt, at least one")
        if not _TASK.fullmatch(self.task):
            raise ValueError("task must be one word of letters, digits, _ and -")
        if self.timeout_ms <= 0 or self.max_output_tokens <= 0:
            raise ValueError("timeout_ms and max_output_tokens must be above 0")


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What one or several calls used.

    ``calls`` counts the requests that went out, failed ones too. ``input_tokens`` includes those
    that the provider read from its cache. A request whose use nobody reported, because the answer
    never came, counts with the estimate of its input.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    @property
    def tokens(self) -> int:
        """Return input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """Return both together."""
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """The object a model answered with, not yet held against the schema, and what it cost.

    ``model`` is the name the provider gave, which may be more exact than the one asked for.
    """

    value: Mapping[str, object] = field(repr=False)
    model: str
    usage: TokenUsage
