"""Candidates and summaries as the text in which a run stages them between its two steps; pure."""

from __future__ import annotations

import json
from typing import Final

from pydantic import TypeAdapter, ValidationError

from retold.models import CandidateRecord, SessionSummary

_CANDIDATE: Final = TypeAdapter(CandidateRecord)
_SUMMARY: Final = TypeAdapter(SessionSummary)


def candidate_text(candidate: CandidateRecord) -> str:
    """Return JSON in ASCII that ``read_candidate`` makes the same candidate of."""
    return json.dumps(_CANDIDATE.dump_python(candidate, mode="json"))


def summary_draft(summary: SessionSummary) -> str:
    """Return JSON in ASCII that ``read_summary`` makes the same summary of."""
    return json.dumps(_SUMMARY.dump_python(summary, mode="json"))


def read_candidate(text: str) -> CandidateRecord:
    """Return a staged candidate. Raises ValueError for text that is none, without its content."""
    try:
        return _CANDIDATE.validate_json(text)
    except ValidationError:
        raise ValueError("the staged candidate cannot be read; extract the session again") from None


def read_summary(text: str) -> SessionSummary:
    """Return a staged summary. Raises ValueError for text that is none, without its content."""
    try:
        return _SUMMARY.validate_json(text)
    except ValidationError:
        raise ValueError("the staged summary cannot be read; extract the session again") from None
