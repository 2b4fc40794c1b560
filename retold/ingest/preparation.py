"""Turn a write request into a plan: scope, evidence, key and moments, without the write lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from retold.config import RetoldConfig
from retold.errors import (
    InvalidInput,
    InvalidSourceKind,
    InvalidSubject,
    ScopeNotWritable,
    UnsupportedEvidenceError,
)
from retold.ingest import evidence
from retold.ingest.entities import is_personal, principal_names
from retold.ingest.evidence import EvidenceRules
from retold.ingest.plan import Backing, Setting
from retold.ingest.subject import Key, attribute_key, primary_mention
from retold.models import (
    MEMORY_TYPES,
    SOURCE_KINDS,
    EvidenceCheck,
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
from retold.store.codec import require_aware
from retold.text import require_text

MAX_CONTENT_CHARS: Final = 1_000
MAX_HOST_CONTENT_CHARS: Final = 100_000
MAX_EVIDENCE_CHARS: Final = 4_000
MAX_TAGS: Final = 32
MAX_TAG_CHARS: Final = 100
MAX_MENTIONS: Final = 32

RESERVED_KINDS: Final[tuple[SourceKind, ...]] = ("system", "session_summary")

_TURN_ROLE: Final[dict[SourceKind, TurnRole]] = {
    "user_statement": "user",
    "tool_result": "tool",
    "agent_inference": "assistant",
}


@dataclass(frozen=True, slots=True)
class Situation:
    """What the store says about a request: its setting and the conversation's turns."""

    setting: Setting
    turns: tuple[Turn, ...]
    now: datetime


def validated(request: WriteRequest) -> WriteRequest:
    """Return the request with moments in UTC. Raises InvalidInput; looks at nothing stored."""
    if request.type not in MEMORY_TYPES:
        raise InvalidInput(f"unknown type {request.type!r}; choose one of {MEMORY_TYPES}")
    if request.source_kind not in SOURCE_KINDS:
        raise InvalidSourceKind(
            f"unknown source_kind {request.source_kind!r}; choose one of {SOURCE_KINDS}"
        )
    if request.source_kind in RESERVED_KINDS and request.host_source is None:
        raise InvalidSourceKind(
            f"{request.source_kind} is written by the host or the extractor; "
            "claim user_statement, tool_result or agent_inference"
        )
    limit = MAX_HOST_CONTENT_CHARS if request.host_source else MAX_CONTENT_CHARS
    require_text(request.content, "content", limit)
    if request.evidence is not None:
        require_text(request.evidence, "evidence", MAX_EVIDENCE_CHARS)
    if len(request.tags) > MAX_TAGS or len(request.mentions) > MAX_MENTIONS:
        raise InvalidInput(f"at most {MAX_TAGS} tags and {MAX_MENTIONS} entities; split the claim")
    for tag in request.tags:
        require_text(tag, "tag", MAX_TAG_CHARS)
    request = replace(
        request,
        event_at=_utc(request.event_at),
        valid_from=_utc(request.valid_from),
        valid_until=_utc(request.valid_until),
        review_at=_utc(request.review_at),
    )
    if request.valid_from and request.valid_until and request.valid_until <= request.valid_from:
        raise InvalidInput("valid_until must be later than valid_from")
    return request


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else require_aware(moment)


def situation_of(
    tx: Transaction, principal: Principal, request: WriteRequest, cfg: RetoldConfig
) -> Situation:
    """Return the scope, the rights and the conversation of a request.

    Raises ScopeNotWritable. Trusted hosts write to any scope and have no conversation.
    """
    is_host = request.host_source is not None
    grants = tx.grants.list_for(principal.agent_id)
    writable = allowed_scopes(principal, grants, "write")
    scope = request.scope or default_scope(principal, grants)
    if not is_host and scope not in writable:
        raise ScopeNotWritable(f"this agent may not write to {scope.kind} scopes of that id")
    session = _session_of(tx, principal)
    readable = (scope,) if is_host else allowed_scopes(principal, grants, "read")
    setting = Setting(
        principal=principal,
        scope=scope,
        readable=readable,
        scan_scopes=_scan_scopes(principal, scope, writable, readable),
        names=principal_names(tx, principal, scope),
        actor=request.actor or principal.agent_id,
        session=session,
        keeps_transcript=session is not None and tx.sessions.is_recorded(session.id),
        is_host=is_host,
    )
    turns = tx.sessions.turns(session.conversation_id) if session else []
    return Situation(setting, tuple(turns), tx.now)


def _session_of(tx: Transaction, principal: Principal) -> Session | None:
    if principal.session_id is None:
        return None
    return tx.sessions.latest(principal.agent_id, principal.user_id, principal.session_id)


def _scan_scopes(
    principal: Principal, scope: Scope, writable: Sequence[Scope], readable: Sequence[Scope]
) -> tuple[Scope, ...]:
    """Return the scopes a claim is compared in: both personal ones where it is one of them.

    Only scopes the caller may read as well: an outcome names records, and a caller who may only
    write learns of none.
    """
    candidates = [scope]
    if is_personal(scope, principal):
        personal = (principal.private_scope, principal.user_scope)
        candidates += [other for other in personal if other in writable]
    return tuple(dict.fromkeys(other for other in candidates if other in readable))


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
    Raises UnsupportedEvidenceError when the request allows no inference.
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
            situation.turns, quote, claimed, rules=rules, turn_hint=request.evidence_turn
        )
        if not check.found and may_add_turn:
            check, new_turn = _as_new_turn(situation, quote, claimed)
        check = evidence.score(
            check,
            quote,
            request.content,
            names=situation.setting.names,
            judge=judge,
            rules=rules,
        )
    if not request.allow_inference and claimed != "agent_inference":
        _require_support(check, claimed)
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


def _require_support(check: EvidenceCheck, claimed: SourceKind) -> None:
    if check.found and check.supported and check.source_kind == claimed:
        return
    measured = "" if check.score is None else f" (support {check.score:.2f})"
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
    request: WriteRequest, backing: Backing, now: datetime, cfg: RetoldConfig
) -> datetime:
    """Return when the claim happened: as given, else the time of its evidence turn, else now.

    Raises InvalidInput for a fact or procedure dated further ahead than the settings allow.
    """
    turn = backing.check.turn
    moment = request.event_at or (turn.at if turn is not None else now)
    ahead = timedelta(minutes=cfg.ingestion.max_event_ahead_minutes)
    if request.type != "episodic" and moment > now + ahead:
        raise InvalidInput(
            f"event_at {moment.isoformat()} lies in the future; facts are dated when they were "
            "said, and future bounds go into valid_from or review_at"
        )
    return moment
