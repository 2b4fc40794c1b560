"""A pretend model that uses memory tools by a few rules, so that an assistant can be tried offline.

It saves what the user says of themselves, searches when asked something, forgets on request, and
calls another tool that the user names, whose result it saves.
"""

from __future__ import annotations

import re

from tests.loopback.conversation import Call, Exchange, Reply

WHAT = r"(?P<what>[\w -]+?)(?= and | in | so |[.,;!]|$)"
STATEMENTS = (
    (rf"I(?:'m| am) allergic to {WHAT}", "allergy", "The user is allergic to {what}"),
    (rf"I (?:live in|moved to) {WHAT}", "home_city", "The user lives in {what}"),
    (rf"I prefer {WHAT}", "preference", "The user prefers {what}"),
)
AS_TO_A_COLLEAGUE = (
    (r"\bdo I\b", "does the user"),
    (r"\bam I\b", "is the user"),
    (r"\b(?:I|me)\b", "the user"),
    (r"\bmy\b", "the user's"),
)
SHORT_ID = re.compile(r"\[(mem_[0-9a-f]+)\]")
QUOTED = re.compile(r"^> (.+)$", re.MULTILINE)


def answer(seen: Exchange) -> Reply:
    """Return the next step: calls while something is left to do, then words."""
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
