"""The full-text index: FTS5 over prepared text, one row per searchable record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from retold.store.codec import to_json
from retold.store.queries import load_queries
from retold.store.tokenizer import tokens
from retold.text import prepare_fts

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("lexical")


class Prepared(NamedTuple):
    """A text as FTS5 is given it, and the number of its index tokens."""

    text: str
    token_count: int


class IndexText(NamedTuple):
    """The columns of a record's row."""

    content: Prepared
    subject: Prepared
    aliases: Prepared

    @property
    def token_count(self) -> int:
        """Return the number of index tokens in all three."""
        return sum(column.token_count for column in self)


def prepared(text: str) -> Prepared:
    """Return a column from what people wrote; it needs no transaction."""
    given = prepare_fts(text)
    return Prepared(given, len(tokens(given)))


class LexicalRepository:
    """Rows of ``records_fts``, from which every process makes its own index of words.

    Texts are prepared here, so callers pass what people wrote or an ``IndexText``.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def insert(self, seq: int, content: str, subject: str, aliases: str) -> int:
        """Index a record and return the number of its index tokens in all three columns."""
        text = IndexText(prepared(content), prepared(subject), prepared(aliases))
        self.add(seq, text)
        return text.token_count

    def add(self, seq: int, text: IndexText) -> None:
        """Index a record whose text is prepared already."""
        self._tx.run(
            QUERIES["insert"],
            {
                "seq": seq,
                "content": text.content.text,
                "subject": text.subject.text,
                "aliases": text.aliases.text,
            },
        )

    def replace(self, seq: int, content: str, subject: str, aliases: str) -> int:
        """Index a record again; return as ``insert`` does."""
        self.delete(seq)
        return self.insert(seq, content, subject, aliases)

    def delete(self, seq: int) -> None:
        """Take a record out of the index; absent rows are fine."""
        self._tx.run(QUERIES["delete"], {"seq": seq})

    def fields(self, seqs: Iterable[int]) -> dict[int, tuple[str, str, str]]:
        """Return the prepared (content, subject, aliases) of those rows that are indexed."""
        wanted = to_json([int(seq) for seq in seqs])
        return {row[0]: row[1:] for row in self._tx.run(QUERIES["fields"], {"seqs": wanted})}

    def all_fields(self) -> Iterator[tuple[int, str, str, str]]:
        """Yield key and prepared (content, subject, aliases) of every row, ascending.

        Consume it before the transaction ends.
        """
        return (row for row in self._tx.run(QUERIES["all_fields"]))

    @staticmethod
    def tokens(prepared: str) -> tuple[str, ...]:
        """Return the tokens FTS5 would index for a prepared text, in order."""
        return tokens(prepared)

    def row_keys(self) -> Iterator[int]:
        """Yield the key of every indexed row, ascending."""
        return (row[0] for row in self._tx.run(QUERIES["row_keys"]))
