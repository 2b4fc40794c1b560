"""The second half of a prompt: what one session is, in frames that its text cannot forge; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from retold.ingest.extraction.replies import labels_of
from retold.ingest.extraction.transcript import (
    Line,
    Window,
    rendered_line,
    shortened_around,
)
from retold.ingest.subject import primary_mention
from retold.models import (
    CandidateRecord,
    ExtractionContext,
    KnownRecord,
    ReviewContext,
    ReviewItem,
    Turn,
)
from retold.text import locate_quote
from retold.text.blocks import as_line, estimate_tokens, framed

_NEIGHBOURS: Final = 1
"""Turns before and after the evidence turn that a reviewer sees."""


def extraction_input(
    window: Window, context: ExtractionContext, *, part: int, parts: int, max_candidates: int
) -> str:
    """Return what the extractor is asked about one window of a session.

    ``part`` counts from 1. Records carry the labels of ``labels_of(context.shown_records)``.
    """
    about = {"user_names": list(context.names), "max_candidates": max_candidates}
    if parts > 1:
        about |= {"part": part, "parts": parts, "lines_repeated_from_before": window.overlap}
    entities = ({"name": one.canonical, "kind": one.kind} for one in context.entities)
    records = (
        {"label": label, **_known(record)}
        for label, record in labels_of(context.shown_records).items()
    )
    return "\n\n".join(
        (
            framed("session", [as_line(about)]),
            framed("known entities", map(as_line, entities)),
            framed("known records", map(as_line, records)),
            window.text(),
        )
    )


def review_input(
    items: Sequence[tuple[int, ReviewItem]], context: ReviewContext, *, max_turn_tokens: int
) -> str:
    """Return what the reviewer is asked about some candidates, under their numbers.

    The transcript holds the evidence turns, their neighbours and the last turn before that names
    whom a claim is about, each turn once.
    """
    lines = _lines_around([item for _, item in items], context.transcript, max_turn_tokens)
    line_of = {_place(line.turn): line.number for line in lines}
    candidates = (
        {"candidate": number, **_proposed(item.candidate), "line": line_of.get(_place(item.turn))}
        for number, item in items
    )
    records = (
        {"for_candidate": number, **_known(record)}
        for number, item in items
        for record in item.live_records
    )
    return "\n\n".join(
        (
            framed("session", [as_line({"user_names": list(context.names)})]),
            framed("transcript", (line.rendered for line in lines)),
            framed("stored records", map(as_line, records)),
            framed("candidates", map(as_line, candidates)),
        )
    )


def review_cost(item: ReviewItem, context: ReviewContext, *, max_turn_tokens: int) -> int:
    """Return an upper estimate of the tokens that one candidate adds to a review."""
    return estimate_tokens(review_input([(1, item)], context, max_turn_tokens=max_turn_tokens))


def _lines_around(
    items: Sequence[ReviewItem], transcript: Sequence[Turn], max_turn_tokens: int
) -> tuple[Line, ...]:
    """Return the shown turns with the numbers they have in the whole transcript."""
    at = {_place(turn): index for index, turn in enumerate(transcript)}
    wanted: dict[int, list[str]] = {}
    for item in items:
        index = at.get(_place(item.turn))
        if index is None:
            continue
        for near in range(index - _NEIGHBOURS, index + _NEIGHBOURS + 1):
            if 0 <= near < len(transcript):
                wanted.setdefault(near, [])
        named = _line_that_names(item.candidate, transcript[:index])
        if named is not None:
            wanted.setdefault(named, [])
        wanted[index].append(item.candidate.evidence)
    return tuple(
        _line(index + 1, transcript[index], quotes, max_turn_tokens)
        for index, quotes in sorted(wanted.items())
    )


def _line_that_names(candidate: CandidateRecord, earlier: Sequence[Turn]) -> int | None:
    """Return the place of the last turn that names whom a claim is about; None when none does.

    Without it a reviewer could not tell whom "she" means.
    """
    about = primary_mention(candidate.mentions)
    if about is None or about.text.casefold() in candidate.evidence.casefold():
        return None
    places = range(len(earlier) - 1, -1, -1)
    name = about.text.casefold()
    return next((place for place in places if name in earlier[place].content.casefold()), None)


def _line(number: int, turn: Turn, quotes: Iterable[str], max_turn_tokens: int) -> Line:
    spans = [span for quote in quotes if (span := locate_quote(quote, turn.content)) is not None]
    text, missing = shortened_around(turn.content, spans, max_turn_tokens)
    return Line(number, turn, rendered_line(number, turn, text), missing)


def _place(turn: Turn) -> tuple[str, int]:
    return turn.session_id, turn.turn


def _known(record: KnownRecord) -> Mapping[str, object]:
    return {
        "type": record.type,
        "about": record.about or "the user",
        "attribute": record.attribute,
        "content": record.content,
    }


def _proposed(candidate: CandidateRecord) -> Mapping[str, object]:
    moments = {
        name: moment.isoformat()
        for name in ("event_at", "valid_from", "valid_until", "review_at")
        if isinstance(moment := getattr(candidate, name), datetime)
    }
    about = [mention.text for mention in candidate.mentions if mention.role == "about"]
    return {
        "type": candidate.type,
        "content": candidate.content,
        "about": about[0] if about else "the user",
        "attribute": candidate.attribute,
        "source_kind": candidate.source_kind,
        "quote": candidate.evidence,
        **moments,
        "confidence": candidate.confidence,
    }
