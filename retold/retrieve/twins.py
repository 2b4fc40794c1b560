"""What near-identical candidates say, read from the store where two of them may be one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retold.index.vector import VectorIndex
from retold.models import Candidate
from retold.retrieve.dedup import Cosines
from retold.retrieve.duplicates import Twin, possible_twins
from retold.store import Transaction
from retold.store.candidates import CandidateRepository, CandidateRow

_PRINCIPAL = "principal"


def read_twins(
    tx: Transaction,
    index: VectorIndex,
    candidates: Sequence[Candidate],
    rows: Mapping[int, CandidateRow],
    cosines: Cosines,
    *,
    floor: float,
    user_id: str,
) -> dict[int, Twin]:
    """Return the contents and subjects of candidates that may have a twin; mostly there is none.

    The entities that stand for the user, one in each scope, are one subject.
    """
    matched = [one.seq for one in candidates if one.lexical is not None]
    texts = index.texts_of(tx, matched) if len(matched) > 1 else {}
    seqs = possible_twins(candidates, cosines, texts, floor)
    if not seqs:
        return {}
    contents = CandidateRepository(tx).contents(seqs)
    subjects: dict[int, str | None] = {seq: rows[seq].subject_entity_id for seq in contents}
    if len(set(subjects.values())) > 1:
        own = {entity.id for entity in tx.entities.principals(user_id)}
        subjects = {seq: _PRINCIPAL if one in own else one for seq, one in subjects.items()}
    return {seq: Twin(content, subjects[seq]) for seq, content in contents.items()}
