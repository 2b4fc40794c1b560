"""The two formats of transcript files, each read as a stream of turns."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final, Literal, get_args

from retold.errors import InvalidInput
from retold.ingest.history import PastTurn
from retold.ingest.turns import SILENT_ROLES, NewTurn
from retold.models import TURN_ROLES
from retold.operations.json_stream import JsonStream
from retold.store.codec import require_aware

TranscriptFormat = Literal["cases", "jsonl"]
TRANSCRIPT_FORMATS: tuple[TranscriptFormat, ...] = get_args(TranscriptFormat)

JSONL_FIELDS: Final = ("session", "role", "content", "at", "name", "tool_name", "id")
USER_SPEAKER: Final = "User"
"""Who speaks as the user in files that name nobody."""

_MONTHS: Final = (
    "january february march april may june july august september october november december"
).split()
_SPOKEN: Final = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d) (?P<half>[ap])m on "
    r"(?P<day>\d{1,2}) (?P<month>[a-z]+),? (?P<year>\d{4})",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(r"\s*\(\w+\)$")


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """One turn of a file. ``past`` None is a message that no transcript keeps.

    ``place`` says where it stands, and ``fields`` how the file calls the fields of a turn.
    """

    past: PastTurn | None
    place: str
    fields: Mapping[str, str]


Reader = Callable[[JsonStream, frozenset[str]], Iterator[ReadTurn]]

_CASE_FIELDS: Final = MappingProxyType(
    {"session_id": "session", "external_key": "id", "content": "text", "name": "speaker"}
)
_LINE_FIELDS: Final = MappingProxyType({"session_id": "session", "external_key": "id"})


def speaker_key(name: str) -> str:
    """Return the form in which names of speakers are compared."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def speaker_keys(names: Iterable[str]) -> frozenset[str]:
    """Return the forms of these names and of ``User``."""
    return frozenset(speaker_key(name) for name in (*names, USER_SPEAKER))


def refused(place: str, field: str, advice: str) -> InvalidInput:
    """Return the refusal of one field; ``placed`` in the details tells that it says where."""
    return InvalidInput(f"{place}, field `{field}`: {advice}", field=field, placed=True)


def read_cases(stream: JsonStream, ours: frozenset[str]) -> Iterator[ReadTurn]:
    """Yield the turns of a cases file. ``ours`` are the ``speaker_keys`` of the user.

    Other speakers are assistants with their name. Times without a zone are UTC. A turn without a
    time takes that of the turn before it in its session. Raises InvalidInput.
    """
    while stream.next_document():
        case_id, has_turns = None, False
        for name in stream.members():
            if name == "id":
                case_id = _text(stream.value(), f"line {stream.line}", "id")
            elif name == "turns" and case_id is None:
                raise refused(f"line {stream.line}", "id", "it is missing before `turns`")
            elif name == "turns":
                has_turns = True
                yield from _case_turns(stream, str(case_id), ours)
            else:
                stream.skip()
        if not has_turns:
            advice = "it is missing; a file with one turn a line is of the format jsonl"
            raise refused(f"line {stream.line}", "turns", advice)
        stream.end_document()


def read_jsonl(stream: JsonStream, ours: frozenset[str]) -> Iterator[ReadTurn]:
    """Yield the turns of a file with one turn a line; ``ours`` does not matter to it.

    A turn without ``at`` takes that of the line before it when both are of one session. Without
    an ``id`` its key is made of the line's number and content. Raises InvalidInput.
    """
    before: tuple[str, datetime | None] = ("", None)
    while stream.next_document():
        place = f"line {stream.line}"
        row = _object(stream.value(), place)
        stream.end_document()
        for name in row:
            if name not in JSONL_FIELDS:
                raise InvalidInput(
                    f"{place}: unknown field {name[:40]!r}; a line has {', '.join(JSONL_FIELDS)}",
                    placed=True,
                )
        session = _text(row.get("session"), place, "session")
        if row.get("role") in SILENT_ROLES:
            yield ReadTurn(None, place, _LINE_FIELDS)
            continue
        role = row.get("role")
        if role not in TURN_ROLES:
            raise refused(place, "role", f"choose one of {', '.join(TURN_ROLES)}")
        at = _moment(row.get("at"), place) or (before[1] if before[0] == session else None)
        before = (session, at)
        content = _text(row.get("content"), place, "content", may_be_blank=True)
        new = NewTurn(
            role,
            content,
            at=at,
            name=_optional(row.get("name"), place, "name"),
            tool_name=_optional(row.get("tool_name"), place, "tool_name"),
            external_key=_optional(row.get("id"), place, "id") or _line_key(stream.line, content),
        )
        yield ReadTurn(PastTurn(session, new), place, _LINE_FIELDS)


READERS: Final[Mapping[TranscriptFormat, Reader]] = MappingProxyType(
    {"cases": read_cases, "jsonl": read_jsonl}
)


def parse_case_time(text: str) -> datetime | None:
    """Return the moment that a case writes; None for a blank and for no time at all.

    ``8 May, 2023`` after ``1:56 pm on``, ISO 8601, or a date with its weekday; UTC where there is
    no offset. Raises ValueError.
    """
    plain = _WEEKDAY.sub("", text.strip())
    if not plain:
        return None
    spoken = _SPOKEN.fullmatch(plain)
    if spoken is None:
        moment = datetime.fromisoformat(plain)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    # Not strptime, whose names of months follow the locale of the process.
    return datetime(
        int(spoken["year"]),
        _MONTHS.index(spoken["month"].lower()) + 1,
        int(spoken["day"]),
        int(spoken["hour"]) % 12 + (12 if spoken["half"].lower() == "p" else 0),
        int(spoken["minute"]),
        tzinfo=UTC,
    )


def _case_turns(stream: JsonStream, case_id: str, ours: frozenset[str]) -> Iterator[ReadTurn]:
    before: tuple[str, datetime | None] = ("", None)
    for number, _ in enumerate(stream.items(), start=1):
        place = f"line {stream.line}, turn {number}"
        row = _object(stream.value(), place)
        session = _optional(row.get("session"), place, "session") or ""
        session_id = f"{case_id}/{session}" if session.strip() else case_id
        speaker = (_optional(row.get("speaker"), place, "speaker") or "").strip()
        at = _case_moment(row.get("time"), place) or (before[1] if before[0] == session else None)
        before = (session, at)
        is_ours = speaker_key(speaker) in ours
        new = NewTurn(
            "user" if is_ours else "assistant",
            _text(row.get("text"), place, "text", may_be_blank=True),
            at=at,
            name=speaker or None,
            external_key=_text(row.get("id"), place, "id"),
        )
        yield ReadTurn(PastTurn(session_id, new), place, _CASE_FIELDS)


def _object(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{place}: it is no JSON object", placed=True)
    return value


def _text(value: object, place: str, field: str, *, may_be_blank: bool = False) -> str:
    if not isinstance(value, str):
        state = "missing" if value is None else "no text"
        raise refused(place, field, f"it is {state}; give a string")
    if not (may_be_blank or value.strip()):
        raise refused(place, field, "it is blank")
    return value


def _optional(value: object, place: str, field: str) -> str | None:
    """Return the text of a field that may be left out, null or blank."""
    if value is None:
        return None
    return _text(value, place, field, may_be_blank=True) or None


def _case_moment(value: object, place: str) -> datetime | None:
    text = _optional(value, place, "time") or ""
    try:
        return parse_case_time(text)
    except ValueError:
        raise refused(
            place, "time", "it is no time; write 2023-05-08, 2023-05-08T13:56:00+00:00 or "
            "1:56 pm on 8 May, 2023"
        ) from None  # fmt: skip


def _moment(value: object, place: str) -> datetime | None:
    text = _optional(value, place, "at")
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise refused(
            place, "at", "it is no ISO 8601 moment, such as 2026-03-19T09:30:00+00:00"
        ) from None
    try:
        return require_aware(moment)
    except InvalidInput as wrong:
        raise refused(place, "at", wrong.message) from None


def _line_key(number: int, content: str) -> str:
    """Return the key of a turn without one: the same line of the same file gives it again."""
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return f"line-{number}-{digest[:16]}"
