"""What a run did, in counts and codes: the payload of its event; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from retold.errors import EntityAmbiguous, InvalidSubject, RequestError
from retold.ingest.batch import NEW_ROW
from retold.ingest.extraction.candidates import Validated, ValidCandidate
from retold.ingest.plan import Applied
from retold.models import (
    ExtractionOutput,
    RejectedCandidate,
    RejectionReason,
    ReviewDecision,
    TokenUsage,
)
from retold.operations.extraction.ground import ids_of

_OF_KIND: Final[Mapping[str, str]] = {
    "superseded": "superseded",
    "superseded_on_arrival": "superseded",
    "conflict": "conflicting",
    "flagged": "conflicting",
    "reinforced": "reinforced",
    "already_reinforced": "already_reinforced",
}
_OUTCOMES: Final = {
    "accept": "review_accepted",
    "revise": "review_revised",
    "downgrade": "review_downgraded",
    "reject": "review_rejected",
}


def usage_facts(usage: TokenUsage) -> dict[str, int]:
    """Return what hosted models were used for."""
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }


def rejection_facts(reasons: Iterable[str]) -> dict[str, Any]:
    """Return how many proposals were refused, in all and by reason."""
    counted = Counter(reasons)
    return {"rejected": counted.total(), "rejections": dict(sorted(counted.items()))}


def proposed_count(output: ExtractionOutput) -> int:
    """Return how much the extractor proposed, readable or not."""
    return len(output.candidates) + len(output.rejected)


def staged_facts(output: ExtractionOutput, validated: Validated) -> dict[str, Any]:
    """Return what came of the extractor's answer, and which turns it did not see or saw cut."""
    refused = (*output.rejected, *validated.rejected)
    left_out = Counter(one.reason for one in output.left_out)
    return {
        "proposed": proposed_count(output),
        "staged": len(validated.kept),
        **rejection_facts(one.reason for one in refused),
        "left_out": dict(sorted(left_out.items())),
        **usage_facts(output.usage),
        "extractor_prompt": output.prompt_version,
    }


def review_facts(decisions: Iterable[ReviewDecision]) -> dict[str, int]:
    """Return how many candidates a reviewer accepted, revised, lowered and refused."""
    counts = Counter(_OUTCOMES[one.outcome] for one in decisions)
    return {name: counts[name] for name in _OUTCOMES.values()}


def write_facts(results: Sequence[Applied | RequestError]) -> dict[str, int]:
    """Return what became of the claims that reached the store; ``written`` are new records."""
    kinds = [one.kind for one in results if isinstance(one, Applied)]
    counts = Counter(_OF_KIND[kind] for kind in kinds if kind in _OF_KIND)
    names = dict.fromkeys(_OF_KIND.values())
    written = sum(kind in NEW_ROW for kind in kinds)
    return {"written": written, **{name: counts[name] for name in names}}


def refused_by_store(valid: ValidCandidate, error: RequestError) -> RejectedCandidate:
    """Return the refusal of a candidate that the store did not take."""
    field = error.details.get("field")
    reason: RejectionReason = "invalid_content"
    ids: tuple[str, ...] = ()
    if isinstance(error, EntityAmbiguous):
        reason, ids = "entity_ambiguous", ids_of(error)
    elif isinstance(error, InvalidSubject):
        reason = "invalid_subject"
    return RejectedCandidate(
        valid.position,
        reason,
        field if isinstance(field, str) else error.code,
        valid.candidate,
        entity_ids=ids,
    )
