"""Twelve sessions for somebody who plays the extractor, and what came of the replies.

``python -m tests.extraction_cases render FOLDER`` writes for each case what a model is sent, and
nothing that tells what is wanted. Put each reply beside it as ``NAME.reply.txt``, in a fence or
not. ``python -m tests.extraction_cases score FOLDER`` prints how many parsed, were quoted to the
letter, missed or invented.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from retold.config import profile_config
from retold.errors import HostedError
from retold.hosted.answers import first_object
from retold.ingest import evidence
from retold.ingest.evidence import EvidenceRules
from retold.ingest.extraction.candidates import ValidCandidate, validate_candidates
from retold.ingest.extraction.checks import CandidateRules
from retold.ingest.extraction.extractor import StructuredLLMExtractor
from retold.ingest.lexical_judge import LexicalJudge
from retold.models import (
    CompletionRequest,
    ExtractionContext,
    ExtractionOutput,
    KnownEntity,
    KnownRecord,
    Turn,
)
from retold.testing import FakeCompletionClient, make_extraction_context, make_turns
from retold.text import locate_quote

HOME = Path(__file__).parent / "unit/ingest/extraction"
CFG = profile_config("offline")
EVIDENCE = EvidenceRules(CFG.ingestion.evidence, CFG.policy)
RULES = CandidateRules(EVIDENCE, CFG.ingestion.extraction_max_candidates, timedelta(minutes=5))
EMPTY = {"candidates": [], "summary": {"content": "Nothing.", "decisions": []}}


@dataclass(frozen=True)
class Case:
    """One session with what the memory knew before it and the quotes worth keeping."""

    name: str
    kind: str
    language: str
    turns: tuple[Turn, ...]
    context: ExtractionContext
    wanted: tuple[str, ...]


@dataclass
class Score:
    """What one reply, or several, came to."""

    parsed: int = 0
    proposed: int = 0
    verbatim: int = 0
    kept: int = 0
    unsupported: int = 0
    wanted: int = 0
    missed: int = 0
    invented: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, other: Score) -> None:
        for name in vars(self):
            mine, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, mine + theirs)


def cases() -> tuple[Case, ...]:
    """Return the cases by name."""
    wanted = json.loads((HOME / "cases_wanted.json").read_text(encoding="utf-8"))
    return tuple(
        _case(path.stem, json.loads(path.read_text(encoding="utf-8")), wanted[path.stem])
        for path in sorted((HOME / "cases").glob("*.json"))
    )


def request_of(case: Case) -> CompletionRequest:
    """Return what a hosted model would be sent."""
    client = FakeCompletionClient([EMPTY])
    StructuredLLMExtractor(client, CFG.ingestion).extract(case.turns, case.context)
    return client.requests[0]


def score(case: Case, reply: str) -> Score:
    """Return what a reply comes to.

    ``invented`` counts kept candidates whose quote is of no line that was wanted; ``unsupported``
    those that the rule judge would lower to an inference.
    """
    result = Score(wanted=len(case.wanted), missed=len(case.wanted))
    value = first_object(reply)
    if value is None:
        return result
    try:
        output = _extract(case, value)
    except HostedError:
        return result
    proposed = list(zip(output.positions, output.candidates, strict=True))
    valid = validate_candidates(proposed, case.turns, case.context, RULES)
    quotes = [one.candidate.evidence for one in valid.kept]
    result.parsed = 1
    result.proposed = len(proposed) + len(output.rejected)
    result.verbatim = sum(
        any(locate_quote(candidate.evidence, turn.content) for turn in case.turns)
        for _, candidate in proposed
    )
    result.kept = len(valid.kept)
    result.unsupported = sum(_is_lowered(one, case) for one in valid.kept)
    result.missed = sum(not any(map(_overlap(want), quotes)) for want in case.wanted)
    result.invented = sum(not any(map(_overlap(quote), case.wanted)) for quote in quotes)
    result.reasons = Counter(each.reason for each in (*output.rejected, *valid.rejected))
    return result


def main(arguments: list[str]) -> Iterator[str]:
    """Render or score; yield the lines to print."""
    if len(arguments) != 2 or arguments[0] not in ("render", "score"):
        yield "usage: python -m tests.extraction_cases render|score FOLDER"
        return
    folder = Path(arguments[1])
    if arguments[0] == "render":
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases():
            request = request_of(case)
            schema = json.dumps(request.schema, indent=1)
            text = (
                f"{request.system}\n\n## The schema of the answer\n\n{schema}\n\n{request.prompt}\n"
            )
            (folder / f"{case.name}.prompt.txt").write_text(text, encoding="utf-8")
        yield f"{len(cases())} prompts in {folder}; put each reply beside as NAME.reply.txt"
        return
    total = Score()
    for case in cases():
        path = folder / f"{case.name}.reply.txt"
        one = score(case, path.read_text(encoding="utf-8") if path.exists() else "")
        yield f"{case.name}: {_line(one)}"
        total.add(one)
    yield f"all: {_line(total)}"


def _case(name: str, data: Mapping[str, object], wanted: list[str]) -> Case:
    context = make_extraction_context(names=tuple(data["user_names"]))
    records = tuple(
        KnownRecord(
            f"record-{place}", "semantic", context.scope, each["attribute"], each["content"]
        )
        for place, each in enumerate(data["known_records"])
    )
    entities = tuple(
        KnownEntity(f"entity-{place}", each["kind"], context.scope, each["name"])
        for place, each in enumerate(data["known_entities"])
    )
    began = datetime.fromisoformat(data["began"])
    turns = tuple(
        replace(turn, at=began + timedelta(minutes=turn.turn), tool_name=said.get("tool"))
        for turn, said in zip(
            make_turns(*((one["role"], one["text"]) for one in data["turns"])),
            data["turns"],
            strict=True,
        )
    )
    context = replace(context, records=records, entities=entities)
    return Case(name, data["kind"], data["language"], turns, context, tuple(wanted))


def _extract(case: Case, value: Mapping[str, object]) -> ExtractionOutput:
    client = FakeCompletionClient([value])
    return StructuredLLMExtractor(client, CFG.ingestion).extract(case.turns, case.context)


def _is_lowered(one: ValidCandidate, case: Case) -> bool:
    checked = evidence.score(
        one.check,
        one.candidate.evidence,
        one.candidate.content,
        names=case.context.names,
        judge=LexicalJudge(),
        rules=EVIDENCE,
    )
    return not checked.supported


def _overlap(one: str):
    return lambda other: bool(locate_quote(one, other) or locate_quote(other, one))


def _line(one: Score) -> str:
    numbers = ", ".join(f"{getattr(one, name)} {name}" for name in vars(one) if name != "reasons")
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(one.reasons.items()))
    return f"{numbers}; refused: {reasons or 'none'}"


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1:])))  # noqa: T201  # the result of a command
