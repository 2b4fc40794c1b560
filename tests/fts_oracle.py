"""What FTS5 itself finds: the durable index as the measure of the one in the process."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

import apsw

from retold.retrieve.terms import QueryTerm
from retold.store import Transaction

_SCHEMA = resources.files("retold.store").joinpath("schema.sql").read_text(encoding="utf-8")
FTS_TABLE = re.search(r"create virtual table records_fts .*?;", _SCHEMA, re.DOTALL)[0]
_SEARCH = """
select rowid, -bm25(records_fts, 1.0, 2.0, 3.0) as score
from records_fts
where records_fts match ?
order by score desc, rowid
limit ?
"""


def quoted(phrase: str) -> str:
    """Return a phrase as FTS5 syntax in which nothing of it is syntax."""
    return '"' + phrase.replace('"', '""') + '"'


def match_expression(terms: Iterable[QueryTerm]) -> str | None:
    """Return the MATCH text that finds any of the terms, None when there is none."""
    phrases = dict.fromkeys(phrase for term in terms for phrase in term.phrases)
    return " OR ".join(map(quoted, phrases)) or None


def fts_search(tx: Transaction, match: str | None, limit: int = 30) -> list[tuple[int, float]]:
    """Return up to ``limit`` (key, score) of the whole table, best first, ties by key."""
    return [] if match is None else list(tx.run(_SEARCH, (match, limit)))


def fts_of(rows: Mapping[int, Sequence[str]], match: str, limit: int) -> list[tuple[int, float]]:
    """Return what FTS5 finds in a table of these prepared rows and no others."""
    connection = apsw.Connection(":memory:")
    connection.execute(FTS_TABLE)
    connection.executemany(
        "insert into records_fts(rowid, content, subject, aliases) values (?, ?, ?, ?)",
        [(seq, *texts) for seq, texts in rows.items()],
    )
    return list(connection.execute(_SEARCH, (match, limit)))
