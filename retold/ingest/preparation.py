"""Turn a write request into a plan: scope, evidence, key and moments, without the write lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from retold.config import EvidenceConfig, RetoldConfig
from retold.errors import (
    InvalidInput,
    InvalidSubject,
    ScopeNotWritable,
    UnsupportedEvidenceError,
)
from retold.ingest import evidence
from retold.ingest.entities import is_personal, names_of
from retold.ingest.evidence import EvidenceRules, ForgottenSpan
from retold.ingest.plan import Backing, Setting
from retold.ingest.subject import Key, attribute_key, primary_mention
from retold.models import (
    EvidenceCheck,
    Grant,
    Principal,
    Scope,
    Session,
    SourceKind,
    Turn,
    TurnRole,
    WriteRequest,
)
from retold.policy.grants import allowed_scopes, default_scope
from retold.protocols import EquivalenceJudge
from retold.store import Transaction
from retold.text.frames import holds_memory_output

QUOTE_KEY: Final = "remember:"
"""Begins the external key of turns that were handed over as evidence, not recorded."""

_TURN_ROLE: Final[dict[SourceKind, TurnRole]] = {
    "user_statement": "user",
    "tool_result": "tool",
    "agent_inference": "assistant",
}
_FORGOTTEN: Final = "these words backed a record that was forgotten; quote a new turn"


@dataclass(frozen=True, slots=True)
class Situation:
    """What the store says about a request.

    ``turns`` are those of the conversation that may hold its quote, ``last_turn`` says where its
    latest one stands, ``forgotten`` are the spans that backed records which were forgotten since.
    """

    setting: Setting
    turns: tuple[Turn, ...]
    forgotten: frozenset[ForgottenSpan]
    now: datetime
    last_turn: tuple[str, int] | None = None


def situation_of(
    tx: Transaction,
    principal: Principal,
    request: WriteRequest,
    *,
    segment: Session | None = None,
) -> Situation:
    """Return the scope, the rights and the conversation of a request.

    ``segment`` is the one whose turns alone may hold the quote; None means the principal's
    conversation as far as it went. Raises ScopeNotWritable. Trusted hosts write to any scope and
    have no conversation.
    """
    is_host = request.host_source is not None
    grants = tuple(tx.grants.list_for(principal.agent_id))
    writable = allowed_scopes(principal, grants, "write")
    scope = request.scope or default_scope(principal, grants)
    if not is_host and scope not in writable:
        raise ScopeNotWritable(f"this agent may not write to {scope.kind} scopes of that id")
    session = segment or _session_of(tx, principal)
    readable, scan_scopes = _compared_scopes(principal, scope, grants, writable, is_host=is_host)
    names, called = names_of(tx, principal, scope)
    setting = Setting(
        principal=principal,
        scope=scope,
        readable=readable,
        scan_scopes=scan_scopes,
        names=names,
        called=called,
        actor=request.actor or principal.agent_id,
        session=session,
        keeps_transcript=session is not None and tx.sessions.is_recorded(session.id),
        is_host=is_host,
        grants=grants,
    )
    if session is None or request.evidence is None:
        return Situation(setting, (), frozenset(), tx.now)
    forgotten = frozenset(tx.evidence.list_suppressed(session.conversation_id))
    if segment is not None:
        return Situation(setting, tuple(tx.sessions.turns_of(segment.id)), forgotten, tx.now)
    turns = _turns_for(tx, session.conversation_id, request, any_forgotten=bool(forgotten))
    last_turn = tx.sessions.last_turn(session.conversation_id) if turns else None
    return Situation(setting, tuple(turns), forgotten, tx.now, last_turn)


def under_current_grants(tx: Transaction, setting: Setting) -> Setting:
    """Return the setting with the rights of this moment. Raises ScopeNotWritable."""
    if setting.is_host:
        return setting
    principal, scope = setting.principal, setting.scope
    grants = tuple(tx.grants.list_for(principal.agent_id))
    if grants == setting.grants:
        return setting
    writable = allowed_scopes(principal, grants, "write")
    if scope not in writable:
        raise ScopeNotWritable(f"this agent may not write to {scope.kind} scopes now")
    readable, scan_scopes = _compared_scopes(principal, scope, grants, writable, is_host=False)
    return replace(setting, readable=readable, scan_scopes=scan_scopes, grants=grants)


def refuse_forgotten(tx: Transaction, check: EvidenceCheck) -> None:
    """Raise InvalidInput when the located words backed a record that was forgotten."""
    turn, span = check.turn, check.span
    if turn is None or span is None or turn.turn == 0:  # a turn that is still to be added
        return
    if tx.evidence.is_suppressed(turn.session_id, turn.turn, span):
        raise InvalidInput(_FORGOTTEN)


def _turns_for(
    tx: Transaction, conversation_id: str, request: WriteRequest, *, any_forgotten: bool
) -> Sequence[Turn]:
    """Return the turns a quote is looked for in: a few, where those tell as much as all.

    A user's turn that holds the quote to the letter carries the most authority. Only without one,
    or when a hint points elsewhere or words are suppressed, folded look-alikes matter.
    """
    verbatim = tx.sessions.turns_with(conversation_id, request.evidence or "")
    hint = request.evidence_turn
    is_hinted = hint is None or any(turn.turn == hint for turn in verbatim)
    if is_hinted and not any_forgotten and any(turn.role == "user" for turn in verbatim):
        return verbatim
    return tx.sessions.turns(conversation_id)


def _session_of(tx: Transaction, principal: Principal) -> Session | None:
    if principal.session_id is None:
        return None
    return tx.sessions.latest(principal.agent_id, principal.user_id, principal.session_id)


def _compared_scopes(
    principal: Principal,
    scope: Scope,
    grants: Sequence[Grant],
    writable: Sequence[Scope],
    *,
    is_host: bool,
) -> tuple[tuple[Scope, ...], tuple[Scope, ...]]:
    """Return the readable scopes, and those a claim is compared in: both personal ones or its own.

    Only scopes the caller may read as well: an outcome names records, and a caller who may only
    write learns of none.
    """
    readable = (scope,) if is_host else allowed_scopes(principal, grants, "read")
    candidates = [scope]
    if is_personal(scope, principal):
        personal = (principal.private_scope, principal.user_scope)
        candidates += [other for other in personal if other in writable]
    return readable, tuple(dict.fromkeys(other for other in candidates if other in readable))


def backing_of(
    situation: Situation,
    request: WriteRequest,
    *,
    may_add_turn: bool,
    judge: EquivalenceJudge,
    cfg: RetoldConfig,
) -> Backing:
    """Return what backs the claim; model calls happen here.

    ``may_add_turn`` lets a trusted host's quote become a turn when the transcript lacks it.
    Raises UnsupportedEvidenceError when the request allows no inference, InvalidInput when the
    words backed a record that was forgotten, unless a trusted host asks for an inference.
    """
    if request.host_source is not None:
        quote = request.host_source.quote
        check = EvidenceCheck(True, None, None, request.source_kind)
        return Backing(check, quote, request.source_kind, verified=True)
    rules = EvidenceRules(cfg.ingestion.evidence, cfg.policy)
    claimed = request.source_kind
    quote = request.evidence
    new_turn: TurnRole | None = None
    if quote is None:
        check = evidence.no_evidence()
    else:
        check = evidence.locate(
            situation.turns,
            quote,
            claimed,
            rules=rules,
            turn_hint=request.evidence_turn,
            forgotten=situation.forgotten,
        )
        is_new = check.note == evidence.NOT_FOUND or _is_said_again(check, situation)
        # What came out of memory is not said anew by whoever hands it over.
        if is_new and may_add_turn and not holds_memory_output(quote):
            check, new_turn = _as_new_turn(situation, quote, claimed)
        check = evidence.score(
            check,
            quote,
            request.content,
            names=situation.setting.names,
            judge=judge,
            rules=rules,
        )
    if check.note == evidence.FORGOTTEN and not may_add_turn:
        raise InvalidInput(_FORGOTTEN)
    if not request.allow_inference and claimed != "agent_inference":
        _require_support(check, claimed, cfg.ingestion.evidence)
    return Backing(
        check,
        quote if check.found else None,
        check.source_kind,
        verified=_is_verified(check),
        new_turn=new_turn,
    )


def _is_verified(check: EvidenceCheck) -> bool:
    return (
        check.found
        and check.supported
        and check.score is not None
        and check.turn is not None
        and check.turn.role != "assistant"
    )


def _is_said_again(check: EvidenceCheck, situation: Situation) -> bool:
    """Return whether a host hands over words that it had handed over earlier, as said anew.

    Only the words of turns that ``remember`` added itself: a host that records its turns records
    a restatement too. Words handed over twice in a row are one utterance.
    """
    turn = check.turn
    if turn is None or not (turn.external_key or "").startswith(QUOTE_KEY):
        return False
    return (turn.session_id, turn.turn) != situation.last_turn


def _as_new_turn(
    situation: Situation, quote: str, claimed: SourceKind
) -> tuple[EvidenceCheck, TurnRole | None]:
    role = _TURN_ROLE[claimed]
    session = situation.setting.session
    turn = Turn(
        session_id=session.id if session else "",
        turn=0,
        role=role,
        content=quote,
        at=situation.now,
        origin="tool" if role == "tool" else "dialogue",
    )
    check = EvidenceCheck(True, turn, (0, len(quote)), claimed)
    return check, role if situation.setting.keeps_transcript else None


def _require_support(check: EvidenceCheck, claimed: SourceKind, cfg: EvidenceConfig) -> None:
    if check.found and check.supported and check.source_kind == claimed:
        return
    if check.note == evidence.FORGOTTEN:
        raise InvalidInput(_FORGOTTEN)
    measured = "" if check.score is None else f" (support {check.score:.2f})"
    if check.note == evidence.TOO_SHORT:
        measured = (
            f" (give {cfg.min_characters} characters and {cfg.min_words} words, or all of a turn)"
        )
    raise UnsupportedEvidenceError(
        f"{check.note or evidence.NOT_SUPPORTED}{measured}; quote words that state the claim, "
        "or pass allow_inference=True to store it as an unconfirmed inference",
        note=check.note,
        score=check.score,
    )


def key_of(request: WriteRequest, setting: Setting) -> Key:
    """Return the attribute key. Raises InvalidSubject when nobody is named and nobody implied.

    A host's claim about nobody is filed under its content, whatever attribute it names, so that it
    never replaces another.
    """
    key = attribute_key(request.type, request.content, request.attribute)
    if primary_mention(request.mentions) or setting.implies_principal:
        return key
    if setting.is_host:
        return attribute_key(request.type, request.content, None)
    if request.type == "episodic":
        return key
    raise InvalidSubject(f"about entity required: {setting.scope.kind} scopes belong to no person")


def event_time(
    request: WriteRequest, backing: Backing, now: datetime, cfg: RetoldConfig, *, is_trusted: bool
) -> datetime:
    """Return when the claim happened: as given, else the time of its evidence turn, else now.

    Raises InvalidInput for a fact or procedure dated further ahead than the settings allow, or,
    unless ``is_trusted``, later than the words that state it: an old quote with a new date would
    replace what was said since.
    """
    turn = backing.check.turn
    ahead = timedelta(minutes=cfg.ingestion.max_event_ahead_minutes)
    # A turn that a host dated ahead is here already: what it says was said by now.
    said_at = now if turn is None or turn.at > now + ahead else turn.at
    moment = request.event_at or said_at
    if request.type != "episodic" and moment > now + ahead:
        raise InvalidInput(
            f"event_at {moment.isoformat()} lies in the future; facts are dated when they were "
            "said: leave it out, and give the end of what is said in valid_until",
            field="event_at",
        )
    is_dated_anew = backing.source_kind != "agent_inference" and moment > said_at + ahead
    if request.type != "episodic" and is_dated_anew and not is_trusted:
        raise InvalidInput(
            f"event_at {moment.isoformat()} is later than the words that state the fact; "
            "leave it out",
            field="event_at",
        )
    return moment
