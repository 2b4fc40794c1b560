"""Index tokens written as one string, in which a phrase is a substring."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

# Between tokens; a tokenizer never returns it because prepared text has none. Two fields meet in
# two of them, so no phrase reaches from one into the next.
_BETWEEN: Final = "\x00"


def token_text(tokens: Sequence[str]) -> str:
    """Return the tokens of a field or phrase as text, with a mark at both ends and between them."""
    return _BETWEEN + _BETWEEN.join(tokens) + _BETWEEN


def fields_text(fields: Iterable[Sequence[str]]) -> str:
    """Return the tokens of all fields of a record, one after the other.

    A phrase stands contiguously in one field exactly when its ``token_text`` is a substring.
    """
    return "".join(map(token_text, fields))
