"""Prompts that have nothing to do with anybody: what an unrelated query is compared with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

from retold.retrieve.stretches import Tokenize
from retold.retrieve.terms import query_terms

BANK_VERSION: Final = "1"
"""Rises with every change of the prompts: a Z means nothing without them."""

Phrases = tuple[tuple[str, ...], ...]
"""What ``EligibleWords.known`` takes: index tokens that stand one after the other."""


BankName = Literal["plain", "user"]
"""Whom the prompts are worded for: anybody, or a model that speaks of the user."""
_ABOUT_USER: Final = "The user asks: "
_USER: Final = re.compile(r"\busers?\b", re.IGNORECASE)


@lru_cache(maxsize=2)
def bank_prompts(name: BankName = "plain") -> tuple[str, ...]:
    """Return the prompts of the bank, in the order of its file.

    Those of ``user`` say that the user asks. Records begin with "The user" and models search for
    "the user's job": without that word in the prompts, it alone would make any query stand out.
    """
    text = files("retold.retrieve").joinpath("data/null_bank.txt").read_text(encoding="utf-8")
    prompts = tuple(line for line in text.splitlines() if line and not line.startswith("#"))
    return prompts if name == "plain" else tuple(_ABOUT_USER + prompt for prompt in prompts)


def bank_for(query: str) -> BankName:
    """Return the bank that a query is compared with: the one that speaks of the user as it does."""
    return "user" if _USER.search(query) else "plain"


def phrases_of_queries(queries: Sequence[str], tokenize: Tokenize) -> tuple[Phrases, ...]:
    """Return the index tokens of each term of each query, in order."""
    return tuple(tuple(term.tokens for term in query_terms(query, tokenize)) for query in queries)
