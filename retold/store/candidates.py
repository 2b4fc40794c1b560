"""The narrow view of records that searching and looking up by id decide on."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import apsw
import numpy as np
import numpy.typing as npt

from retold.models import ACTIVE_STATUSES, LinkRole, MemoryType, RecordStatus, SourceKind
from retold.store.codec import to_json, to_us
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("candidates")

Keys = npt.NDArray[np.int64]


class CandidateRow(NamedTuple):
    """One row without its text. Epochs are microseconds; ``chars`` is the length of the content.

    ``status`` is ``expired`` for an active row whose expiry has come, swept or not.
    ``session_id`` is the internal id of the session behind the first observation, if any.
    """

    seq: int
    record_id: str
    type: MemoryType
    source_kind: SourceKind
    status: RecordStatus
    scope_code: int
    event_us: int
    expires_us: int | None
    chars: int
    subject_entity_id: str | None
    session_id: str | None

    def has_expired(self, now_us: int) -> bool:
        """Return whether the row is active in the table and its expiry has come."""
        return (
            self.expires_us is not None
            and self.expires_us <= now_us
            and self.status in ACTIVE_STATUSES
        )


class Version(NamedTuple):
    """One version of a claim, readable or not."""

    seq: int
    record_id: str
    scope_code: int
    created_us: int
    supersedes_seq: int | None


class CandidateRepository:
    """Read side only."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def rows(self, seqs: Iterable[int]) -> dict[int, CandidateRow]:
        """Return those rows that exist, by key, in one statement."""
        wanted = array("q", seqs)
        if not wanted:
            return {}
        bindings = {"seqs": apsw.carray(wanted), "now_us": to_us(self._tx.now)}
        rows = self._tx.run(QUERIES["rows"], bindings)
        return {row[0]: CandidateRow._make(row) for row in rows}

    def contents(self, seqs: Iterable[int]) -> dict[int, str]:
        """Return what those rows that exist say, by key, in one statement."""
        wanted = array("q", seqs)
        if not wanted:
            return {}
        return dict(self._tx.run(QUERIES["contents"], {"seqs": apsw.carray(wanted)}))

    def linked(self, entity_ids: Iterable[str]) -> dict[tuple[str, LinkRole], Keys]:
        """Return the keys of the records linked to each entity, by (entity id, role).

        A user may be the subject of every record of a store, so the keys come as one text.
        """
        bindings = {"ids": to_json(list(entity_ids))}
        return {
            (entity_id, role): np.fromstring(seqs, dtype=np.int64, sep=" ")
            for entity_id, role, seqs in self._tx.run(QUERIES["linked"], bindings)
        }

    def families(self, seqs: Iterable[int]) -> dict[int, tuple[Version, ...]]:
        """Return for each row all versions of its claim, oldest first, in one statement."""
        wanted = array("q", seqs)
        if not wanted:
            return {}
        rows = self._tx.run(QUERIES["families"], {"seqs": apsw.carray(wanted)})
        versions = {row[0]: Version._make(row) for row in rows}
        groups = _connected(versions)
        return {seq: groups[seq] for seq in wanted if seq in groups}

    def backed(self, seqs: Iterable[int]) -> frozenset[int]:
        """Return those rows whose quote was not found wanting."""
        wanted = array("q", seqs)
        if not wanted:
            return frozenset()
        rows = self._tx.run(QUERIES["backed"], {"seqs": apsw.carray(wanted)})
        return frozenset(row[0] for row in rows)

    def readable_records(
        self, record_ids: Iterable[str], scope_codes: Iterable[int]
    ) -> dict[str, int]:
        """Return the keys of those ids that lie in the given scopes.

        The one gate of every look-up by id: a foreign id and a missing one are both absent, after
        the same statement.
        """
        bindings = {"ids": to_json(list(record_ids)), "scope_codes": to_json(list(scope_codes))}
        return dict(self._tx.run(QUERIES["readable_records"], bindings))

    def readable_entities(
        self, entity_ids: Iterable[str], scope_codes: Iterable[int]
    ) -> frozenset[str]:
        """Return those entity ids that lie in the given scopes."""
        bindings = {"ids": to_json(list(entity_ids)), "scope_codes": to_json(list(scope_codes))}
        return frozenset(row[0] for row in self._tx.run(QUERIES["readable_entities"], bindings))


def _connected(versions: Mapping[int, Version]) -> dict[int, tuple[Version, ...]]:
    """Return, for every version, the versions linked to it by replacement, in the given order."""
    above = {seq: seq for seq in versions}

    def root(seq: int) -> int:
        while above[seq] != seq:
            above[seq] = seq = above[above[seq]]
        return seq

    for seq, version in versions.items():
        if version.supersedes_seq is not None and version.supersedes_seq in above:
            above[root(seq)] = root(version.supersedes_seq)
    groups: dict[int, list[Version]] = {}
    for seq, version in versions.items():
        groups.setdefault(root(seq), []).append(version)
    shared = {top: tuple(group) for top, group in groups.items()}
    return {seq: shared[root(seq)] for seq in versions}
