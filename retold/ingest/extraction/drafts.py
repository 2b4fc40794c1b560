"""What a run stages between its two steps, and what it keeps of refusals, as text; pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pydantic import TypeAdapter

from retold.models import (
    NO_USAGE,
    CandidateRecord,
    RejectedCandidate,
    SessionSummary,
    TokenUsage,
    Turn,
)


@dataclass(frozen=True, slots=True)
class StagedRun:
    """What the review has to know of the extraction beside its candidates.

    ``proposed`` counts everything the extractor answered. ``transcript`` is the digest of the turns
    it was shown: a summary of other words than are left may not be used.
    """

    proposed: int
    transcript: str = field(repr=False)
    summary: SessionSummary | None = field(default=None, repr=False)
    usage: TokenUsage = NO_USAGE
    prompt_version: str = ""


_CANDIDATE: Final = TypeAdapter(CandidateRecord)
_REJECTED: Final = TypeAdapter(RejectedCandidate)
_RUN: Final = TypeAdapter(StagedRun)
T = TypeVar("T")


def candidate_text(candidate: CandidateRecord) -> str:
    """Return JSON in ASCII that ``read_candidate`` makes the same candidate of."""
    return json.dumps(_CANDIDATE.dump_python(candidate, mode="json"))


def run_text(run: StagedRun) -> str:
    """Return JSON in ASCII that ``read_run`` makes the same of."""
    return json.dumps(_RUN.dump_python(run, mode="json"))


def rejection_text(rejected: RejectedCandidate) -> str:
    """Return JSON in ASCII about a refused proposal, its content included."""
    return json.dumps(_REJECTED.dump_python(rejected, mode="json", exclude={"reason"}))


def read_candidate(text: str) -> CandidateRecord:
    """Return a staged candidate. Raises ValueError for text that is none, without its content."""
    return _read(_CANDIDATE, text)


def read_run(text: str) -> StagedRun:
    """Return what was staged. Raises ValueError for text that is none, without its content."""
    return _read(_RUN, text)


def transcript_digest(turns: Iterable[Turn]) -> str:
    """Return a digest that changes with every word of the turns and with their order."""
    said = json.dumps([[turn.session_id, turn.turn, turn.role, turn.content] for turn in turns])
    return hashlib.sha256(said.encode("ascii")).hexdigest()


def _read(adapter: TypeAdapter[T], text: str) -> T:
    try:
        # The same JSON that wrote it: pydantic's own refuses half an emoji, which models do write.
        return adapter.validate_python(json.loads(text))
    except (ValueError, RecursionError):
        raise ValueError("what was staged cannot be read; extract the session again") from None
