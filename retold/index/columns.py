"""Columns that decide which records a caller may be shown, without asking the store."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from retold.models import (
    ACTIVE_STATUSES,
    MEMORY_TYPES,
    RECORD_STATUSES,
    SOURCE_KINDS,
    MemoryType,
    SourceKind,
)

Rows = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Seqs = npt.NDArray[np.int64]
Micros = npt.NDArray[np.int64]

NEVER_US = int(np.iinfo(np.int64).max)
"""Stands for no expiry."""
RETIRED = 255
"""The flag of a row that no longer stands for any record."""
NO_SESSION = -1
"""The session of a row that comes from none."""
NARROW_PART = 0.25
"""Callers whose scopes hold less than this part of the rows go through postings (hotpath.md 1)."""
_SPARE_ROWS = 1024

_KINDS = tuple(product(MEMORY_TYPES, RECORD_STATUSES, SOURCE_KINDS))
_FLAGS: dict[tuple[str, str, str], int] = {kinds: flag for flag, kinds in enumerate(_KINDS)}


def encode_flags(type_: str, status: str, source_kind: str) -> int | None:
    """Return one byte for the three kinds; None when this release does not know one of them.

    The byte counts combinations in the order of the model's literals. It lives in memory only,
    so a later release may count differently.
    """
    return _FLAGS.get((type_, status, source_kind))


@lru_cache(maxsize=256)
def _flag_table(
    types: frozenset[MemoryType] | None,
    include_history: bool,
) -> Mask:
    """Return which of the 256 flag values are eligible; ``RETIRED`` never is."""
    table = np.zeros(256, dtype=np.bool_)
    for flag, (type_, status, _source_kind) in enumerate(_KINDS):
        table[flag] = (types is None or type_ in types) and (
            status in ACTIVE_STATUSES or (include_history and status != "deleted")
        )
    return table


@lru_cache(maxsize=16)
def _source_table(kinds: frozenset[SourceKind]) -> Mask:
    """Return which of the 256 flag values are of these source kinds; ``RETIRED`` never is."""
    table = np.zeros(256, dtype=np.bool_)
    table[: len(_KINDS)] = [source_kind in kinds for _type, _status, source_kind in _KINDS]
    return table


class Eligible:
    """The rows one caller may be shown at one moment; later changes do not alter it.

    Holds ascending row numbers for a narrow caller or a mask over all rows for a broad one, and
    makes the other when asked.
    """

    __slots__ = ("_mask", "_rows", "_seq_column", "_seqs", "_sorted", "columns", "count")

    def __init__(
        self,
        columns: Columns,
        seq_column: Seqs,
        *,
        in_order: bool,
        rows: Rows | None = None,
        mask: Mask | None = None,
    ) -> None:
        self.columns = columns
        self._seq_column = seq_column
        self._sorted = in_order
        self._rows = rows
        self._mask = mask
        self._seqs: Seqs | None = None
        self.count: int = len(rows) if rows is not None else int(np.count_nonzero(self.mask()))

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"Eligible(count={self.count}, total={self.total})"

    @property
    def total(self) -> int:
        """Return how many rows there were, retired ones included."""
        return len(self._seq_column)

    @property
    def seq_column(self) -> Seqs:
        """Return the record key of every row."""
        return self._seq_column

    def rows(self) -> Rows:
        """Return the row numbers, ascending."""
        if self._rows is None:
            self._rows = np.flatnonzero(self.mask()).astype(np.int32)
        return self._rows

    def mask(self) -> Mask:
        """Return a mask over all ``total`` rows."""
        if self._mask is None:
            mask = np.zeros(self.total, dtype=np.bool_)
            mask[self._rows] = True
            self._mask = mask
        return self._mask

    def seqs(self) -> Seqs:
        """Return the record keys, ascending and read-only."""
        if self._seqs is None:
            chosen = self._seq_column[self._rows if self._rows is not None else self._mask]
            if not self._sorted:
                chosen = np.sort(chosen)
            chosen.flags.writeable = False
            self._seqs = chosen
        return self._seqs

    def narrowed(self, seqs: Sequence[int] | Seqs) -> Eligible:
        """Return the eligible rows of those records; a key may be given more than once."""
        wanted = np.unique(np.asarray(seqs, dtype=np.int64))
        if self._sorted:
            known = self.seqs()
            at = np.searchsorted(known, wanted)
            at = at[at < len(known)]
            rows = self.rows()[at[known[at] == wanted[: len(at)]]]
        else:
            rows = self.rows()
            rows = rows[np.isin(self._seq_column[rows], wanted)]
        return Eligible(self.columns, self._seq_column, in_order=self._sorted, rows=rows)

    def without(self, kinds: Collection[SourceKind]) -> Eligible:
        """Return the eligible rows of other source kinds; itself where it has none of these."""
        if not kinds:
            return self
        rows = self.rows()
        left_out = self.columns.come_from(rows, kinds)
        if not left_out.any():
            return self
        rows = rows[~left_out]
        return Eligible(self.columns, self._seq_column, in_order=self._sorted, rows=rows)

    def rows_of(self, seqs: Sequence[int] | Seqs) -> Rows:
        """Return the row of each record, in order; -1 where it is not eligible."""
        wanted = np.asarray(seqs, dtype=np.int64)
        found = np.full(len(wanted), -1, dtype=np.int32)
        if self._sorted:
            # Every key has one row then, so the rows of others need not be left out first.
            at = np.searchsorted(self._seq_column, wanted)
            here = np.flatnonzero(at < self.total)
            here = here[self._seq_column[at[here]] == wanted[here]]
            here = here[self.mask()[at[here]]]
            found[here] = at[here]
            return found
        rows = self.rows()
        keys = self._seq_column[rows]
        order = np.argsort(keys)
        at = np.searchsorted(keys, wanted, sorter=order)
        here = np.flatnonzero(at < len(rows))
        near = order[at[here]]
        same = keys[near] == wanted[here]
        found[here[same]] = rows[near[same]]
        return found

    def event_us(self) -> Micros:
        """Return the event time of every eligible row, in the order of ``rows``."""
        return self.columns.event_us(self._rows if self._rows is not None else self.mask())

    def sessions(self) -> Rows:
        """Return the session code of every eligible row, in the order of ``rows``."""
        return self.columns.sessions(self._rows if self._rows is not None else self.mask())

    def contains_all(self, seqs: Sequence[int] | Seqs) -> Mask:
        """Return one bool per key, in order."""
        wanted = np.asarray(seqs, dtype=np.int64)
        known = self.seqs()
        if len(known) == 0:
            return np.zeros(len(wanted), dtype=np.bool_)
        at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.asarray(known[at] == wanted)


class Columns:
    """One row per record: key, scope, session, flags, expiry, event time; 33 bytes and a posting.

    Key, scope, session and event time of a row never change, flags and expiry do; anything else
    retires the row and appends a new one, and a number is never used twice. So whoever holds row
    numbers may keep reading immutable facts while another thread writes. The owner serialises
    calls.
    """

    def __init__(self, capacity: int = 0) -> None:
        self._size = 0
        self._in_order = True
        self._allocate(max(capacity, _SPARE_ROWS))
        self._row_of: dict[int, int] = {}
        self._postings: dict[int, array[int]] = {}
        self._scope_codes = 0

    def __len__(self) -> int:
        return len(self._row_of)

    @property
    def size(self) -> int:
        """Return the number of rows, retired ones included."""
        return self._size

    @property
    def retired(self) -> int:
        """Return how many rows stand for no record any more."""
        return self._size - len(self._row_of)

    def row_of(self, seq: int) -> int | None:
        """Return the row of a record; None when it is not here."""
        return self._row_of.get(seq)

    def rows_of(self, seqs: Iterable[int]) -> Rows:
        """Return the rows of those records that are here, in the order asked."""
        found = [row for seq in seqs if (row := self._row_of.get(int(seq))) is not None]
        return np.array(found, dtype=np.int32)

    def places(self, seqs: Sequence[int]) -> Rows:
        """Return the row of each record, in order; -1 for one that is not here."""
        row_of = self._row_of
        return np.array([row_of.get(seq, -1) for seq in seqs], dtype=np.int32)

    def extend(
        self,
        seqs: Sequence[int],
        scope_codes: Sequence[int],
        flags: Sequence[int],
        expires_us: Sequence[int],
        event_us: Sequence[int],
        *,
        sessions: Sequence[int] | None = None,
    ) -> None:
        """Append many rows to empty columns. Keys ascend; ``sessions`` None means none at all."""
        self._size = len(seqs)
        self._allocate(max(self._size + self._size // 8, _SPARE_ROWS))
        for column, values in (
            (self._seq, seqs),
            (self._scope, scope_codes),
            (self._flags, flags),
            (self._expires, expires_us),
            (self._event, event_us),
            (self._session, NO_SESSION if sessions is None else sessions),
        ):
            column[: self._size] = values
        self._row_of = dict(zip(seqs, range(self._size), strict=True))
        by_scope = np.argsort(self._scope[: self._size], kind="stable").astype(np.int32)
        codes, starts = np.unique(self._scope[by_scope], return_index=True)
        ends = np.append(starts[1:], self._size)
        for code, start, end in zip(codes.tolist(), starts, ends, strict=False):
            self._posting(code).frombytes(by_scope[start:end].tobytes())

    def append(
        self,
        seq: int,
        scope_code: int,
        flags: int,
        expires_us: int,
        event_us: int,
        *,
        session: int = NO_SESSION,
    ) -> int:
        """Add a record that is not here and return its row."""
        row = self._size
        if row == len(self._seq):
            self._grow(row + row // 2)
        self._in_order = self._in_order and (row == 0 or seq > int(self._seq[row - 1]))
        self._seq[row] = seq
        self._scope[row] = scope_code
        self._flags[row] = flags
        self._expires[row] = expires_us
        self._event[row] = event_us
        self._session[row] = session
        self._size = row + 1
        self._row_of[seq] = row
        self._posting(scope_code).append(row)
        return row

    def has_place(
        self, row: int, scope_code: int, event_us: int, session: int = NO_SESSION
    ) -> bool:
        """Return whether a row already has what can never change in place."""
        return bool(
            self._scope[row] == scope_code
            and self._event[row] == event_us
            and self._session[row] == session
        )

    def event_us(self, where: Rows | Mask) -> Micros:
        """Return the event times of some rows, or of those of a mask over the first rows."""
        column = self._event[: len(where)] if where.dtype == np.bool_ else self._event
        return column[where]

    def sessions(self, where: Rows | Mask) -> Rows:
        """Return the session codes of some rows, or of those of a mask over the first rows."""
        column = self._session[: len(where)] if where.dtype == np.bool_ else self._session
        return column[where]

    def all_sessions(self, size: int) -> Rows:
        """Return the session codes of the first rows, read-only and without copying."""
        column = self._session[:size]
        column.flags.writeable = False
        return column

    def set_state(self, row: int, flags: int, expires_us: int) -> None:
        """Change what may change in place."""
        self._flags[row] = flags
        self._expires[row] = expires_us

    def retire(self, seq: int) -> int | None:
        """Take a record out; return the row it had, None when it was not here."""
        row = self._row_of.pop(seq, None)
        if row is not None:
            self._flags[row] = RETIRED
        return row

    def are(self, rows: Rows, type_: MemoryType) -> Mask:
        """Return which of some rows are records of a type; a row that left is of none."""
        return _flag_table(frozenset((type_,)), include_history=True)[self._flags[rows]]

    def come_from(self, rows: Rows, kinds: Collection[SourceKind]) -> Mask:
        """Return which of some rows are records of these source kinds; one that left is not."""
        return _source_table(frozenset(kinds))[self._flags[rows]]

    def places_of(self, others: Columns) -> Rows:
        """Return the row here, just loaded, of each row there; -1 for a retired or unknown one."""
        wanted, keys = others.seqs(), self.seqs()
        at = np.searchsorted(keys, wanted)
        known = others.live() & (at < len(keys))
        known[known] = keys[at[known]] == wanted[known]
        return np.where(known, at, -1).astype(np.int32)

    def seqs(self) -> Seqs:
        """Return a copy of every row's key, retired rows included."""
        return self._seq[: self._size].copy()

    def live(self) -> Mask:
        """Return which rows stand for a record."""
        return np.asarray(self._flags[: self._size] != RETIRED)

    def eligible(
        self,
        scope_codes: Collection[int],
        *,
        now_us: int,
        types: Collection[MemoryType] | None = None,
        since_us: int | None = None,
        until_us: int | None = None,
        include_history: bool = False,
        among: Iterable[int] | None = None,
        among_rows: Rows | None = None,
    ) -> Eligible:
        """Return the rows a caller of these scopes may be shown at ``now_us``.

        ``since_us <= event < until_us``. A record is expired from its very ``expires_us`` on: the
        LLD says "before now", and the microsecond between is given to the protective side.
        ``include_history`` admits superseded and expired records, never deleted ones. ``among``
        narrows to some keys, such as those believed at an earlier moment, ``among_rows`` to some
        ascending row numbers.
        """
        table = _flag_table(None if types is None else frozenset(types), include_history)
        codes = set(scope_codes)
        if among is not None:
            among_rows = np.unique(self.rows_of(among))
        rows = self._narrow_rows(codes) if among_rows is None else self._within(codes, among_rows)
        oldest_expiry = None if include_history else now_us
        where: Rows | slice = slice(0, self._size) if rows is None else rows
        keep = table.take(self._flags[where])
        if rows is None:
            keep &= self._scope_table(codes).take(self._scope[where])
        if oldest_expiry is not None:
            keep &= self._expires[where] > oldest_expiry
        if since_us is not None:
            keep &= self._event[where] >= since_us
        if until_us is not None:
            keep &= self._event[where] < until_us
        return Eligible(
            self,
            self._seq[: self._size],
            in_order=self._in_order,
            rows=None if rows is None else rows[keep],
            mask=keep if rows is None else None,
        )

    def part_of(self, scope_codes: Collection[int]) -> float:
        """Return the part of all rows, retired ones included, that lie in these scopes."""
        held = (self._postings[code] for code in set(scope_codes) if code in self._postings)
        return sum(map(len, held)) / max(self._size, 1)

    def select(self, seqs: Iterable[int]) -> Eligible:
        """Return those records that are here, as they were chosen before a reload."""
        rows = np.sort(self.rows_of(seqs))
        return Eligible(self, self._seq[: self._size], in_order=self._in_order, rows=rows)

    def _narrow_rows(self, codes: set[int]) -> Rows | None:
        """Return the rows of a narrow caller's scopes, ascending; None for a broad caller."""
        if self._size and self.part_of(codes) >= NARROW_PART:
            return None
        postings = [self._postings[code] for code in codes if code in self._postings]
        if not postings:
            return np.empty(0, dtype=np.int32)
        # Copied at once: an exported buffer would forbid the next append.
        rows = np.concatenate([np.frombuffer(posting, dtype=np.int32) for posting in postings])
        if len(postings) > 1:
            rows.sort()
        return rows

    def _within(self, codes: set[int], rows: Rows) -> Rows:
        """Return those of some rows that lie in the scopes."""
        return rows[self._scope_table(codes)[self._scope[rows]]]

    def _scope_table(self, codes: set[int]) -> Mask:
        """Return a lookup table over scope codes."""
        table = np.zeros(self._scope_codes, dtype=np.bool_)
        table[[code for code in codes if code in self._postings]] = True
        return table

    def _posting(self, scope_code: int) -> array[int]:
        """Return the rows of a scope to append to, retired rows included."""
        self._scope_codes = max(self._scope_codes, scope_code + 1)
        return self._postings.setdefault(scope_code, array("i"))

    def _allocate(self, capacity: int) -> None:
        self._seq = np.empty(capacity, dtype=np.int64)
        self._scope = np.empty(capacity, dtype=np.int32)
        self._flags = np.empty(capacity, dtype=np.uint8)
        self._expires = np.empty(capacity, dtype=np.int64)
        self._event = np.empty(capacity, dtype=np.int64)
        self._session = np.empty(capacity, dtype=np.int32)

    def _grow(self, capacity: int) -> None:
        self._seq = _longer(self._seq, capacity)
        self._scope = _longer(self._scope, capacity)
        self._flags = _longer(self._flags, capacity)
        self._expires = _longer(self._expires, capacity)
        self._event = _longer(self._event, capacity)
        self._session = _longer(self._session, capacity)


_Column = TypeVar("_Column", bound=np.generic)


def _longer(column: npt.NDArray[_Column], capacity: int) -> npt.NDArray[_Column]:
    """Return a copy with room for more rows; readers may keep the old one."""
    longer = np.empty(capacity, dtype=column.dtype)
    longer[: len(column)] = column
    return longer
