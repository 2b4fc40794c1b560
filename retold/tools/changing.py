"""The tools that change what is stored: memory_write, memory_revise and memory_forget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retold.errors import InvalidSubject, NotFound
from retold.models import EntityMention, Record, WriteRequest, WriteResult
from retold.policy.activation import activation_of
from retold.retrieve.render import fence_token, short_ids
from retold.tools import answers, parsing, render
from retold.tools.caller import Answer, Caller, not_found
from retold.tools.inputs import (
    ConfirmInput,
    EntityInput,
    ExpireInput,
    MergeInput,
    SupersedeInput,
    WriteInput,
)
from retold.tools.shown import PREFIX, bare_id


def write(caller: Caller, arguments: Mapping[str, Any], frame_id: str) -> Answer:
    """Answer memory_write. Raises the RequestError of a refusal; then nothing was stored."""
    given = parsing.parse_write(arguments)
    if given.attribute is None and given.type != "episodic":
        raise InvalidSubject(
            f"a {given.type} memory needs an attribute: the name of the one current value it is, "
            "such as home_city",
            field="attribute",
        )
    result = caller.parts.ingestor.write(caller.principal, _request(caller, given))
    return _written(caller, "memory_write", result, frame_id)


def revise(caller: Caller, arguments: Mapping[str, Any], frame_id: str) -> Answer:
    """Answer memory_revise, whichever of its four shapes. Raises as ``write``."""
    given = parsing.parse_revise(arguments)
    if isinstance(given, MergeInput):
        return _merge(caller, given, frame_id)
    record_id = caller.full_id(given.id, "id")
    try:
        return _revised(caller, given, record_id, frame_id)
    except NotFound:
        raise not_found([given.id]) from None


def forget(caller: Caller, arguments: Mapping[str, Any], frame_id: str) -> Answer:
    """Answer memory_forget. Raises as ``write``."""
    given = parsing.parse_forget(arguments)
    record_id = caller.full_id(given.id, "id")
    try:
        record = caller.parts.revision.forget(caller.principal, record_id, reason=given.reason)
    except NotFound:
        raise not_found([given.id]) from None
    return _changed(caller, "memory_forget", record, frame_id)


def _request(caller: Caller, given: WriteInput) -> WriteRequest:
    with caller.parts.store.read() as tx:
        scope = caller.targets.resolve(tx, given.write_target)
    return WriteRequest(
        type=given.type,
        content=given.content,
        attribute=given.attribute,
        scope=scope,
        source_kind=given.source_kind,
        evidence=given.evidence,
        mentions=tuple(map(_mention, given.entities)),
        event_at=given.event_at,
        tags=tuple(given.tags),
    )


def _mention(given: EntityInput) -> EntityMention:
    return EntityMention(given.kind, given.name, given.role, given.entity_id)


def _revised(
    caller: Caller,
    given: ConfirmInput | SupersedeInput | ExpireInput,
    record_id: str,
    frame_id: str,
) -> Answer:
    revision, who, reason = caller.parts.revision, caller.principal, given.reason
    if isinstance(given, SupersedeInput):
        result = revision.supersede(
            who,
            record_id,
            content=given.content,
            reason=reason,
            source_kind=given.source_kind,
            quote=given.evidence,
            evidence_turn=given.evidence_turn,
        )
        return _written(caller, "memory_revise", result, frame_id)
    if isinstance(given, ConfirmInput):
        record = revision.confirm(
            who, record_id, reason=reason, quote=given.evidence, trusted=False
        )
    else:
        record = revision.expire(who, record_id, reason=reason)
    return _changed(caller, "memory_revise", record, frame_id)


def _merge(caller: Caller, given: MergeInput, frame_id: str) -> Answer:
    source = bare_id(given.entity_id, "entity_id")
    target = bare_id(given.merge_into, "merge_into")
    touched = caller.parts.revision.merge(caller.principal, source, target, reason=given.reason)
    token = fence_token(frame_id)
    line = (
        f"merged {render.inline(source, token)} into {render.inline(target, token)}; "
        f"{len(touched)} records of yours are about it or mention it now"
    )
    return render.result_text("memory_revise", token, [line]), answers.plain_object(
        {"outcome": "merged", "entity_id": source, "merge_into": target, "record_ids": touched}
    )


def _written(caller: Caller, name: str, result: WriteResult, frame_id: str) -> Answer:
    activation, reason = activation_of(caller.parts.activator, caller.principal, result.record_id)
    caller.note((result.record_id, *result.other_ids))
    token = fence_token(frame_id)
    text = render.result_text(name, token, render.write_lines(result, activation, token))
    return text, answers.plain_object(
        {
            "record_id": result.record_id,
            "status": result.status,
            "outcome": result.outcome,
            "note": result.note,
            "source_kind": result.source_kind,
            "other_ids": result.other_ids,
            "activation": activation,
            "activation_reason": reason,
            "timings_ms": result.timings_ms,
        }
    )


def _changed(caller: Caller, name: str, record: Record, frame_id: str) -> Answer:
    caller.note((record.id,))
    outcome = "forgotten" if record.status == "deleted" else record.status
    short = PREFIX + short_ids((record.id,))[record.id]
    text = render.result_text(name, fence_token(frame_id), [f"{short} is {outcome} now"])
    return text, {"record_id": record.id, "status": record.status, "outcome": outcome}
