"""What a caller sends, checked and redacted before anything of it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, get_args

from retold.errors import InvalidInput, InvalidSourceKind
from retold.ingest.entities import MAX_NAME_CHARS
from retold.models import (
    ENTITY_KINDS,
    MEMORY_TYPES,
    SOURCE_KINDS,
    EntityMention,
    EvidenceSource,
    HostSource,
    LinkRole,
    SourceKind,
    WriteRequest,
)
from retold.protocols import ContentPolicy
from retold.store.codec import require_aware_or_none
from retold.text import require_bool, require_id, require_text

MAX_CONTENT_CHARS: Final = 1_000
MAX_HOST_CONTENT_CHARS: Final = 100_000
MAX_EVIDENCE_CHARS: Final = 4_000
MAX_ATTRIBUTE_CHARS: Final = 200
MAX_REASON_CHARS: Final = 500
MAX_TAGS: Final = 32
MAX_TAG_CHARS: Final = 100
MAX_MENTIONS: Final = 32

RESERVED_KINDS: Final[tuple[SourceKind, ...]] = ("system", "session_summary")
_LINK_ROLES: Final = get_args(LinkRole)
_HOST_SOURCES: Final = tuple(kind for kind in get_args(EvidenceSource) if kind != "session")


def admitted(request: WriteRequest, policy: ContentPolicy | None) -> WriteRequest:
    """Return the request as it may be stored: valid, and with every text under the policy.

    Raises InvalidInput, also for a text of which the policy leaves nothing.
    """
    request = validated(request)
    return request if policy is None else validated(_redacted(request, policy))


def admitted_summary(request: WriteRequest, policy: ContentPolicy | None) -> WriteRequest:
    """Return the summary of a session as it may be stored; mentions that may not be are left out.

    Raises InvalidInput.
    """
    require_text(request.content, "summary", MAX_HOST_CONTENT_CHARS)
    request = replace(request, mentions=tuple(filter(_is_mention, request.mentions))[:MAX_MENTIONS])
    if policy is not None:
        request = _redacted(request, policy)
        require_text(request.content, "summary", MAX_HOST_CONTENT_CHARS)
    return request


def admitted_reason(reason: str, policy: ContentPolicy | None) -> str:
    """Return the reason of a revision as it may go into its event. Raises InvalidInput."""
    return _admitted_text(reason, "reason", MAX_REASON_CHARS, policy)


def admitted_quote(quote: str, policy: ContentPolicy | None) -> str:
    """Return a quote as it may be kept; turns passed the same policy. Raises InvalidInput."""
    return _admitted_text(quote, "evidence", MAX_EVIDENCE_CHARS, policy)


def _admitted_text(text: str, field: str, limit: int, policy: ContentPolicy | None) -> str:
    require_text(text, field, limit)
    if policy is None:
        return text
    return require_text(policy.apply(text, where="write"), field, limit)


def _redacted(request: WriteRequest, policy: ContentPolicy) -> WriteRequest:
    def apply(text: str) -> str:
        return policy.apply(text, where="write")

    def apply_or_none(text: str | None) -> str | None:
        return None if text is None else apply(text)

    host = request.host_source
    return replace(
        request,
        content=apply(request.content),
        evidence=apply_or_none(request.evidence),
        attribute=apply_or_none(request.attribute),
        tags=tuple(apply(tag) for tag in request.tags),
        mentions=tuple(replace(each, text=apply(each.text)) for each in request.mentions),
        host_source=None if host is None else replace(host, quote=apply_or_none(host.quote)),
    )


def validated(request: WriteRequest) -> WriteRequest:
    """Return the request with moments in UTC. Raises InvalidInput; looks at nothing stored."""
    if request.type not in MEMORY_TYPES:
        raise InvalidInput(f"unknown type {request.type!r}; choose one of {MEMORY_TYPES}")
    _check_source(request)
    limit = MAX_HOST_CONTENT_CHARS if request.host_source else MAX_CONTENT_CHARS
    require_text(request.content, "content", limit)
    if request.evidence is not None:
        require_text(request.evidence, "evidence", MAX_EVIDENCE_CHARS)
    if request.attribute is not None:
        require_text(request.attribute, "attribute", MAX_ATTRIBUTE_CHARS)
    if len(request.tags) > MAX_TAGS or len(request.mentions) > MAX_MENTIONS:
        raise InvalidInput(f"at most {MAX_TAGS} tags and {MAX_MENTIONS} entities; split the claim")
    require_bool(request.allow_inference, "allow_inference")
    if request.replaces is not None:
        require_bool(request.replaces, "replaces")
    for tag in request.tags:
        require_text(tag, "tag", MAX_TAG_CHARS)
    for mention in request.mentions:
        _check_mention(mention)
    request = replace(
        request,
        event_at=require_aware_or_none(request.event_at),
        valid_from=require_aware_or_none(request.valid_from),
        valid_until=require_aware_or_none(request.valid_until),
        review_at=require_aware_or_none(request.review_at),
    )
    if request.valid_from and request.valid_until and request.valid_until <= request.valid_from:
        raise InvalidInput("valid_until must be later than valid_from")
    return request


def _check_source(request: WriteRequest) -> None:
    if request.source_kind not in SOURCE_KINDS:
        raise InvalidSourceKind(
            f"unknown source_kind {request.source_kind!r}; choose one of {SOURCE_KINDS}"
        )
    if request.host_source is not None:
        _check_host_source(request.host_source)
    elif request.source_kind in RESERVED_KINDS:
        raise InvalidSourceKind(
            f"{request.source_kind} is written by the host or the extractor; "
            "claim user_statement, tool_result or agent_inference"
        )


def _check_host_source(source: HostSource) -> None:
    if not isinstance(source, HostSource):
        raise InvalidInput("`source` must be a name or a HostSource.", field="source")
    if source.type not in _HOST_SOURCES:
        raise InvalidInput(f"unknown source type {source.type!r}; choose one of {_HOST_SOURCES}")
    require_id(source.id, "source id", allow_slash=True)
    if source.quote is not None:
        require_text(source.quote, "source quote", MAX_HOST_CONTENT_CHARS)


def _check_mention(mention: EntityMention) -> None:
    if mention.kind not in ENTITY_KINDS:
        raise InvalidInput(f"unknown entity kind {mention.kind!r}; choose one of {ENTITY_KINDS}")
    if mention.role not in _LINK_ROLES:
        raise InvalidInput(f"unknown entity role {mention.role!r}; choose one of {_LINK_ROLES}")
    if mention.entity_id is not None:
        require_id(mention.entity_id, "entity_id", allow_slash=True)
    else:
        require_text(mention.text, "entity name", MAX_NAME_CHARS)


def _is_mention(mention: EntityMention) -> bool:
    try:
        _check_mention(mention)
    except InvalidInput:
        return False
    return True
