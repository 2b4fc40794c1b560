"""The text of a tool's answer; no record, name, tag or id can forge its frame.

What people or records say stands on lines that begin with ``> ``, or as a JSON string inside a
line of ours, after the same neutralising that search results get.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from retold.models import Entity, WriteKind, WriteResult
from retold.retrieve.lookup import RecordView
from retold.retrieve.render import fence_token, neutralise, short_ids
from retold.tools.shown import PREFIX

MAX_INLINE_CHARS: Final = 2_000
_QUOTED: Final = "> "
_WORD: Final = re.compile(r"[\w.:/@+~-]{1,120}")

_BECAME: Final[Mapping[WriteKind, str]] = {
    "created": "stored {this}",
    "reinforced": "known already as {this}; noted as one more observation of it",
    "already_reinforced": "known already as {this}; nothing new backs it, so nothing changed",
    "superseded": "stored {this}, which replaces {others}",
    "superseded_on_arrival": "stored {this} as history: {others} is newer and stays current",
    "conflict": "stored {this} as unconfirmed: it contradicts {others}, which has more authority; "
    "both stay visible, so ask the user which is right",
    "flagged": "stored {this}; it may disagree with {others}, and both stay visible",
}
_HELP: Final = {
    "evidence not provided": "quote the user's words as evidence",
    "evidence not found in session": "copy the quote from one message of this conversation",
    "evidence too short": "quote a whole sentence, or a whole message",
    "evidence does not support claim": "quote words that state exactly this, or ask the user",
    "downgraded from": "quote the user's own words for what the user stated",
    "ambiguous_mention": "several entities carry a mentioned name, so it is not linked; "
    "memory_get shows the entity_id of each",
    "attribute_ignored": "an episode replaces nothing and has no attribute; store the value that "
    "holds now as a semantic memory too",
}
"""What a model can do about a note."""


def result_text(name: str, token: str, lines: Sequence[str]) -> str:
    """Return the text of a change that was made; the first line says what became of it."""
    return "\n".join((f"{name} result {token}: {lines[0]}", *lines[1:]))


def write_lines(result: WriteResult, activation: str, token: str) -> list[str]:
    """Return what became of a write."""
    ids = short_ids((result.record_id, *result.other_ids))
    others = ", ".join(PREFIX + ids[one] for one in result.other_ids) or "another record"
    lines = [
        _BECAME[result.kind].format(this=PREFIX + ids[result.record_id], others=others),
        f"status {result.status} · source {result.source_kind} · activation {activation}",
    ]
    if result.note is not None:
        helps = [text for note, text in _HELP.items() if note in result.note]
        lines.append("; ".join((f"note: {inline(result.note, token)}", *helps)))
    if result.status == "provisional":
        lines.append("unconfirmed: it expires unless it is confirmed")
    return lines


def get_text(
    found: Sequence[RecordView],
    related: Mapping[str, RecordView],
    entities: Mapping[str, Entity],
    missing: Sequence[str],
    *,
    frame_id: str,
) -> str:
    """Return records in full, each with its other versions and the records it disagrees with.

    ``related`` holds other versions and conflicting records by id, as far as they are shown in
    full here; ``missing`` the ids that were asked for in vain, as the model wrote them.
    """
    token = fence_token(frame_id)
    ids = short_ids(one for view in found for one in related_ids(view))
    lines = [f"--- recalled memory {token} ---"]
    for view in found:
        lines += _record(view, ids, entities, token)
        lines += _related(view, related, ids, token, here={one.id for one in found})
    if missing:
        named = ", ".join(inline(one.removeprefix(PREFIX), token) for one in missing)
        lines.append(f"not found: {named}")
    lines.append(f"--- end of recalled memory {token} ---")
    return "\n".join(lines)


def related_ids(view: RecordView) -> tuple[str, ...]:
    """Return the ids that a record's block shows, its own first."""
    others = (*view.lineage, *(conflict.record_id for conflict in view.conflicts))
    return (view.id, *(one for one in dict.fromkeys(others) if one != view.id))


def error_text(name: str, token: str, error: Mapping[str, Any]) -> str:
    """Return an error as a model can act on it: code, message, fields, choices, an example."""
    lines = [f"{name} error {token}: {error['code']}: {inline_text(error['message'], token)}"]
    for problem in error.get("problems", ()):
        field, message = inline(problem["field"], token), inline_text(problem["message"], token)
        lines.append(f"- {field}: {message}{_choices(problem, token)}")
    if "allowed" in error:
        lines.append(f"-{_choices(error, token)}")
    lines += [
        f"- entity_id {inline(one['entity_id'], token)}: {one['kind']} "
        f"{quoted(one['canonical'], token)} in {inline(one['scope'], token)}"
        for one in error.get("candidates", ())
    ]
    if "example" in error:
        lines.append(f"example: {json.dumps(error['example'], ensure_ascii=False)}")
    return "\n".join(lines)


def inline(text: str, token: str) -> str:
    """Return a text for use inside a line of ours: as it is when it is one plain word."""
    return text if _WORD.fullmatch(text) and "mem_" not in text else quoted(text, token)


def quoted(text: str, token: str) -> str:
    """Return a text as a JSON string on one line, neutralised and cut."""
    return json.dumps(inline_text(text, token), ensure_ascii=False)


def inline_text(text: str, token: str) -> str:
    """Return a message as one line, neutralised and cut."""
    line = " ".join(neutralise(text, token))
    return line if len(line) <= MAX_INLINE_CHARS else line[: MAX_INLINE_CHARS - 1] + "…"


def _record(
    view: RecordView, ids: Mapping[str, str], entities: Mapping[str, Entity], token: str
) -> list[str]:
    lines = _head_and_content(view, ids, token)
    if view.tombstone:
        return lines
    facts = [f"noted {view.created_at.date().isoformat()}", f"seen again {view.reinforcements}x"]
    if view.attribute is not None:
        facts.append(f"attribute {inline(view.attribute, token)}")
    if view.expires_at is not None:
        facts.append(f"expires {view.expires_at.date().isoformat()}")
    if view.tags:
        facts.append(f"tags {_listed(view.tags, token)}")
    lines.append(" · ".join(facts))
    for entity_id in view.entity_ids:
        if entity_id in entities:
            entity = entities[entity_id]
            lines.append(f"entity_id {entity.id}: {entity.kind} {quoted(entity.canonical, token)}")
    if view.evidence is not None:
        state = "checked" if view.evidence_supported else "kept for audit, does not back the claim"
        source = f" from {inline(view.source_ref, token)}" if view.source_ref else ""
        lines += [f"evidence, {state}{source}:", *_spoken(view.evidence, token)]
    return lines


def _related(
    view: RecordView,
    related: Mapping[str, RecordView],
    ids: Mapping[str, str],
    token: str,
    *,
    here: Collection[str],
) -> list[str]:
    """Return the other versions and the conflicting records, each once in full in an answer."""
    own_place = view.lineage.index(view.id) if view.id in view.lineage else 0
    named = [
        ("earlier version" if place < own_place else "later version", one)
        for place, one in enumerate(view.lineage)
        if one != view.id
    ]
    named += [
        ("conflicts with" if conflict.unresolved else "conflicted with", conflict.record_id)
        for conflict in view.conflicts
    ]
    lines = []
    for label, one in named:
        if one in related or one in here:
            lines.append(f"{label} {PREFIX}{ids[one]}")
        if one in related:
            lines += _head_and_content(related[one], ids, token)
    left_out = sum(one not in related and one not in here for _, one in named)
    return [*lines, f"{left_out} more versions or conflicts are not shown"] if left_out else lines


def _head_and_content(view: RecordView, ids: Mapping[str, str], token: str) -> list[str]:
    head = (
        f"[{PREFIX}{ids[view.id]}] {view.type} · {view.status} · {view.source_kind} · "
        f"event {view.event_at.date().isoformat()} · scope {inline(str(view.scope), token)}"
    )
    if view.content is None:
        return [head, "forgotten: nothing of it is shown any more"]
    return [head, *_spoken(view.content, token)]


def _spoken(text: str, token: str) -> list[str]:
    return [_QUOTED + line for line in neutralise(text, token)]


def _listed(texts: Iterable[str], token: str) -> str:
    return ", ".join(quoted(text, token) for text in texts)


def _choices(problem: Mapping[str, Any], token: str) -> str:
    if not problem.get("allowed"):
        return ""
    return f" (allowed: {', '.join(inline(one, token) for one in problem['allowed'])})"
