"""A pretend model that reads the prompts of extraction, review and rewriting as a model would."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from retold.models import CompletionRequest


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
