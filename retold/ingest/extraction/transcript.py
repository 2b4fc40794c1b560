"""A transcript as a model is shown it: one JSON line per turn, in a frame no turn can forge.

JSON escapes line breaks and quote marks, so the text of a turn can neither end its line nor begin
another one, whatever it says about the end of the transcript.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from itertools import pairwise
from typing import Final

from retold.ingest.evidence import ForgottenSpan
from retold.models import LeftOut, Turn
from retold.text.blocks import as_line, estimate_tokens, framed

MIN_TURNS: Final = 2
"""A session of fewer turns gets a summary and no candidates (LLD 8.2)."""

_FORGOTTEN: Final = "[…]"
_LINE_TOKENS: Final = 40
"""What a line costs beside its text: number, role, name and time."""


@dataclass(frozen=True, slots=True)
class TranscriptBudget:
    """How much of a session a model is shown, in estimated tokens.

    A turn longer than ``max_turn_tokens`` is cut in its middle. A transcript longer than
    ``max_window_tokens`` is shown in windows, at most ``max_windows`` of them.
    """

    max_turn_tokens: int
    max_window_tokens: int
    max_windows: int


@dataclass(frozen=True, slots=True)
class Line:
    """One turn under the number by which the model cites it."""

    number: int
    turn: Turn
    rendered: str = field(repr=False)
    chars_missing: int = 0

    @property
    def tokens(self) -> int:
        """Return an upper estimate of what the line costs."""
        return estimate_tokens(self.rendered)


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive lines of one call. ``overlap`` of the first ones were in the window before."""

    lines: tuple[Line, ...]
    overlap: int = 0

    def text(self) -> str:
        """Return the framed lines."""
        return framed("transcript", (line.rendered for line in self.lines))


def eligible_turns(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Return the turns that may be shown and quoted: dialogue and results of tools, not blanked."""
    return tuple(turn for turn in turns if turn.is_evidence and turn.content.strip())


def without_spans(turns: Iterable[Turn], spans: Collection[ForgottenSpan]) -> tuple[Turn, ...]:
    """Return the turns with a mark in place of words that were forgotten.

    Turns that hold nothing else any more are left out. A quote across a mark is found nowhere.
    """
    kept = []
    for turn in turns:
        cuts = sorted(
            span for place, at, span in spans if (place, at) == (turn.session_id, turn.turn)
        )
        text = _cut_out(turn.content, cuts) if cuts else turn.content
        if not cuts or any(char.isalnum() for char in text):
            kept.append(replace(turn, content=text))
    return tuple(kept)


def _cut_out(text: str, spans: Sequence[tuple[int, int]]) -> str:
    shown, at = "", 0
    for start, end in spans:
        if end > at:
            shown += text[at : max(start, at)] + _FORGOTTEN
            at = end
    return shown + text[at:]


def lines_of(turns: Sequence[Turn], max_turn_tokens: int) -> tuple[Line, ...]:
    """Return the eligible turns as numbered lines, the longest ones cut in their middle."""
    lines = []
    for number, turn in enumerate(eligible_turns(turns), start=1):
        text, missing = shortened_around(turn.content, (), max_turn_tokens)
        lines.append(Line(number, turn, rendered_line(number, turn, text), missing))
    return tuple(lines)


def rendered_line(number: int, turn: Turn, text: str) -> str:
    """Return one line of JSON for a turn: its number, role, time, name and text."""
    shown = {"line": number, "role": turn.role, "at": _moment(turn)}
    if turn.tool_name is not None:
        shown["tool"] = turn.tool_name
    if turn.name is not None:
        shown["name"] = turn.name
    return as_line({**shown, "text": text})


def windows_of(
    turns: Sequence[Turn], budget: TranscriptBudget
) -> tuple[tuple[Window, ...], tuple[LeftOut, ...]]:
    """Return the windows of a session, and what no window shows with the reason.

    Every window but the first repeats the last line before it, so that an answer is never parted
    from its question. A session without eligible turns has no window.
    """
    lines = lines_of(turns, budget.max_turn_tokens)
    windows: list[Window] = []
    rest = list(lines)
    while rest and len(windows) < budget.max_windows:
        window, rest = _next_window(windows[-1] if windows else None, rest, budget)
        windows.append(window)
    over = [LeftOut(line.turn.turn, "over_budget", len(line.turn.content)) for line in rest]
    seen = lines[: len(lines) - len(rest)]
    cut = [
        LeftOut(each.turn.turn, "cut", each.chars_missing) for each in seen if each.chars_missing
    ]
    left_out = (*_ineligible(turns), *cut, *over)
    return tuple(windows), tuple(sorted(left_out, key=lambda each: each.turn))


def shortened_around(
    text: str, spans: Sequence[tuple[int, int]], max_turn_tokens: int
) -> tuple[str, int]:
    """Return a text cut to a budget, with gaps marked, and how many characters are missing.

    Kept are the surroundings of the spans, or without spans its beginning and its end.
    """
    room = max(max_turn_tokens - _LINE_TOKENS, 1)
    if estimate_tokens(text) <= room:
        return text, 0
    centres = [(start + end) // 2 for start, end in spans] or [0, len(text)]
    widest = max((end - start for start, end in spans), default=0)
    reach = max(len(text) * room // estimate_tokens(text) // len(centres) // 2, widest // 2 + 1)
    pieces = _pieces(len(text), centres, reach if spans else reach * 2)
    while not spans and reach > 1 and _cost(text, pieces) > room:
        reach -= max(reach // 10, 1)
        pieces = _pieces(len(text), centres, reach * 2)
    missing = len(text) - sum(end - start for start, end in pieces)
    return _joined(text, pieces), missing


def _next_window(
    before: Window | None, rest: list[Line], budget: TranscriptBudget
) -> tuple[Window, list[Line]]:
    """Return the next window, of at least one new line, and the lines after it."""
    lines: list[Line] = []
    used = 0
    if before is not None and before.lines[-1].tokens + rest[0].tokens <= budget.max_window_tokens:
        lines.append(before.lines[-1])
        used = lines[0].tokens
    overlap = len(lines)
    for line in rest:
        if len(lines) > overlap and used + line.tokens > budget.max_window_tokens:
            break
        lines.append(line)
        used += line.tokens
    return Window(tuple(lines), overlap), rest[len(lines) - overlap :]


def _ineligible(turns: Sequence[Turn]) -> list[LeftOut]:
    return [
        LeftOut(
            turn.turn, "blank" if not turn.content.strip() else "not_evidence", len(turn.content)
        )
        for turn in turns
        if not (turn.is_evidence and turn.content.strip())
    ]


def _pieces(length: int, centres: Sequence[int], reach: int) -> list[tuple[int, int]]:
    """Return the ranges within reach of the centres, those that touch as one."""
    pieces: list[tuple[int, int]] = []
    for centre in sorted(centres):
        start, end = max(centre - reach, 0), min(centre + reach, length)
        if pieces and start <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(end, pieces[-1][1]))
        else:
            pieces.append((start, end))
    return pieces


def _cost(text: str, pieces: Sequence[tuple[int, int]]) -> int:
    return sum(estimate_tokens(text[start:end]) for start, end in pieces)


def _joined(text: str, pieces: Sequence[tuple[int, int]]) -> str:
    bounds = [(0, 0), *pieces, (len(text), len(text))]
    shown = ""
    for (_, before), (start, end) in pairwise(bounds):
        if start > before:
            shown += f" […{start - before} characters left out…] "
        shown += text[start:end]
    return shown.strip()


def _moment(turn: Turn) -> str:
    return turn.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ %A")
