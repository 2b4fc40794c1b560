"""A pretend model that reads the prompts of extraction, review and rewriting as a model would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from retold.models import CompletionRequest
from tests.loopback import Exchange, Reply


def block(prompt: str, name: str) -> list[dict[str, object]]:
    """Return the JSON lines of one block of a prompt; an absent block is an error."""
    frame = rf"^--- {name} (?P<token>[0-9a-f]{{12}}) ---\n(?P<lines>.*?)"
    end = rf"^--- end of {name} (?P=token) ---$"
    found = re.search(frame + end, prompt, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no block {name}"
    return [json.loads(line) for line in found["lines"].splitlines()]


def propose_every_line(request: CompletionRequest) -> Mapping[str, object]:
    """Answer an extraction with one candidate for each line of the transcript."""
    lines = block(request.prompt, "transcript")
    candidates = [
        {"type": "semantic", "content": f"Line {line['line']} says so", "quote": line["text"],
         "line": line["line"]}
        for line in lines
    ]  # fmt: skip
    return {"candidates": candidates, "summary": {"content": "They talked.", "decisions": []}}


def accept_everything(request: CompletionRequest) -> Mapping[str, object]:
    """Answer a review by accepting each candidate."""
    return {
        "decisions": [
            {"candidate": one["candidate"], "outcome": "accept", "reason": "quoted"}
            for one in block(request.prompt, "candidates")
        ]
    }


def repeat_queries(request: CompletionRequest) -> Mapping[str, object]:
    """Answer a rewrite with the queries as they are."""
    return {"queries": [one["text"] for one in block(request.prompt, "queries")]}


Answerer = Callable[[Any], Mapping[str, object]]


def over_http(
    exchange: Exchange,
    propose: Answerer = propose_every_line,
    decide: Answerer = accept_everything,
) -> Reply:
    """Answer an extraction or a review that came over HTTP."""
    is_review = re.search(r"^--- candidates [0-9a-f]{12} ---$", exchange.user, re.MULTILINE)
    request = SimpleNamespace(prompt=exchange.user)
    return Reply(json.dumps((decide if is_review else propose)(request)))
