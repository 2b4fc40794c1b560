"""A pretend model that uses memory tools by a few rules, so that an assistant can be tried offline.

It saves what the user says of themselves, searches when asked something, forgets on request, and
calls another tool that the user names, whose result it saves.
Asked to extract a transcript, it finds the same statements, and it accepts what it is to review.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from types import SimpleNamespace

from tests.extraction_model import accept_everything, block
from tests.loopback.conversation import Call, Exchange, Reply

WHAT = r"(?P<what>[\w -]+?)(?= and | in | so |[.,;!]|$)"
STATEMENTS = (
    (rf"I(?:'m| am) allergic to {WHAT}", "allergy", "The user is allergic to {what}"),
    (rf"I (?:live in|moved to) {WHAT}", "home_city", "The user lives in {what}"),
    (rf"I prefer {WHAT}", "preference", "The user prefers {what}"),
    (rf"I play {WHAT}", "hobby", "The user plays {what}"),
)
AS_TO_A_COLLEAGUE = (
    (r"\bdo I\b", "does the user"),
    (r"\bam I\b", "is the user"),
    (r"\b(?:I|me)\b", "the user"),
    (r"\bmy\b", "the user's"),
)
WORK = re.compile(r"^--- (?:transcript|candidates) [0-9a-f]{12} ---$", re.MULTILINE)
SHORT_ID = re.compile(r"\[(mem_[0-9a-f]+)\]")
QUOTED = re.compile(r"^> (.+)$", re.MULTILINE)


def answer(seen: Exchange) -> Reply:
    """Return the next step: calls while something is left to do, then words."""
    if WORK.search(seen.user):
        return _background(seen)
    if not seen.results:
        return _first_step(seen)
    last = seen.last
    if last.name == "memory_search":
        ids = SHORT_ID.findall(last.text)
        if seen.user.lower().startswith("forget") and ids:
            return _call("memory_forget", id=ids[0], reason="the user asked for it")
        facts = QUOTED.findall(last.text)
        if not facts:
            return Reply("I remember nothing about that.")
        return Reply("From what you told me: " + "; ".join(facts) + ".")
    if last.name == "memory_forget":
        return Reply("I have forgotten it.")
    if last.name == "memory_write":
        told = last.arguments["source_kind"] == "tool_result"
        return Reply(last.arguments["content"] if told else "Noted, I will remember that.")
    report = {"type": "episodic", "content": last.text, "source_kind": "tool_result"}
    return _call("memory_write", evidence=last.text, **report)


def _background(seen: Exchange) -> Reply:
    if "\n--- candidates " in f"\n{seen.user}":
        return Reply(json.dumps(accept_everything(SimpleNamespace(prompt=seen.user))))
    lines = [one for one in block(seen.user, "transcript") if one["role"] == "user"]
    found = [claim for line in lines for claim in _claims(line)]
    summary = {"content": f"The user said {len(lines)} things.", "decisions": []}
    return Reply(json.dumps({"candidates": found, "summary": summary}))


def _claims(line: dict[str, object]) -> Iterator[dict[str, object]]:
    for sentence in re.findall(r"[^.!?]+[.!?]?", str(line["text"])):
        for pattern, attribute, claim in STATEMENTS:
            if said := re.search(pattern, sentence):
                yield {
                    "type": "semantic",
                    "content": claim.format(what=said["what"]),
                    "attribute": attribute,
                    "quote": sentence.strip(),
                    "line": line["line"],
                }


def _first_step(seen: Exchange) -> Reply:
    for name in seen.tools:
        if not name.startswith("memory_") and name in seen.user:
            return _call(name)
    if seen.user.rstrip().endswith("?") or seen.user.lower().startswith("forget"):
        return _call("memory_search", queries=[_query(seen.user)])
    calls = tuple(
        Call(
            "memory_write",
            {
                "type": "semantic",
                "content": claim.format(what=found["what"].strip()),
                "attribute": attribute,
                "source_kind": "user_statement",
                "evidence": found[0].strip(),
            },
        )
        for pattern, attribute, claim in STATEMENTS
        for found in re.finditer(pattern, seen.user)
    )
    return Reply(calls=calls) if calls else Reply("Hello! How can I help?")


def _query(text: str) -> str:
    """Return the question as somebody else would ask it."""
    for pattern, words in AS_TO_A_COLLEAGUE:
        text = re.sub(pattern, words, text)
    return text


def _call(name: str, **arguments: object) -> Reply:
    return Reply(calls=(Call(name, arguments),))
