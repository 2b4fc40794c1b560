"""Prompts that have nothing to do with anybody: what an unrelated query is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final

from retold.retrieve.terms import Tokenize, query_terms

BANK_VERSION: Final = "1"
"""Rises with every change of the prompts: a Z means nothing without them."""

Phrases = tuple[tuple[str, ...], ...]
"""What ``EligibleWords.known`` takes: index tokens that stand one after the other."""


@lru_cache(maxsize=1)
def bank_prompts() -> tuple[str, ...]:
    """Return the prompts of the bank, in the order of its file."""
    text = files("retold.retrieve").joinpath("data/null_bank.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


def phrases_of_queries(queries: Sequence[str], tokenize: Tokenize) -> tuple[Phrases, ...]:
    """Return the index tokens of each term of each query, in order."""
    return tuple(tuple(term.tokens for term in query_terms(query, tokenize)) for query in queries)
