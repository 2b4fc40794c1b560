"""The records a claim is compared with, and what each comparison means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from retold.config import IngestionConfig
from retold.index.vector import VectorIndex
from retold.ingest.decision import Comparison, Effect, Relation
from retold.ingest.lexical_judge.objects import kind_of, same_object, shares_object_stem
from retold.models import MemoryType, Record, Verdict
from retold.store import Transaction
from retold.store.codec import to_us
from retold.text import normalize_ws

Vector = npt.NDArray[np.float32]
Verdicts = Mapping[str, Verdict]
"""Verdicts of one write by the content of the older record."""

EQUAL: Final = Verdict("same", "equal")


class Judge(Protocol):
    """The half of the judge port that compares claims."""

    def judge(self, a: str, b: str) -> Verdict:
        """Compare the older claim with the newer."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """What is being written, as far as comparing goes.

    ``entity_ids`` are the primary entity and its counterpart in the principal's other personal
    scope; empty when there is none or it is still to be made, which ``has_primary`` tells apart.
    """

    type: MemoryType
    content: str
    attribute: str
    scope_codes: tuple[int, ...]
    entity_ids: tuple[str, ...]
    has_primary: bool
    names: tuple[str, ...]
    vector: Vector


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


def find_neighbours(
    tx: Transaction, index: VectorIndex, target: Target, cfg: IngestionConfig
) -> Neighbours:
    """Return the most similar records in the target's scopes; ``tx`` is a read snapshot.

    The index must have been refreshed in the same snapshot.
    """
    version = tx.records.nearby_version(target.scope_codes, target.type)
    eligible = index.eligible(target.scope_codes, now_us=to_us(tx.now), types=(target.type,))
    if version == 0 or not len(eligible):
        return Neighbours((), version)
    found = index.search(target.vector, eligible, cfg.max_nearby_records)
    close = ((seq, cosine) for seq, cosine in found if cosine >= cfg.dedup_candidate_cosine)
    return Neighbours(tuple(close), version)


def list_pairs(
    tx: Transaction,
    index: VectorIndex,
    target: Target,
    neighbours: Neighbours,
    cfg: IngestionConfig,
) -> tuple[tuple[Pair, ...], bool]:
    """Return the records to compare, and whether the subject scan hit its cap.

    The cap follows the store's order, most recently reinforced first; records of the claim's own
    attribute are always kept (LLD 6.3).
    """
    about = [
        record
        for entity_id in target.entity_ids
        for record in tx.records.list_subject(target.scope_codes, target.type, entity_id)
    ]
    own = [record for record in about if record.attribute == target.attribute]
    others = [record for record in about if record.attribute != target.attribute]
    room = max(0, cfg.max_entity_attributes - len(own))
    subject = own + others[:room] if target.type != "episodic" else []
    seqs = [record.seq for record in subject]
    cosines = dict(zip(seqs, index.cosines_to(target.vector, seqs), strict=True)) if seqs else {}
    pairs = [
        Pair(
            record,
            "attribute" if record.attribute == target.attribute else "subject",
            None if np.isnan(cosines[record.seq]) else float(cosines[record.seq]),
        )
        for record in subject
    ]
    known = set(seqs)
    nearby = dict(neighbours.hits)
    rows = tx.records.by_seqs(seq for seq in nearby if seq not in known)
    pairs += [Pair(row, "nearby", nearby[seq]) for seq, row in rows.items() if row.is_active]
    return tuple(pairs), len(others) > room


def needs_verdict(pair: Pair, target: Target, cfg: IngestionConfig) -> bool:
    """Return whether the judge must look: same attribute, close enough, or a shared object."""
    if pair.relation in ("attribute", "nearby"):
        return True
    if (pair.cosine or 0.0) >= cfg.attribute_alias_cosine:
        return True
    return shares_object_stem(pair.record.content, target.content, target.names)


def unjudged(
    pairs: Iterable[Pair], target: Target, verdicts: Verdicts, cfg: IngestionConfig
) -> list[str]:
    """Return the contents that still need a verdict, each once, in order."""
    return list(
        dict.fromkeys(
            pair.record.content
            for pair in pairs
            if pair.record.content not in verdicts
            and not _is_equal(pair, target)
            and needs_verdict(pair, target, cfg)
        )
    )


def compare(pairs: Sequence[Pair], target: Target, verdicts: Verdicts) -> tuple[Comparison, ...]:
    """Return one comparison per pair; a pair without a verdict says nothing."""
    return tuple(_comparison(pair, target, verdicts) for pair in pairs)


def _comparison(pair: Pair, target: Target, verdicts: Verdicts) -> Comparison:
    verdict = EQUAL if _is_equal(pair, target) else verdicts.get(pair.record.content)
    compatible = (
        not target.has_primary
        or pair.record.subject_entity_id is None
        or pair.record.subject_entity_id in target.entity_ids
    )
    return Comparison(
        record=pair.record,
        relation=pair.relation,
        effect="none" if verdict is None else effect_of(verdict, pair, target),
        rule="not_judged" if verdict is None else verdict.rule,
        score=None if verdict is None else max(verdict.scores.values(), default=None),
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


def _is_equal(pair: Pair, target: Target) -> bool:
    return normalize_ws(pair.record.content) == normalize_ws(target.content)
