"""The text a model is shown for a search, in a frame that no record can forge."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from retold.models import SearchResponse, SearchResult

MIN_SHORT_ID_CHARS: Final = 8
_TOKEN_CHARS: Final = 12
_LINE_MARK: Final = "> "

_BREAKS: Final = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Zero-width joiners shape Persian and Indic words and emoji, but inside ASCII they only hide; every
# other format character can hide or reorder text.
_KEPT_FORMATS: Final = "\u200c\u200d"
_HIDING_JOINERS: Final = re.compile(
    f"(?:(?<=[\x00-\x7f])|(?<![^{_KEPT_FORMATS}]))[{_KEPT_FORMATS}]+|[{_KEPT_FORMATS}]+(?=[\x00-\x7f]|$)"
)
# Every forgery below holds one of these characters, a rule, ``mem_``, or begins like the frame.
_MARKS: Final = re.compile(r"[\[<|:]")
_OPENINGS: Final = re.compile(r"\s*(?:matched|conflicts|stands|searched|no memory)", re.IGNORECASE)
_FORGERIES: Final = (
    # A block header, and a short id as headers show it.
    (re.compile(r"\[(?=\s*mem_)", re.IGNORECASE), "("),
    (re.compile(r"(?<=mem)_(?=[0-9a-f-]{8})", re.IGNORECASE), "-"),
    # The frame's own words, at the start of a line.
    (
        re.compile(
            r"^(\s*)(matched|conflicts with|stands for|searched for|no memory)\b", re.IGNORECASE
        ),
        r"\1'\2'",
    ),
    (re.compile(r"-{3,}(?=\s*(?:end of )?recalled)", re.IGNORECASE), "- -"),
    # Who is speaking: role labels, chat template tokens, role and tool tags.
    (
        re.compile(
            r"^(\W*)(system|developer|user|human|assistant|tool|function)(\W{0,3}):", re.IGNORECASE
        ),
        r"\1\2\3 -",
    ),
    (re.compile(r"<(?=\|)"), "("),
    (re.compile(r"(?<=\|)>"), ")"),
    (re.compile(r"\[(?=/?(?:INST|SYS)\])"), "("),
    (re.compile(r"<(?=<SYS>>|</SYS>>|/?s>)", re.IGNORECASE), "("),
    (
        re.compile(
            r"<(?=/?(?:antml:)?\s*(?:system|developer|user|human|assistant|tool|function|memor|recall|"
            r"invoke|parameter|result|document|instruction)[^<>]{0,80}>)",
            re.IGNORECASE,
        ),
        "(",
    ),
)


def short_ids(record_ids: Iterable[str]) -> dict[str, str]:
    """Return for each id its shortest unambiguous ending, of at least eight characters.

    An ending, because ids made close together share their beginning. No ending returned is also
    the ending of another id given.
    """
    distinct = list(dict.fromkeys(record_ids))
    shared = Counter(one[-MIN_SHORT_ID_CHARS:] for one in distinct)
    return {
        one: ending if shared[ending := one[-MIN_SHORT_ID_CHARS:]] == 1 else _ending(one, distinct)
        for one in distinct
    }


def _ending(record_id: str, among: Iterable[str]) -> str:
    others = [other for other in among if other != record_id]
    for size in range(MIN_SHORT_ID_CHARS, len(record_id)):
        if not any(other.endswith(record_id[-size:]) for other in others):
            return record_id[-size:]
    return record_id


def render_response(response: SearchResponse) -> str:
    """Return the response as text: a header, one block per result, a closing line.

    The opening and closing lines carry a token made from the search id. Every line of a record
    begins with ``> ``, so whatever it says, it cannot end its block, begin another, or speak as
    the frame, the user or the assistant.
    """
    token = fence_token(response.search_id)
    shown = [result.record.id for result in response.results]
    others = [other for r in response.results for other in r.explanation.conflicts_with]
    ids = short_ids((*shown, *others))
    head = f"--- recalled memory {token} ---"
    lines = [head, *_header(response, token)]
    for result in response.results:
        lines += _block(result, ids, token)
    lines.append(f"--- end of recalled memory {token} ---")
    return "\n".join(lines)


def fence_token(search_id: str) -> str:
    """Return the hexadecimal token that fences the blocks of one search."""
    return hashlib.sha256(search_id.encode("utf-8", "replace")).hexdigest()[:_TOKEN_CHARS]


def neutralise(text: str, token: str) -> list[str]:
    """Return the text as lines without anything that looks like the frame or a speaker.

    Control, bidirectional and invisible characters are gone, lone surrogates replaced. Wording
    stays: only the characters that make a marker a marker change.
    """
    # Most texts are one line, which is seen sooner than every kind of break is looked for.
    lines = [text] if text.splitlines() == [text] else _BREAKS.split(text)
    return [_neutral_line(line, token) for line in lines]


def _header(response: SearchResponse, token: str) -> list[str]:
    lines = []
    if response.rewritten_queries is not None:
        pairs = zip(response.rewritten_queries, response.raw_queries, strict=True)
        lines += [
            f'searched for: "{_inline(new, token)}" (rewritten from "{_inline(raw, token)}")'
            for new, raw in pairs
            if new != raw
        ]
    if not response.results:
        lines.append(f"no memory found: {_inline(response.empty_reason or '', token)}")
    elif response.degraded:
        lines.append(f"incomplete, degraded: {_inline('; '.join(response.degraded), token)}")
    return lines


def _block(result: SearchResult, ids: Mapping[str, str], token: str) -> list[str]:
    record, why = result.record, result.explanation
    scope = f"{record.scope.kind}:{_inline(record.scope.id, token)}"
    head = (
        f"[mem_{ids[record.id]}] {record.type} · {record.status} · {record.source_kind} · "
        f"event {record.event_at.date().isoformat()} · scope {scope}"
    )
    tail = [why.summary]
    if why.group_size > 1:
        tail.append(f"stands for {why.group_size} records that say the same")
    if why.conflicts_with:
        others = ", ".join(f"mem_{ids[other]}" for other in why.conflicts_with)
        tail.append(f"conflicts with {others}")
    return [head, *(_LINE_MARK + line for line in neutralise(record.content, token)), *tail]


def _inline(text: str, token: str) -> str:
    """Return one line for use inside a frame line: no brackets, quotes or separators of ours."""
    line = " ".join(neutralise(text, token))
    return line.translate({ord("["): "(", ord("]"): ")", ord("·"): ".", ord('"'): "'"})


def _neutral_line(line: str, token: str) -> str:
    kept = line
    if not (line.isascii() and line.isprintable()):
        kept = _HIDING_JOINERS.sub("", "".join(map(_neutral_character, line)))
    kept = kept.replace(token, token[:4] + "…")
    if _may_forge(kept):
        for pattern, replacement in _FORGERIES:
            kept = pattern.sub(replacement, kept)
    return kept


def _may_forge(line: str) -> bool:
    """Return whether a line holds what some forgery needs; each test costs next to nothing."""
    return (
        "---" in line
        or "mem_" in line.lower()
        or _MARKS.search(line) is not None
        or _OPENINGS.match(line) is not None
    )


def _neutral_character(char: str) -> str:
    if char in _KEPT_FORMATS or (char.isascii() and char.isprintable()):
        return char
    category = unicodedata.category(char)
    if category == "Cs":
        return "\ufffd"
    if category in ("Cf", "Co"):
        return ""
    return " " if category in ("Cc", "Zl", "Zp") else char
