"""Whether a quote exists, who said it, and whether it supports the claim."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from retold.config import EvidenceConfig, PolicyConfig
from retold.ingest.in_place import read_in_place
from retold.models import EvidenceCheck, SourceKind, Turn, TurnRole, Verdict
from retold.protocols import EquivalenceJudge
from retold.text import evidence_length, locate_quote
from retold.text.quotes import clause_around

NOT_FOUND: Final = "evidence not found in session"
FORGOTTEN: Final = "evidence was forgotten"
TOO_SHORT: Final = "evidence too short"
NOT_PROVIDED: Final = "evidence not provided"
NOT_SUPPORTED: Final = "evidence does not support claim"
NOT_SCORED: Final = "entailment_not_scored"

_STOPS: Final = " \t\n.,;!…。，、；！"
"""What may be left out at the ends of a quote without a change of meaning."""

_TURNS_BEFORE: Final = 6
"""Turns in which somebody whom a quote calls "she" may have been named."""

ForgottenSpan = tuple[str, int, tuple[int, int]]
"""Internal session id, turn and character span of words that backed a forgotten record."""

_SUPPORTED_BY_ROLE: Final[dict[TurnRole, SourceKind]] = {
    "user": "user_statement",
    "tool": "tool_result",
    "assistant": "agent_inference",
}


@dataclass(frozen=True, slots=True)
class EvidenceRules:
    """The settings evidence is judged by."""

    cfg: EvidenceConfig
    policy: PolicyConfig

    def rank(self, source_kind: SourceKind) -> int:
        """Return the authority of a source kind."""
        return self.policy.source_rank.of(source_kind)


def no_evidence() -> EvidenceCheck:
    """Return the check of a claim that came without a quote."""
    return EvidenceCheck(
        found=False, turn=None, span=None, source_kind="agent_inference", note=NOT_PROVIDED
    )


def locate(
    turns: Sequence[Turn],
    quote: str,
    claimed: SourceKind,
    *,
    rules: EvidenceRules,
    turn_hint: int | None = None,
    forgotten: Collection[ForgottenSpan] = (),
) -> EvidenceCheck:
    """Find the quote in one evidence turn and cap the claimed kind by who said it.

    A right hint picks among several hits; a wrong one is ignored. Otherwise the turn that carries
    most authority wins, then the latest. Words that overlap ``forgotten`` ones are no evidence.
    Nothing is scored here.
    """
    found = [
        (turn, span)
        for turn in turns
        if turn.is_evidence and (span := locate_quote(quote, turn.content)) is not None
    ]
    hits = [(turn, span) for turn, span in found if not _overlaps(turn, span, forgotten)]
    if not hits:
        note = FORGOTTEN if found else NOT_FOUND
        return EvidenceCheck(
            found=False, turn=None, span=None, source_kind="agent_inference", note=note
        )
    hinted = [hit for hit in hits if hit[0].turn == turn_hint]
    turn, span = max(
        hinted or hits,
        key=lambda hit: (rules.rank(_SUPPORTED_BY_ROLE[hit[0].role]), hit[0].at, hit[0].turn),
    )
    supported = _SUPPORTED_BY_ROLE[turn.role]
    before = _said_before(turns, turn, span)
    if rules.rank(claimed) > rules.rank(supported):
        note = f"downgraded from {claimed}: quote is from {_article(turn.role)} turn"
        return EvidenceCheck(True, turn, span, supported, note=note, before=before)
    return EvidenceCheck(True, turn, span, claimed, before=before)


def score(
    check: EvidenceCheck,
    quote: str,
    claim: str,
    *,
    names: Sequence[str],
    judge: EquivalenceJudge,
    rules: EvidenceRules,
) -> EvidenceCheck:
    """Return the check with its support measured; a quote that fails lowers the source.

    The clause that a quote was cut from has to support the claim, too: "live in Berlin" stands in
    "I do not live in Berlin". A short quote passes only as a whole turn that was scored. A claim
    that its turn's role has already lowered is not scored and keeps its one note.
    """
    if not check.found or check.turn is None or check.turn.role == "assistant":
        return check
    long_enough = is_substantial(quote, rules.cfg)
    if not long_enough and not is_whole_turn(check):
        return _lowered(check, TOO_SHORT, None, judge.name)
    verdict = _support(check, quote, claim, names=names, judge=judge, rules=rules)
    if verdict is None:
        if not long_enough:
            return _lowered(check, TOO_SHORT, None, judge.name)
        return replace(check, judge=judge.name, note=check.note or NOT_SCORED)
    support = verdict.entails
    if support >= rules.cfg.entail_floor:
        in_place = _support_in_place(check, claim, names=names, judge=judge, rules=rules)
        support = min(support, in_place)
    if support < rules.cfg.entail_floor:
        return _lowered(check, NOT_SUPPORTED, support, judge.name)
    return replace(check, score=support, judge=judge.name)


def _support(
    check: EvidenceCheck,
    text: str,
    claim: str,
    *,
    names: Sequence[str],
    judge: EquivalenceJudge,
    rules: EvidenceRules,
) -> Verdict | None:
    """Return how far a text of the turn supports the claim, None when that was not scored.

    What fails as written is read once more in its place: see ``read_in_place``.
    """
    assert check.turn is not None
    verdict = judge.support(text, claim, names=names)
    if verdict is None or verdict.entails >= rules.cfg.entail_floor:
        return verdict
    told = read_in_place(text, claim, turn=check.turn, before=check.before, names=names)
    again = None if told is None else judge.support(*told, names=names)
    return verdict if again is None or again.entails <= verdict.entails else again


def _support_in_place(
    check: EvidenceCheck,
    claim: str,
    *,
    names: Sequence[str],
    judge: EquivalenceJudge,
    rules: EvidenceRules,
) -> float:
    """Return how far the clause that the quote was cut from supports the claim; 1 when uncut."""
    assert check.turn is not None and check.span is not None  # noqa: PT018  # found
    text, (start, end) = check.turn.content, check.span
    clause = clause_around(text, (start, end))
    if clause.strip(_STOPS) == text[start:end].strip(_STOPS):
        return 1.0
    verdict = _support(check, clause, claim, names=names, judge=judge, rules=rules)
    return 1.0 if verdict is None else verdict.entails


def is_substantial(quote: str, cfg: EvidenceConfig) -> bool:
    """Return whether a quote meets both length minimums, counted per script."""
    words, characters = evidence_length(quote)
    return words >= cfg.min_words and characters >= cfg.min_characters


def is_whole_turn(check: EvidenceCheck) -> bool:
    """Return whether a located quote leaves nothing of its turn but punctuation and space."""
    assert check.turn is not None and check.span is not None  # noqa: PT018  # found
    start, end = check.span
    outside = check.turn.content[:start] + check.turn.content[end:]
    return not any(character.isalnum() for character in outside)


def _lowered(
    check: EvidenceCheck, note: str, score_: float | None, judge_name: str
) -> EvidenceCheck:
    return replace(
        check,
        source_kind="agent_inference",
        score=score_,
        supported=False,
        judge=judge_name,
        note=note,
    )


def _said_before(turns: Sequence[Turn], turn: Turn, span: tuple[int, int]) -> str:
    """Return the few turns before one and its own text up to a span, a line each."""
    earlier = [
        one
        for one in turns
        if one.is_evidence and one.session_id == turn.session_id and one.turn < turn.turn
    ]
    earlier.sort(key=lambda one: one.turn)
    return "\n".join((*(one.content for one in earlier[-_TURNS_BEFORE:]), turn.content[: span[0]]))


def _overlaps(turn: Turn, span: tuple[int, int], forgotten: Collection[ForgottenSpan]) -> bool:
    return any(
        (session_id, number) == (turn.session_id, turn.turn) and start < span[1] and end > span[0]
        for session_id, number, (start, end) in forgotten
    )


def _article(role: str) -> str:
    return f"an {role}" if role == "assistant" else f"a {role}"
