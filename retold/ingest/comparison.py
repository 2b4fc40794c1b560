"""The records a claim is compared with, and what each comparison means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from retold.config import IngestionConfig
from retold.index.vector import VectorIndex
from retold.ingest.decision import Comparison, Effect, Relation
from retold.ingest.lexical_judge.objects import kind_of, object_stems, same_object
from retold.models import ACTIVE_STATUSES, MemoryType, Record, Verdict
from retold.store import Transaction
from retold.store.codec import to_us
from retold.store.records import SubjectRow
from retold.text import normalize_ws

Vector = npt.NDArray[np.float32]
Verdicts = Mapping[str, Verdict]
"""Verdicts of one write by the content of the older record."""

EQUAL: Final = Verdict("same", "equal")


@dataclass(frozen=True, slots=True)
class Target:
    """What is being written, as far as comparing goes.

    ``entity_ids`` are the primary entity and its counterpart in the principal's other personal
    scope; empty when there is none or it is still to be made, which ``has_primary`` tells apart.
    ``multi_valued`` says that its attribute may hold several values.
    """

    type: MemoryType
    content: str = field(repr=False)
    attribute: str = field(repr=False)
    scope_codes: tuple[int, ...]
    entity_ids: tuple[str, ...]
    has_primary: bool
    names: tuple[str, ...] = field(repr=False)
    vector: Vector = field(repr=False)
    multi_valued: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A record that may matter, before anybody judged it. ``cosine`` None: not in the index."""

    record: Record
    relation: Relation
    cosine: float | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Nearby records of other subjects, with the index version they were read at."""

    hits: tuple[tuple[int, float], ...]
    version: int


@dataclass(frozen=True, slots=True)
class Listed:
    """The records that may matter, and what the listing rests on.

    ``truncated`` says that the subject scan hit its cap. ``records_version`` is the store's at the
    snapshot, ``subject`` the target's scopes and entities.
    """

    pairs: tuple[Pair, ...]
    truncated: bool
    records_version: int
    subject: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """A row that the open transaction wrote and no index knows yet."""

    seq: int
    type: MemoryType
    scope_code: int
    vector: Vector = field(repr=False)


@dataclass(frozen=True, slots=True)
class Written:
    """The rows that the open transaction wrote for claims before this one.

    ``is_checked`` says that the nearby rows of others were compared before the first was written:
    afterwards the transaction's own ones stand among them.
    """

    rows: tuple[WrittenRow, ...] = ()
    is_checked: bool = False

    def cosine(self, seq: int, target: Target) -> float | None:
        """Return how close such a row is to the target; None for any other row."""
        found = next((row for row in self.rows if row.seq == seq), None)
        return None if found is None else float(found.vector @ target.vector)

    def nearby(self, target: Target, floor: float) -> tuple[tuple[int, float], ...]:
        """Return the rows of the target's type and scopes that are at least so close."""
        close = (
            (row.seq, float(row.vector @ target.vector))
            for row in self.rows
            if row.type == target.type and row.scope_code in target.scope_codes
        )
        return tuple((seq, cosine) for seq, cosine in close if cosine >= floor)


NOTHING_WRITTEN: Final = Written()


class SubjectScan(NamedTuple):
    """The active rows about a subject, and whether the cap left some out."""

    rows: list[SubjectRow]
    truncated: bool


def scan_subject(tx: Transaction, target: Target, cfg: IngestionConfig) -> SubjectScan:
    """Return what is stored about the target's subject.

    The cap follows the store's order, most recently reinforced first; rows of the claim's own
    attribute are always kept (LLD 6.3). Episodic records are compared with nearby ones only.
    """
    if target.type == "episodic":
        return SubjectScan([], truncated=False)
    rows: list[SubjectRow] = []
    truncated = False
    for entity_id in target.entity_ids:
        found, more = tx.records.list_subject(
            entity_id, target.type, target.attribute, max_others=cfg.max_entity_attributes
        )
        rows += found
        truncated |= more
    return SubjectScan(rows, truncated)


def find_neighbours(
    tx: Transaction, index: VectorIndex, target: Target, scan: SubjectScan, cfg: IngestionConfig
) -> Neighbours:
    """Return the records of other subjects most similar to the target, in its scopes.

    ``scan`` is that of the target's own subject. ``tx`` is a read snapshot in which the index was
    refreshed.
    """
    version = tx.records.nearby_version(target.scope_codes, target.type)
    found = (
        index.search_near(
            target.vector,
            cfg.dedup_candidate_cosine,
            target.scope_codes,
            now_us=to_us(tx.now),
            types=(target.type,),
        )
        if version
        else []
    )
    same_subject = {row.seq for row in scan.rows}
    close = [hit for hit in found if hit[0] not in same_subject]
    return Neighbours(tuple(close[: cfg.max_nearby_records]), version)


def list_pairs(
    tx: Transaction,
    index: VectorIndex,
    target: Target,
    scan: SubjectScan,
    neighbours: Neighbours,
    *,
    cfg: IngestionConfig,
    written: Written = NOTHING_WRITTEN,
) -> Listed:
    """Return the records that may matter, those that the transaction wrote before included.

    Rows of other attributes, and other values of an attribute that may hold several, are left out
    unread unless they are close, share an object stem or say the same: they change nothing.
    """
    rows, truncated = scan
    seqs = [row.seq for row in rows]
    cosines = index.cosines_to(target.vector, seqs).tolist() if seqs else []
    wanted = object_stems(target.content, target.names) if rows else frozenset()
    relations: dict[int, tuple[Relation, float | None]] = {}
    for (seq, attribute, content), measured in zip(rows, cosines, strict=True):
        cosine = written.cosine(seq, target) if math.isnan(measured) else measured
        own = attribute == target.attribute
        if (
            (own and not target.multi_valued)
            or (cosine or 0.0) >= cfg.attribute_alias_cosine
            or not wanted.isdisjoint(object_stems(content, target.names))
            or (own and _says_the_same(content, target))
        ):
            relations[seq] = ("attribute" if own else "subject", cosine)
    for seq, near in (*neighbours.hits, *written.nearby(target, cfg.dedup_candidate_cosine)):
        relations.setdefault(seq, ("nearby", near))
    pairs = _read(tx, relations)
    return Listed(pairs, truncated, _records_version(tx), (target.scope_codes, target.entity_ids))


def list_again(tx: Transaction, target: Target, listed: Listed) -> Listed | None:
    """Return the listing as a write transaction sees it; None when it must be made anew.

    It holds while no index was told of a change: every row that came, went, or moved to another
    subject, attribute or status raised the store's version. Repetitions do not, so the records are
    read again.
    """
    same_subject = listed.subject == (target.scope_codes, target.entity_ids)
    if not same_subject or _records_version(tx) != listed.records_version:
        return None
    relations = {pair.record.seq: (pair.relation, pair.cosine) for pair in listed.pairs}
    return Listed(_read(tx, relations), listed.truncated, listed.records_version, listed.subject)


def _records_version(tx: Transaction) -> int:
    """Return the store's version before the transaction's own changes."""
    return tx.meta.records_version() - (1 if tx.committed_version else 0)


def _read(
    tx: Transaction, relations: Mapping[int, tuple[Relation, float | None]]
) -> tuple[Pair, ...]:
    records = tx.records.by_seqs(relations)
    return tuple(
        Pair(record, *relations[seq])
        for seq, record in records.items()
        if record.status_at(tx.now) in ACTIVE_STATUSES
    )


def unjudged(pairs: Iterable[Pair], target: Target, verdicts: Verdicts) -> list[str]:
    """Return the contents that still need a verdict, each once, in order."""
    contents = (
        pair.record.content for pair in pairs if not _says_the_same(pair.record.content, target)
    )
    return [content for content in dict.fromkeys(contents) if content not in verdicts]


def compare(pairs: Sequence[Pair], target: Target, verdicts: Verdicts) -> tuple[Comparison, ...]:
    """Return one comparison per pair. Every pair has its verdict by now."""
    return tuple(_comparison(pair, target, verdicts) for pair in pairs)


def _comparison(pair: Pair, target: Target, verdicts: Verdicts) -> Comparison:
    verdict = (
        EQUAL if _says_the_same(pair.record.content, target) else verdicts[pair.record.content]
    )
    compatible = (
        not target.has_primary
        or pair.record.subject_entity_id is None
        or pair.record.subject_entity_id in target.entity_ids
    )
    return Comparison(
        record=pair.record,
        relation=pair.relation,
        effect=effect_of(verdict, pair, target),
        rule=verdict.rule,
        score=max(verdict.scores.values(), default=None),
        cosine=pair.cosine,
        primary_compatible=compatible,
    )


def effect_of(verdict: Verdict, pair: Pair, target: Target) -> Effect:
    """Return what a verdict means for the rules (4-decisions, Truth)."""
    if verdict.label == "same":
        return "same"
    if verdict.label != "contradicts":
        return "none"
    kind = kind_of(verdict)
    about_one_object = same_object(pair.record.content, target.content, target.names)
    if kind == "model":
        return "state_change" if pair.relation == "attribute" and about_one_object else "model"
    if kind == "state" and about_one_object:
        return "state_change"
    return "exclusive" if kind == "value" else "flag"


def _says_the_same(content: str, target: Target) -> bool:
    return normalize_ws(content) == normalize_ws(target.content)
