"""A pretend model that knows which facts a session holds, and quotes the turns they come from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from support.loopback import Exchange, Reply, accept_everything, block, over_http

MOST_SENTENCES = 3
"""Longest quote; one sentence that says it is better."""
_SENTENCE = re.compile(r"\S.*?(?:[.!?。！？]+(?=\s|$)|(?=\n)|$)", re.DOTALL)
_STEM_CHARS = 6
_OPENING_CHARS = 200
"""A long turn is shown without its middle; so many characters tell which one it is."""
_COST_PER_WORD = 0.005
"""A quote of 20 words must say a tenth more than a shorter one."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What a session holds. ``turns`` are the texts of its evidence, ``speaker`` who said it."""

    id: str
    text: str
    turns: tuple[str, ...]
    speaker: str


class FactsModel:
    """Propose each fact once, as the user's own statement, and accept everything in review.

    Whoever said it: what the assistant said must be found out by whoever believes nothing. A fact
    that opens with the name of somebody else is about them.
    """

    def __init__(self) -> None:
        self._left: list[Fact] = []
        self._user = ""

    def open(self, facts: Sequence[Fact], user: str) -> None:
        """Take the facts of the session that is extracted next, and the user's name."""
        self._left, self._user = list(facts), user

    def __call__(self, exchange: Exchange) -> Reply:
        """Answer a request."""
        return over_http(exchange, self._propose, accept_everything)

    def _propose(self, request: Any) -> Mapping[str, object]:  # noqa: ANN401  # has a prompt
        lines = block(request.prompt, "transcript")
        proposed = []
        for fact in list(self._left):
            found = _line_of(fact, lines)
            if found is None:
                continue
            self._left.remove(fact)
            number, quote = found
            candidate = {"type": "semantic", "content": fact.text, "quote": quote, "line": number}
            proposed.append(candidate | {"source_kind": "user_statement", **self._about(fact)})
        return {"candidates": proposed, "summary": {"content": "They talked.", "decisions": []}}

    def _about(self, fact: Fact) -> dict[str, object]:
        """Return whom a fact is about, when it says so and that is not the user."""
        if fact.speaker in (self._user, "User", "Assistant") or fact.speaker not in fact.text:
            return {}
        about = {"name": fact.speaker, "kind": "person", "role": "about"}
        return {"entities": [about]}


def _line_of(fact: Fact, lines: Sequence[Mapping[str, Any]]) -> tuple[int, str] | None:
    """Return the line of the first evidence turn that is shown, and the best quote from it."""
    for turn in fact.turns:
        for line in lines:
            if line["text"] == turn or line["text"][:_OPENING_CHARS] == turn[:_OPENING_CHARS]:
                return line["line"], best_quote(fact.text, line["text"])
    return None


def best_quote(fact: str, text: str) -> str:
    """Return the run of up to three sentences that holds most of the fact's words."""
    wanted = _stems(fact)
    spans = [match.span() for match in _SENTENCE.finditer(text)]
    runs = [
        text[spans[first][0] : spans[last][1]].strip()
        for first in range(len(spans))
        for last in range(first, min(first + MOST_SENTENCES, len(spans)))
    ]

    def worth(run: str) -> float:
        stems = _stems(run)
        return len(wanted & stems) / max(len(wanted), 1) - _COST_PER_WORD * len(run.split())

    return max(runs, key=worth, default=text)


def _stems(text: str) -> set[str]:
    return {word[:_STEM_CHARS] for word in re.findall(r"\w+", text.casefold())}
