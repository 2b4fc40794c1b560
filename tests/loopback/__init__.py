"""A model that runs on this machine: real HTTP in the shapes of two providers, from a script.

``LoopbackModel`` serves Anthropic's Messages and OpenAI's Chat Completions, whole or as streams.
Every request body is first held against what the providers are known to refuse
(``anthropic_rules``, ``openai_rules``); a breach is answered as the provider answers it, and
``assert_clean`` fails the test even when the client swallowed the answer.
A ``Fault`` in a script is what a network or an overloaded provider does instead of answering.
``python -m tests.loopback`` serves the same pretend model that the guide is tested with.
"""

from tests.loopback.conversation import Call, Exchange, Fault, Reply, ToolResult, ToolShown
from tests.loopback.server import LoopbackModel

__all__ = ["Call", "Exchange", "Fault", "LoopbackModel", "Reply", "ToolResult", "ToolShown"]
