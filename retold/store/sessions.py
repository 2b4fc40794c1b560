"""Conversations, their segments and their turns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from retold.errors import InvalidInput, NotFound
from retold.models import (
    EVIDENCE_ORIGINS,
    EndedBy,
    Principal,
    Session,
    Turn,
    TurnOrigin,
    TurnRole,
)
from retold.store.codec import from_text, from_text_or_none, to_json, to_text
from retold.store.queries import load_queries
from retold.text import require_id

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("sessions")

SEGMENT_MARK = "~"
"""Separated segment numbers in files of version 1; supplied ids may not contain it."""


@dataclass(frozen=True, slots=True)
class SegmentOverview:
    """One segment with what its turns span, for an operator.

    ``first_at`` and ``last_at`` are the turns' own times, which an import keeps; None without
    turns. ``recorded`` False means that the segment keeps no transcript.
    """

    session: Session
    recorded: bool
    turns: int
    first_at: datetime | None
    last_at: datetime | None


class Recording(NamedTuple):
    """The internal id of a segment, and whether it keeps a transcript."""

    session_id: str
    is_recorded: bool


class SessionRepository:
    """A conversation is what a host calls one session; each idle gap starts a new segment of it.

    ``session_id`` is the internal id of a segment, ``external_id`` the host's id of the whole.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def start(self, principal: Principal, external_id: str, *, recorded: bool = True) -> Session:
        """Return the open segment of the principal's conversation, made if there is none.

        An ended conversation continues as its next segment, in its first project. An open segment
        that keeps a transcript when it must not, or the other way round, ends and continues so
        too: ``recorded`` holds from now on. Raises InvalidInput for an id that is no identifier or
        contains ``~``.
        """
        require_id(external_id, "session_id", allow_slash=True)
        if SEGMENT_MARK in external_id:
            raise InvalidInput(
                f"`session_id` contains {SEGMENT_MARK!r}; choose an id without it",
                field="session_id",
            )
        latest = self.latest(principal.agent_id, principal.user_id, external_id)
        if latest is not None:
            return self._resumed(latest, recorded=recorded)
        session_id = self._tx.new_id()
        self._tx.run(
            QUERIES["insert"],
            {
                "id": session_id,
                "external_id": external_id,
                "segment": 1,
                "conversation_id": session_id,
                "agent_id": principal.agent_id,
                "user_id": principal.user_id,
                "project_id": principal.project_id,
                "recorded": int(recorded),
                "started_at": to_text(self._tx.now),
            },
        )
        return self.require(session_id)

    def get(self, session_id: str) -> Session | None:
        """Return one segment; None when absent."""
        row = self._tx.one(QUERIES["get"], {"id": session_id})
        return None if row is None else _session(row)

    def require(self, session_id: str) -> Session:
        """Return one segment. Raises NotFound."""
        session = self.get(session_id)
        if session is None:
            raise NotFound(f"no session {session_id!r}")
        return session

    def require_seq(self, session_id: str) -> int:
        """Return the integer key of a segment. Raises NotFound."""
        return self._keys(session_id)[0]

    def is_recorded(self, session_id: str) -> bool:
        """Return whether the segment keeps a transcript. Raises NotFound."""
        return bool(self._keys(session_id)[1])

    def latest(self, agent_id: str, user_id: str, external_id: str) -> Session | None:
        """Return the newest segment of a host's conversation; None when there is none."""
        row = self._tx.one(
            QUERIES["latest"],
            {"agent_id": agent_id, "user_id": user_id, "external_id": external_id},
        )
        return None if row is None else _session(row)

    def latest_recording(self, agent_id: str, user_id: str, external_id: str) -> Recording | None:
        """Return whether a conversation's newest segment keeps a transcript; None without one."""
        row = self._tx.one(
            QUERIES["latest_recording"],
            {"agent_id": agent_id, "user_id": user_id, "external_id": external_id},
        )
        return None if row is None else Recording(str(row[0]), bool(row[1]))

    def segments(self, conversation_id: str) -> list[Session]:
        """Return all segments of a conversation, in order."""
        return _sessions(self._tx.run(QUERIES["segments"], {"conversation_id": conversation_id}))

    def list_for_user(
        self,
        user_id: str,
        *,
        agent_id: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[Session]:
        """Return a page of the user's segments, oldest first, after the one with id ``after``."""
        bindings = {"user_id": user_id, "agent_id": agent_id, "after_id": after, "limit": limit}
        return _sessions(self._tx.run(QUERIES["list_for_user"], bindings))

    def overview_page(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[SegmentOverview]:
        """Return a page of segments, newest first, after the one with id ``after``.

        None takes every user, or every agent. No principal may see it: it is the operator's. An
        unknown ``after`` gives no rows.
        """
        bindings = {"user_id": user_id, "agent_id": agent_id, "after_id": after, "limit": limit}
        return [_overview(row) for row in self._tx.run(QUERIES["overview_page"], bindings)]

    def overviews(
        self,
        *,
        session_id: str | None = None,
        external_id: str | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
    ) -> list[SegmentOverview]:
        """Return the segments of one internal or one external id, by conversation and segment."""
        bindings = {
            "id": session_id,
            "external_id": external_id,
            "user_id": user_id,
            "agent_id": agent_id,
        }
        return [_overview(row) for row in self._tx.run(QUERIES["overviews"], bindings)]

    def list_idle(self, silent_since: datetime, *, limit: int = 100) -> list[Session]:
        """Return open segments without a turn since the moment, longest silent first."""
        bindings = {"silent_since": to_text(silent_since), "limit": limit}
        return _sessions(self._tx.run(QUERIES["list_idle"], bindings))

    def end(self, session_id: str, ended_by: EndedBy = "host") -> bool:
        """End an open segment; False when it had ended before. Raises NotFound."""
        self._tx.run(
            QUERIES["end"],
            {"id": session_id, "ended_at": to_text(self._tx.now), "ended_by": ended_by},
        )
        return self._changed(session_id)

    def request_extraction(self, session_id: str) -> bool:
        """Put the segment on the extractor's list; False when it was there. Raises NotFound."""
        self._tx.run(QUERIES["request_extraction"], {"id": session_id, "at": to_text(self._tx.now)})
        return self._changed(session_id)

    def append_turn(
        self,
        session_id: str,
        role: TurnRole,
        content: str,
        *,
        origin: TurnOrigin = "dialogue",
        at: datetime | None = None,
        name: str | None = None,
        tool_name: str | None = None,
        external_key: str | None = None,
    ) -> Turn:
        """Append a turn to the open segment of the conversation that ``session_id`` belongs to.

        ``Turn.session_id`` may be a later segment: an ended conversation continues as a new one.
        ``external_key`` is the host's own id of the message, once per conversation: its stored
        turn is returned when role and content are the same or were blanked since. Raises
        InvalidInput when they differ or the segment or its latest successor keeps no transcript,
        NotFound without session.
        """
        row = self._tx.one(QUERIES["appending"], {"id": session_id, "external_key": external_key})
        if row is None:
            raise NotFound(f"no session {session_id!r}")
        recorded, conversation_id, seq, segment, is_latest_recorded, ended_at, number, is_known = (
            row
        )
        if not (recorded and is_latest_recorded):
            raise InvalidInput(
                f"session {session_id!r} was started with record=False and keeps no transcript; "
                "pass the words as evidence of a claim, or record turns in a session of their own"
            )
        if is_known and external_key is not None:
            stored = self.turn_by_key(conversation_id, external_key, role, content)
            if stored is not None:
                return stored
        if ended_at is not None:
            following = self._next_segment(segment)
            segment, seq, number = following.id, self.require_seq(following.id), 1
        turn = Turn(
            session_id=segment,
            turn=number,
            role=role,
            content=content,
            at=self._tx.now if at is None else at,
            origin=origin,
            name=name,
            tool_name=tool_name,
            external_key=external_key,
        )
        self._insert_turn(turn, seq)
        return turn

    def add_history(self, turn: Turn) -> Turn:
        """Append a turn to the very segment it names, ended or not; return it with its number.

        For history: it opens no segment and compares no key. Raises NotFound.
        """
        seq = self.require_seq(turn.session_id)
        row = self._tx.one(QUERIES["next_turn"], {"session_seq": seq})
        assert row is not None  # an aggregate has one row
        numbered = replace(turn, turn=int(row[0]))
        self._insert_turn(numbered, seq)
        return numbered

    def turns(self, conversation_id: str) -> list[Turn]:
        """Return the turns of all segments in order; blanked ones have empty content."""
        return _turns(self._tx.run(QUERIES["turns"], {"conversation_id": conversation_id}))

    def turns_with(self, conversation_id: str, text: str) -> list[Turn]:
        """Return the turns that may be evidence and hold a text to the letter, in order."""
        bindings = {
            "conversation_id": conversation_id,
            "origins": to_json(list(EVIDENCE_ORIGINS)),
            "text": text,
        }
        return _turns(self._tx.run(QUERIES["turns_with"], bindings))

    def last_turn(self, conversation_id: str) -> tuple[str, int] | None:
        """Return the segment and number of the latest turn; None before the first."""
        return self._tx.one(QUERIES["last_turn"], {"conversation_id": conversation_id})

    def turns_of(self, session_id: str) -> list[Turn]:
        """Return the turns of one segment in order; blanked ones have empty content."""
        return _turns(self._tx.run(QUERIES["turns_of"], {"id": session_id}))

    def turn_page(
        self,
        conversation_id: str,
        *,
        segment: int | None = None,
        after: tuple[int, int] = (0, 0),
        limit: int = 100,
    ) -> list[tuple[int, Turn]]:
        """Return a page of turns with the numbers of their segments, in order.

        ``segment`` None takes all of the conversation. ``after`` is the segment and number of the
        last turn of the page before.
        """
        bindings = {
            "conversation_id": conversation_id,
            "segment": segment,
            "after_segment": after[0],
            "after_turn": after[1],
            "limit": limit,
        }
        return [(row[10], _turn(row)) for row in self._tx.run(QUERIES["turn_page"], bindings)]

    def turn_by_key(
        self, conversation_id: str, external_key: str, role: TurnRole, content: str
    ) -> Turn | None:
        """Return the conversation's turn under a host's own key; None when there is none.

        Raises InvalidInput when the key names another message.
        """
        row = self._tx.one(
            QUERIES["turn_by_key"],
            {"conversation_id": conversation_id, "external_key": external_key},
        )
        if row is None:
            return None
        stored, is_blanked = _turn(row), row[9] is not None
        # A blanked turn cannot be compared; recording it anew would undo the erasure.
        if not is_blanked and (stored.role, stored.content) != (role, content):
            raise InvalidInput(
                f"`external_key` {external_key!r} already names another message of this session; "
                "give every message its own key",
                field="external_key",
            )
        return stored

    def _keys(self, session_id: str) -> tuple[int, int, str]:
        row = self._tx.one(QUERIES["keys"], {"id": session_id})
        if row is None:
            raise NotFound(f"no session {session_id!r}")
        return int(row[0]), int(row[1]), str(row[2])

    def _changed(self, session_id: str) -> bool:
        changed = self._tx.changes() > 0
        if not changed:
            self._keys(session_id)
        return changed

    def _resumed(self, latest: Session, *, recorded: bool) -> Session:
        if latest.ended_at is None:
            if self.is_recorded(latest.id) == recorded:
                return latest
            self.end(latest.id, "host")
        return self._continue(latest.id, recorded=recorded)

    def _continue(self, previous_id: str, *, recorded: bool) -> Session:
        session_id = self._tx.new_id()
        self._tx.run(
            QUERIES["continue"],
            {
                "id": session_id,
                "previous_id": previous_id,
                "recorded": int(recorded),
                "started_at": to_text(self._tx.now),
            },
        )
        return self.require(session_id)

    def _next_segment(self, previous_id: str) -> Session:
        following = self._continue(previous_id, recorded=True)
        self._tx.events.append(
            "session.started",
            following.agent_id,
            session_id=following.id,
            user_id=following.user_id,
            payload={"segment": following.segment},
        )
        return following

    def _insert_turn(self, turn: Turn, seq: int) -> None:
        self._tx.run(
            QUERIES["insert_turn"],
            {
                "session_seq": seq,
                "turn": turn.turn,
                "role": turn.role,
                "origin": turn.origin,
                "name": turn.name,
                "tool_name": turn.tool_name,
                "external_key": turn.external_key,
                "content": turn.content,
                "at": to_text(turn.at),
            },
        )
        # The store's own moment: idleness must not depend on the time a host claims for a turn.
        self._tx.run(QUERIES["touch"], {"seq": seq, "at": to_text(self._tx.now)})


def _sessions(rows: Iterable[tuple[Any, ...]]) -> list[Session]:
    return [_session(row) for row in rows]


def _session(row: tuple[Any, ...]) -> Session:
    return Session(
        id=row[0],
        external_id=row[1],
        segment=row[2],
        conversation_id=row[3],
        agent_id=row[4],
        user_id=row[5],
        project_id=row[6],
        started_at=from_text(row[7]),
        last_turn_at=from_text_or_none(row[8]),
        ended_at=from_text_or_none(row[9]),
        ended_by=row[10],
        extraction_requested_at=from_text_or_none(row[11]),
        extracted_at=from_text_or_none(row[12]),
    )


def _overview(row: tuple[Any, ...]) -> SegmentOverview:
    return SegmentOverview(
        session=_session(row),
        recorded=bool(row[13]),
        turns=row[14],
        first_at=from_text_or_none(row[15]),
        last_at=from_text_or_none(row[16]),
    )


def _turns(rows: Iterable[tuple[Any, ...]]) -> list[Turn]:
    return [_turn(row) for row in rows]


def _turn(row: tuple[Any, ...]) -> Turn:
    return Turn(
        session_id=row[0],
        turn=row[1],
        role=row[2],
        content=row[3],
        at=from_text(row[4]),
        origin=row[5],
        name=row[6],
        tool_name=row[7],
        external_key=row[8],
    )
