"""Made-up sessions with facts in them, and the pretend model that proposes exactly those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retold import Principal
from retold.ingest.session import SessionHooks
from support.loopback import Exchange, Reply, accept_everything, block, over_http

SAID = {
    "pet": "I adopted a tortoise called {name}, she is quite slow.",
    "employer": "I work at {name} Labs as an engineer, by the way.",
    "home_street": "I moved to {name} Street last year.",
    "favourite_tea": "My favourite tea is {name} Oolong, nothing else.",
}
CLAIMED = {
    "pet": "The user adopted a tortoise called {name}",
    "employer": "The user works at {name} Labs as an engineer",
    "home_street": "The user moved to {name} Street last year",
    "favourite_tea": "The user's favourite tea is {name} Oolong",
}
ANSWERED = "I see. What can I do for you today? There is more than one way to go about it."
USERS = 25


def tell(hooks: SessionHooks, number: int) -> str:
    """Hold a session of eight turns that ends and asks for extraction; return its id."""
    principal = Principal("assistant", f"user{number % USERS}", f"chat {number}")
    hooks.on_session_start(principal)
    for text in SAID.values():
        hooks.on_turn(principal, "user", text.format(name=f"Ada{number}"))
        hooks.on_turn(principal, "assistant", ANSWERED)
    return hooks.on_session_end(principal, extract=True).id


def answer(exchange: Exchange) -> Reply:
    """Be the model."""
    return over_http(exchange, _propose, accept_everything)


def _propose(request: Any) -> Mapping[str, object]:  # noqa: ANN401  # has a prompt
    proposed = []
    for line in block(request.prompt, "transcript"):
        for attribute, text in SAID.items():
            before, after = text.split("{name}")
            said = str(line["text"])
            if said.startswith(before) and said.endswith(after):
                name = said[len(before) : -len(after)]
                content = CLAIMED[attribute].format(name=name)
                claim = {"type": "semantic", "content": content, "attribute": attribute}
                proposed.append(claim | {"quote": said, "line": line["line"]})
    return {"candidates": proposed, "summary": {"content": "They talked.", "decisions": []}}
