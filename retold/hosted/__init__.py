"""Hosted models: one client for Anthropic, OpenAI, OpenRouter and what speaks like OpenAI.

Nothing here knows the store: what a day may use is a ``Budget`` that is handed in.
"""

from retold.hosted.budgets import RunBudget, estimated_input, run_budget
from retold.hosted.client import HostedCompletions
from retold.hosted.targets import Endpoint, endpoint_of, shown_address, split_model

__all__ = [
    "Endpoint",
    "HostedCompletions",
    "RunBudget",
    "endpoint_of",
    "estimated_input",
    "run_budget",
    "shown_address",
    "split_model",
]
