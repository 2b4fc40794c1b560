"""One load of the store: columns with the vectors that share their row numbers."""

from __future__ import annotations

import logging
import sys
from array import array

import numpy as np

from retold.errors import EmbeddingError
from retold.index.columns import NEVER_US, NO_SESSION, Columns, encode_flags
from retold.index.matrix import Matrix, Vector
from retold.index.remembered import Remembered
from retold.index.words import LexicalIndex
from retold.store import Transaction
from retold.store.candidates import CandidateRow
from retold.store.embeddings import STORED, unit_vector
from retold.store.meta import EmbeddingIdentity
from retold.store.projection import ProjectionRow

logger = logging.getLogger(__name__)

_DAMAGED = "the file was damaged or changed from outside: restore a snapshot"
_NATIVE = sys.byteorder == "little"
_UNUSABLE = f"a stored vector cannot be used; {_DAMAGED}"


class Generation:
    """Rows and vectors since the last full load; ``Projection`` holds the lock for writers.

    ``matrix`` is None while there is no dense search, and ``dense_unavailable`` says why.
    """

    def __init__(
        self, identity: EmbeddingIdentity, *, capacity: int, dense_unavailable: str | None
    ) -> None:
        self._identity = identity
        self.columns = Columns()
        self._sessions: dict[str, int] = {}
        self.rows: Remembered[CandidateRow] = Remembered()
        self.texts: Remembered[str] = Remembered()
        self.lexical = LexicalIndex()
        self.dense_unavailable = dense_unavailable
        self.matrix: Matrix | None = None
        if dense_unavailable is None:
            self.matrix = Matrix(identity.dims, capacity)

    @classmethod
    def load(
        cls, tx: Transaction, identity: EmbeddingIdentity, *, dense_unavailable: str | None
    ) -> Generation:
        """Read the whole projection; vectors of another identity end the dense search."""
        count = tx.projection.count()
        reason = dense_unavailable or _identity_conflict(tx, identity)
        loaded = cls(identity, capacity=count + count // 8, dense_unavailable=reason)
        seqs, events, expiries = array("q"), array("q"), array("q")
        scopes, sessions, flags = array("i"), array("i"), bytearray()
        for row in tx.projection.load(identity):
            flag = encode_flags(row.type, row.status, row.source_kind)
            if flag is None:
                continue
            loaded._load_vector(len(seqs), row)
            seqs.append(row.seq)
            scopes.append(row.scope_code)
            sessions.append(loaded._session_code(row.source_ref))
            flags.append(flag)
            expiries.append(NEVER_US if row.expires_us is None else row.expires_us)
            events.append(row.event_us)
        loaded.columns.extend(seqs, scopes, flags, expiries, events, sessions=sessions)
        if loaded.matrix is not None and (broken := loaded.matrix.repair(len(seqs))) is not None:
            loaded._end_dense_at(seqs[broken], _UNUSABLE)
        return loaded

    def apply(self, row: ProjectionRow) -> None:
        """Bring one record to a state; applying the same state again changes nothing."""
        self._forget(row.seq)
        flag = encode_flags(row.type, row.status, row.source_kind)
        if flag is None or not row.is_projected:
            self.remove(row.seq)
            return
        vector = self._vector_of(row)
        expires_us = NEVER_US if row.expires_us is None else row.expires_us
        at = self.columns.row_of(row.seq)
        if at is not None and self._is_same(at, row, vector):
            self.columns.set_state(at, flag, expires_us)
            return
        self.remove(row.seq)
        session = self._session_code(row.source_ref)
        at = self.columns.append(
            row.seq, row.scope_code, flag, expires_us, row.event_us, session=session
        )
        if self.matrix is not None:
            self.matrix.put(at, vector)

    def remove(self, seq: int) -> None:
        """Take a record out and forget its vector and words; an unknown one is fine."""
        at = self.columns.retire(seq)
        self._forget(seq)
        if at is not None and self.matrix is not None:
            self.matrix.wipe(at)

    def keep_words_of(self, old: Generation) -> None:
        """Begin with the words that an earlier load read, after which only changes are read."""
        self.lexical = LexicalIndex(old.lexical, self.columns.places_of(old.columns))

    def end_dense(self, reason: str) -> None:
        """Drop the vectors until the next full load; columns go on."""
        self.matrix = None
        self.dense_unavailable = reason

    def _forget(self, seq: int) -> None:
        self.rows.forget(seq)
        self.texts.forget(seq)

    def _end_dense_at(self, seq: int, reason: str) -> None:
        """Drop the vectors because of one row.

        The row's number goes to the log alone: every caller sees the reason, and row numbers
        count the rows of everybody.
        """
        logger.warning("a stored vector ends the dense search", extra={"seq": seq})
        self.end_dense(reason)

    def _is_same(self, at: int, row: ProjectionRow, vector: Vector | None) -> bool:
        session = self._session_code(row.source_ref)
        return self.columns.has_place(at, row.scope_code, row.event_us, session) and (
            self.matrix is None or self.matrix.holds(at, vector)
        )

    def _session_code(self, source_ref: str | None) -> int:
        """Return a number for the session that a source is a part of; one part makes none."""
        key = session_key(source_ref)
        return NO_SESSION if key is None else self._sessions.setdefault(key, len(self._sessions))

    def _load_vector(self, at: int, row: ProjectionRow) -> None:
        """Copy bytes as they are; ``Matrix.repair`` looks at all of them together afterwards."""
        if self.matrix is None:
            return
        if row.has_foreign_vector:
            self._end_dense_at(row.seq, _foreign(self._identity))
        elif row.vector is not None and len(row.vector) != self._identity.dims * STORED.itemsize:
            self._end_dense_at(row.seq, _UNUSABLE)
        elif row.vector is not None:
            self.matrix.put_bytes(at, row.vector if _NATIVE else _swapped(row.vector))

    def _vector_of(self, row: ProjectionRow) -> Vector | None:
        """Return the checked vector of a changed row; one that cannot be used ends the dense."""
        if self.matrix is None:
            return None
        if row.has_foreign_vector:
            self._end_dense_at(row.seq, _foreign(self._identity))
            return None
        if row.vector is None:
            return None
        try:
            return unit_vector(np.frombuffer(row.vector, STORED), self._identity.dims)
        except (EmbeddingError, ValueError):
            self._end_dense_at(row.seq, _UNUSABLE)
            return None


def session_key(source_ref: str | None) -> str | None:
    """Return what the parts of one conversation have in common; None for a source without parts.

    That is the reference before its last ``#``, as in ``session:ID#TURN`` and
    ``host:CONVERSATION#PART``, or all of one that names a session and no turn.
    """
    if source_ref is None:
        return None
    whole, _, _part = source_ref.rpartition("#")
    if whole and not whole.endswith(":"):
        return whole
    return source_ref if source_ref.startswith("session:") else None


def _identity_conflict(tx: Transaction, identity: EmbeddingIdentity) -> str | None:
    stored = tx.meta.embedding_identity()
    if stored is None or stored == identity:
        return None
    return f"the store's vectors come from {stored}, this process uses {identity}"


def _swapped(blob: bytes) -> bytes:
    return np.frombuffer(blob, STORED).astype(np.float32).tobytes()


def _foreign(identity: EmbeddingIdentity) -> str:
    return f"a stored vector does not come from {identity}; {_DAMAGED}"
