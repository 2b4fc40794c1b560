"""A plain loop over each provider's own client, as an application would write it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai

from retold import MemorySession, policy_text
from tests.loopback import LoopbackModel

PROVIDERS = ("anthropic", "openai")
MAX_STEPS = 12


@dataclass
class Loop:
    """One conversation over one client; ``messages`` is its history as the wire has it.

    ``record_results`` also records every tool result as a turn, as hosts do that record all.
    """

    session: MemorySession
    client: Any
    record_results: bool = False
    messages: list[dict[str, Any]] = field(default_factory=list)

    def say(self, text: str) -> str:
        """Take one user turn to the model's answer."""
        self.session.turn("user", text)
        self.messages.append({"role": "user", "content": text})
        for _ in range(MAX_STEPS):
            answer = self.step()
            if answer is not None:
                self.session.turn("assistant", answer)
                return answer
        raise AssertionError("the model never came to an end")

    def step(self) -> str | None:
        """Ask once; return the answer, or None after answering calls."""
        raise NotImplementedError

    def note_result(self, name: str, text: str) -> None:
        """Record a result when the host records all."""
        if self.record_results:
            self.session.turn("tool", text, tool_name=name)


class AnthropicLoop(Loop):
    """Over ``anthropic.Anthropic``."""

    def step(self) -> str | None:
        tools = self.session.tools()
        reply = self.client.messages.create(
            model="claude-test",
            max_tokens=1024,
            system=policy_text(),
            tools=tools.anthropic(),
            messages=self.messages,
        )
        self.messages.append({"role": "assistant", "content": reply.content})
        results = tools.answer_anthropic(reply)
        if not results:
            return "".join(block.text for block in reply.content if block.type == "text")
        self.messages.append({"role": "user", "content": results})
        calls = [block for block in reply.content if block.type == "tool_use"]
        for call, result in zip(calls, results, strict=True):
            self.note_result(call.name, result["content"])
        return None


class OpenAILoop(Loop):
    """Over ``openai.OpenAI``."""

    def step(self) -> str | None:
        tools = self.session.tools()
        system = {"role": "system", "content": policy_text()}
        reply = self.client.chat.completions.create(
            model="gpt-test", messages=[system, *self.messages], tools=tools.openai()
        )
        message = reply.choices[0].message
        self.messages.append(message)
        results = tools.answer_openai(message)
        if not results:
            return str(message.content)
        self.messages += results
        for call, result in zip(message.tool_calls or (), results, strict=True):
            self.note_result(call.function.name, result["content"])
        return None


@contextmanager
def loop_over(
    provider: str, model: LoopbackModel, session: MemorySession, *, record_results: bool = False
) -> Iterator[Loop]:
    """Open a client of this provider against the loopback model and put a loop on it."""
    with ExitStack() as cleanup:
        if provider == "anthropic":
            client = anthropic.Anthropic(base_url=model.url, api_key="k", max_retries=0)
            yield AnthropicLoop(session, cleanup.enter_context(client), record_results)
        else:
            chat = openai.OpenAI(base_url=f"{model.url}/v1", api_key="k", max_retries=0)
            yield OpenAILoop(session, cleanup.enter_context(chat), record_results)
