"""The exact tokens FTS5 indexes, from FTS5's own tokenizer."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from apsw import FTS5Tokenizer

TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
"""The tokenizer of ``records_fts``, as apsw takes it; a test compares it with the schema."""


class _PerThread(threading.local):
    """A tokenizer belongs to a connection, and a connection to one thread at a time."""

    def __init__(self) -> None:
        connection = apsw.Connection(":memory:")
        self.tokenizer: FTS5Tokenizer = connection.fts5_tokenizer(TOKENIZER[0], TOKENIZER[1])


_LOCAL = _PerThread()


def tokens(prepared: str) -> tuple[str, ...]:
    """Return the tokens of a prepared text, in order. Lone surrogates become ``?``."""
    found = _LOCAL.tokenizer(
        prepared.encode("utf-8", "replace"),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return tuple(found)  # type: ignore[arg-type]  # without offsets they are plain strings
