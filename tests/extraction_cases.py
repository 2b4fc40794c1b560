"""Twelve sessions for somebody who plays the extractor, and what came of the replies.

``python -m tests.extraction_cases render FOLDER`` writes for each case what a model is sent, and
nothing that tells what is wanted. Put each reply beside it as ``NAME.reply.txt``, in a fence or
not. ``... score [FOLDER]`` prints what they come to, without a folder those that are committed.
``... keep FOLDER`` commits them: it copies them to ``extraction_replies`` and writes their totals
beside them, which a test holds them to.

What the words mean:

- proposed: candidates in a reply; verbatim: those whose quote stands to the letter in a turn.
- refused: those that the checker stops, with the reason.
- kept: those that go on to a review. Each is one of four:
  sound (its quote is on the wanted list and carries the claim),
  unsupported (on the list, but the rule judge does not find the claim in the quote),
  beyond (off the list, and the quote carries the claim: a matter of taste),
  invented (off the list, and the rule judge does not find the claim in the quote).
  What is unsupported or invented is stored as an unconfirmed inference, if at all.
- missed: wanted quotes that nothing kept rests on.

The rule judge errs on both sides, so the lines below the numbers show what to look at.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from retold.config import profile_config
from retold.errors import HostedError
from retold.hosted.answers import first_object
from retold.ingest import evidence
from retold.ingest.evidence import EvidenceRules
from retold.ingest.extraction.candidates import ValidCandidate, validate_candidates
from retold.ingest.extraction.checks import CandidateRules
from retold.ingest.extraction.extractor import StructuredLLMExtractor
from retold.ingest.extraction.prompts import EXTRACT_PROMPT
from retold.ingest.lexical_judge import LexicalJudge
from retold.models import (
    CandidateRecord,
    CompletionRequest,
    ExtractionContext,
    ExtractionOutput,
    KnownEntity,
    KnownRecord,
    RejectedCandidate,
    Turn,
)
from retold.testing import FakeCompletionClient, make_extraction_context, make_turns
from retold.text import locate_quote

HOME = Path(__file__).parent / "unit/ingest/extraction"
REPLIES = HOME / "extraction_replies"
TOTALS = "totals.json"
USAGE = "usage: python -m tests.extraction_cases render FOLDER | score [FOLDER] | keep FOLDER"
CFG = profile_config("offline")
EVIDENCE = EvidenceRules(CFG.ingestion.evidence, CFG.policy)
RULES = CandidateRules(EVIDENCE, CFG.ingestion.extraction_max_candidates, timedelta(minutes=5))
EMPTY: Final = {"candidates": [], "summary": {"content": "Nothing.", "decisions": []}}


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
    """What one reply, or several, came to; ``notes`` are lines on what to look at."""

    parsed: int = 0
    proposed: int = 0
    verbatim: int = 0
    kept: int = 0
    sound: int = 0
    unsupported: int = 0
    beyond: int = 0
    invented: int = 0
    wanted: int = 0
    missed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def add(self, other: Score) -> None:
        for name, mine in vars(self).items():
            setattr(self, name, mine + getattr(other, name))

    def numbers(self) -> dict[str, object]:
        """Return the counts by name, with the reasons of refusals under ``refused``."""
        counts = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        return {**counts, "refused": dict(sorted(self.reasons.items()))}


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
    """Return what a reply comes to; one that is no answer misses all that is wanted."""
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
    missed = [want for want in case.wanted if not any(map(_overlap(want), quotes))]
    result.parsed = 1
    result.proposed = len(proposed) + len(output.rejected)
    result.verbatim = sum(
        any(locate_quote(candidate.evidence, turn.content) for turn in case.turns)
        for _, candidate in proposed
    )
    result.kept, result.missed = len(valid.kept), len(missed)
    for each in (*output.rejected, *valid.rejected):
        result.reasons[each.reason] += 1
        result.notes.append(_refusal(each))
    for one in valid.kept:
        _count_kept(one, case, result)
    result.notes += [f"missed: {want!r}" for want in missed]
    return result


def scores_of(folder: Path) -> dict[str, Score]:
    """Return the scores of the replies in a folder by case; a missing reply is an empty one."""
    paths = {case: folder / f"{case.name}.reply.txt" for case in cases()}
    return {
        case.name: score(case, path.read_text(encoding="utf-8") if path.exists() else "")
        for case, path in paths.items()
    }


def totals_of(folder: Path) -> dict[str, object]:
    """Return the summed counts of the cases that have a reply in a folder, and how many have."""
    scores = scores_of(folder)
    answered = [name for name in scores if (folder / f"{name}.reply.txt").exists()]
    total = Score()
    for name in answered:
        total.add(scores[name])
    return {"replies": len(answered), **total.numbers()}


def main(arguments: list[str]) -> Iterator[str]:
    """Render, score or keep; yield the lines to print."""
    match arguments:
        case ["render", folder]:
            yield from _render(Path(folder))
        case ["score"]:
            yield from _print_scores(REPLIES)
        case ["score", folder]:
            yield from _print_scores(Path(folder))
        case ["keep", folder]:
            yield from _keep(Path(folder), REPLIES)
        case _:
            yield USAGE


def _render(folder: Path) -> Iterator[str]:
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases():
        request = request_of(case)
        schema = json.dumps(request.schema, indent=1)
        text = f"{request.system}\n\n## The schema of the answer\n\n{schema}\n\n{request.prompt}\n"
        (folder / f"{case.name}.prompt.txt").write_text(text, encoding="utf-8")
    yield f"{len(cases())} prompts in {folder}; put each reply beside as NAME.reply.txt"


def _print_scores(folder: Path) -> Iterator[str]:
    total = Score()
    for name, one in scores_of(folder).items():
        yield f"{name}: {_line(one)}"
        yield from (f"  {note}" for note in one.notes)
        total.add(one)
    yield f"all: {_line(total)}"


def _keep(folder: Path, home: Path) -> Iterator[str]:
    home.mkdir(parents=True, exist_ok=True)
    for old in home.glob("*.reply.txt"):
        old.unlink()
    for case in cases():
        path = folder / f"{case.name}.reply.txt"
        if path.exists():
            text = path.read_text(encoding="utf-8").rstrip() + "\n"
            (home / path.name).write_text(text, encoding="utf-8")
    totals = {"prompt": EXTRACT_PROMPT, **totals_of(home)}
    (home / TOTALS).write_text(json.dumps(totals, indent=1) + "\n", encoding="utf-8")
    yield f"{totals['replies']} replies and their totals in {home}"


def _count_kept(one: ValidCandidate, case: Case, result: Score) -> None:
    listed = any(map(_overlap(one.candidate.evidence), case.wanted))
    is_carried = _is_carried(one, case)
    kind = {
        (True, True): "sound",
        (True, False): "unsupported",
        (False, True): "beyond",
        (False, False): "invented",
    }[listed, is_carried]
    setattr(result, kind, getattr(result, kind) + 1)
    why = "" if is_carried else f" ({_rule(one, case)})"
    if kind != "sound":
        result.notes.append(f"{kind}: {_named(one.candidate)}{why}")
    result.notes += [f"lowered: {_named(one.candidate)} ({note})" for note in one.notes]


def _refusal(each: RejectedCandidate) -> str:
    reason = each.reason if each.detail is None else f"{each.reason} {each.detail}"
    return f"refused {reason}: {_named(each.candidate)}"


def _named(candidate: CandidateRecord | None) -> str:
    """Return the attribute and the sentence of a candidate, on one line."""
    if candidate is None:
        return "(could not be read)"
    return f"{candidate.attribute or candidate.type}: {' '.join(candidate.content.split())}"


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


def _is_carried(one: ValidCandidate, case: Case) -> bool:
    return evidence.score(
        one.check,
        one.candidate.evidence,
        one.candidate.content,
        names=case.context.names,
        judge=LexicalJudge(),
        rules=EVIDENCE,
    ).supported


def _rule(one: ValidCandidate, case: Case) -> str:
    """Return the rule by which the judge refuses the quote as it is written."""
    candidate = one.candidate
    names = case.context.names
    verdict = LexicalJudge().support(candidate.evidence, candidate.content, names=names)
    return "not scored" if verdict is None else verdict.rule


def _overlap(one: str) -> Callable[[str], bool]:
    return lambda other: bool(locate_quote(one, other) or locate_quote(other, one))


def _line(one: Score) -> str:
    numbers = one.numbers()
    refused = numbers.pop("refused")
    reasons = ", ".join(f"{count} {reason}" for reason, count in refused.items())
    counts = ", ".join(f"{count} {name}" for name, count in numbers.items())
    return f"{counts}; refused: {reasons or 'none'}"


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1:])))  # noqa: T201  # the result of a command
