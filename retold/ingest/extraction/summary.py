"""The one text that tells what happened in a session; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from retold.ingest.extraction.instructions import speaks_to_reader
from retold.ingest.extraction.transcript import eligible_turns
from retold.models import SessionSummary, Turn
from retold.text import excerpt, normalize_ws
from retold.text.frames import holds_memory_output

DECISIONS: Final = "Decisions: "
_OPENING_CHARS: Final = 200


def summary_text(
    summary: SessionSummary | None, turns: Sequence[Turn], *, max_chars: int
) -> str | None:
    """Return what to store for a session, on one or two lines of ``max_chars`` in all.

    Without a usable summary it is made of how the session began. None when there is nothing to
    tell: no turn that is neither blanked nor the memory's own.
    """
    if summary is None or not _is_usable(summary.content):
        return plain_summary(turns, max_chars=max_chars)
    decisions = [normalize_ws(one) for one in summary.decisions if _is_usable(one)]
    content = normalize_ws(summary.content)
    if not decisions:
        return excerpt(content, max_chars)
    line = excerpt(DECISIONS + "; ".join(decisions), max_chars // 2)
    room = max_chars - len(line) - len("\n")
    return f"{excerpt(content, room)}\n{line}" if room > 0 else excerpt(content, max_chars)


def plain_summary(turns: Sequence[Turn], *, max_chars: int) -> str | None:
    """Return a summary made without a model: how long the session was and how it began."""
    shown = eligible_turns(turns)
    usable = [turn for turn in shown if not speaks_to_reader(turn.content)]
    if not shown:
        return None
    count = f"{len(shown)} turns" if len(shown) > 1 else "one turn"
    first = next((turn for turn in usable if turn.role == "user"), None)
    if first is None:
        return excerpt(f"A session of {count}.", max_chars)
    opening = excerpt(first.content, _OPENING_CHARS)
    return excerpt(f'A session of {count} that the user began with: "{opening}"', max_chars)


def joined_summary(parts: Iterable[SessionSummary | None]) -> SessionSummary | None:
    """Return the summaries of a session's windows as one; None when there is none."""
    found = [part for part in parts if part is not None]
    if not found:
        return None
    decisions = dict.fromkeys(each for part in found for each in part.decisions)
    return SessionSummary(" ".join(part.content for part in found), tuple(decisions))


def _is_usable(text: str) -> bool:
    return bool(text.strip()) and not holds_memory_output(text) and not speaks_to_reader(text)
