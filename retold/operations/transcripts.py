"""The operator's view of conversations: lists of them, and what was said."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from retold.errors import InvalidInput, NotFound
from retold.models import Turn
from retold.store import Store, Transaction
from retold.store.sessions import SegmentOverview
from retold.text import require_limit

_CURSOR: Final = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class SessionPage:
    """One page of segments, newest first; ``next`` continues it, None at the end."""

    sessions: tuple[SegmentOverview, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class NumberedTurn:
    """A turn with the number of its segment."""

    segment: int
    turn: Turn = field(repr=False)


@dataclass(frozen=True, slots=True)
class Transcript:
    """One page of what was said in these segments, in order.

    ``next`` is the ``segment.turn`` that continues it, None at the end.
    """

    segments: tuple[SegmentOverview, ...]
    turns: tuple[NumberedTurn, ...]
    next: str | None


def list_sessions(
    store: Store,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    after: str | None = None,
    limit: int = 20,
) -> SessionPage:
    """Return a page of segments of one user and agent, or of any; for operators.

    ``after`` is the id of the last segment of the page before. Raises NotFound for an unknown one,
    InvalidInput for a limit out of 1 to 1000.
    """
    require_limit(limit)
    with store.read() as tx:
        if after is not None:
            tx.sessions.require(after)
        found = tx.sessions.overview_page(
            user_id=user_id, agent_id=agent_id, after=after, limit=limit + 1
        )
    page = found[:limit]
    return SessionPage(tuple(page), page[-1].session.id if len(found) > limit else None)


def read_transcript(
    store: Store,
    session: str,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> Transcript:
    """Return a page of turns of one segment, or of all segments of a conversation; for operators.

    ``session`` is the id of a segment, or else the host's own id of a conversation. ``after`` is
    ``Transcript.next``. Raises NotFound, and InvalidInput for a host's id of several conversations
    and for a wrong limit or cursor.
    """
    require_limit(limit)
    cursor = _cursor(after)
    with store.read() as tx:
        segments = find_segments(tx, session, user_id=user_id, agent_id=agent_id)
        is_segment = segments[0].session.id == session
        found = tx.sessions.turn_page(
            segments[0].session.conversation_id,
            segment=segments[0].session.segment if is_segment else None,
            after=cursor,
            limit=limit + 1,
        )
    turns = tuple(NumberedTurn(segment, turn) for segment, turn in found[:limit])
    last = turns[-1] if len(found) > limit else None
    following = None if last is None else f"{last.segment}.{last.turn.turn}"
    return Transcript(segments, turns, following)


def find_segments(
    tx: Transaction, session: str, *, user_id: str | None = None, agent_id: str | None = None
) -> tuple[SegmentOverview, ...]:
    """Return the segment with that id, or else all segments of the host's own id, in order.

    Raises NotFound, and InvalidInput for a host's id of several conversations.
    """
    found = tx.sessions.overviews(
        session_id=session, user_id=user_id, agent_id=agent_id
    ) or tx.sessions.overviews(external_id=session, user_id=user_id, agent_id=agent_id)
    conversations = {one.session.conversation_id for one in found}
    if not conversations:
        raise NotFound(f"no session {session!r}; `retold sessions list` shows those there are")
    if len(conversations) > 1:
        raise InvalidInput(
            f"{len(conversations)} conversations have the id {session!r}; name the user and the "
            "agent too, or pass the id of a segment"
        )
    return tuple(found)


def _cursor(after: str | None) -> tuple[int, int]:
    if after is None:
        return 0, 0
    match = _CURSOR.fullmatch(after)
    if match is None:
        raise InvalidInput("after is SEGMENT.TURN, such as 1.50", field="after")
    return int(match[1]), int(match[2])
