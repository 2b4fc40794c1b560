"""What FTS5 itself finds: the durable index as the measure of the one in the process."""

from collections.abc import Iterable, Sequence

from retold.retrieve.terms import QueryTerm
from retold.store import Transaction

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


def fts_keys(tx: Transaction, words: Sequence[str]) -> list[int]:
    """Return the keys of rows that hold any of the prepared words, ascending."""
    return sorted(seq for seq, _ in fts_search(tx, " OR ".join(map(quoted, words)), 1_000))
