"""The full-text index made anew from the records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from retold.store.queries import load_queries
from retold.text import FTS_PREPARE_VERSION

if TYPE_CHECKING:
    import apsw

    from retold.store.transaction import Transaction

QUERIES = load_queries("reindex")

PAGE_ROWS: Final = 500


def is_stale(connection: apsw.Connection) -> bool:
    """Tell whether indexed text and queries would be prepared differently."""
    rows = list(connection.execute(QUERIES["prepared_by"]))
    return rows != [(FTS_PREPARE_VERSION,)]


def rebuild(tx: Transaction) -> int:
    """Index every record that is not deleted again; return how many. Call it in a write."""
    tx.run(QUERIES["clear"])
    indexed, after_seq = 0, 0
    while page := list(tx.run(QUERIES["page"], {"after_seq": after_seq, "limit": PAGE_ROWS})):
        for seq, content, subject in page:
            aliases = " ".join(tx.entities.aliases_for_record(seq))
            tx.records.set_token_count(seq, tx.lexical.insert(seq, content, subject, aliases))
        indexed += len(page)
        after_seq = page[-1][0]
    tx.run(QUERIES["set_prepared_by"], {"version": FTS_PREPARE_VERSION})
    return indexed
