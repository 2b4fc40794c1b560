"""Conversations that are over, taken into the store as history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from retold.errors import InvalidInput
from retold.ingest.segments import note_segment
from retold.ingest.turns import NewTurn, checked_turn
from retold.models import Principal, Session, Turn
from retold.protocols import ContentPolicy
from retold.store import Store, Transaction


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One turn of a conversation that is over.

    ``session_id`` is the host's own id of the conversation. The turn needs an ``external_key``,
    which is what makes storing it again do nothing.
    """

    session_id: str
    turn: NewTurn


@dataclass(frozen=True, slots=True)
class HistoryCount:
    """What one call stored: turns new and known, and conversations that were made for them."""

    new: int = 0
    known: int = 0
    sessions: int = 0

    def __add__(self, other: HistoryCount) -> HistoryCount:
        return HistoryCount(
            self.new + other.new, self.known + other.known, self.sessions + other.sessions
        )


def record_history(
    store: Store,
    principal: Principal,
    past: Sequence[PastTurn],
    *,
    actor: str | None = None,
    content_policy: ContentPolicy | None = None,
) -> HistoryCount:
    """Store past turns of one agent and user in order, all in one transaction or none.

    A turn whose ``external_key`` its conversation knows is counted and not stored; when all are
    known nothing is written and no lock is taken. A conversation that is new is made and ended at
    once, and nothing asks for its extraction. One that has ended grows in its last segment, or in
    a further one, ended too, when extraction has been asked for. One that is open stays open. A
    turn without words keeps its place with empty content. ``actor`` is the name that events carry,
    None the agent's. Raises InvalidInput with ``position``, the index of the wrong turn, in its
    details: an unusable turn, an id that names another message, or a conversation that keeps no
    transcript.
    """
    checked = [_checked(one, at, content_policy) for at, one in enumerate(past)]
    with store.read() as tx:
        present = _Conversations(tx, principal)
        if all(present.knows(one, at) for at, one in enumerate(checked)):
            return HistoryCount(known=len(checked))
    with store.write() as tx:
        conversations = _Conversations(tx, principal)
        known = 0
        for at, one in enumerate(checked):
            if conversations.knows(one, at):
                known += 1
            else:
                conversations.add(one, at)
        sessions = conversations.settle(actor)
    return HistoryCount(len(checked) - known, known, sessions)


def _checked(past: PastTurn, at: int, policy: ContentPolicy | None) -> PastTurn:
    if past.turn.external_key is None:
        raise InvalidInput("a past turn needs an external_key", field="external_key", position=at)
    try:
        return replace(past, turn=checked_turn(past.turn, policy, may_be_wordless=True))
    except InvalidInput as wrong:
        raise _placed(wrong, at) from None


def _placed(wrong: InvalidInput, at: int) -> InvalidInput:
    """Return the refusal with the index of the turn it is about."""
    return InvalidInput(wrong.message, **(wrong.details | {"position": at}))


class _Conversations:
    """The conversations that one transaction touches."""

    def __init__(self, tx: Transaction, principal: Principal) -> None:
        self._tx = tx
        self._principal = principal
        self._latest: dict[str, Session | None] = {}
        self._growing: dict[str, Session] = {}
        self._made: set[str] = set()
        self._grown: Counter[Session] = Counter()

    def knows(self, past: PastTurn, at: int) -> bool:
        """Return whether the turn is stored. Raises InvalidInput when its key names another."""
        latest = self._latest_of(past.session_id)
        if latest is None or past.turn.external_key is None:
            return False
        try:
            return (
                self._tx.sessions.turn_by_key(
                    latest.conversation_id,
                    past.turn.external_key,
                    past.turn.role,
                    past.turn.content,
                )
                is not None
            )
        except InvalidInput as wrong:
            raise _placed(wrong, at) from None

    def add(self, past: PastTurn, at: int) -> None:
        """Append the turn to its conversation. Raises InvalidInput."""
        segment = self._growing.get(past.session_id)
        if segment is None:
            try:
                segment = self._segment_for(past.session_id)
            except InvalidInput as wrong:
                raise _placed(wrong, at) from None
            self._growing[past.session_id] = self._latest[past.session_id] = segment
        new = past.turn
        turn = Turn(
            session_id=segment.id,
            turn=0,
            role=new.role,
            content=new.content,
            at=new.at or self._tx.now,
            origin=new.origin or "dialogue",
            name=new.name,
            tool_name=new.tool_name,
            external_key=new.external_key,
        )
        self._tx.sessions.add_history(turn)
        self._grown[segment] += 1

    def settle(self, actor: str | None) -> int:
        """End what was made, tell the audit trail, return how many conversations are new."""
        for segment, turns in self._grown.items():
            made = segment.id in self._made
            if made:
                note_segment(self._tx, "session.started", segment, actor=actor)
            note_segment(self._tx, "session.imported", segment, actor=actor, turns=turns)
            if made and self._tx.sessions.end(segment.id, "host"):
                note_segment(self._tx, "session.ended", segment, actor=actor)
        return sum(one.id in self._made and one.segment == 1 for one in self._grown)

    def _latest_of(self, session_id: str) -> Session | None:
        if session_id not in self._latest:
            self._latest[session_id] = self._tx.sessions.latest(
                self._principal.agent_id, self._principal.user_id, session_id
            )
        return self._latest[session_id]

    def _segment_for(self, session_id: str) -> Session:
        """Return the segment that takes the next turn, made where there is none to take it."""
        latest = self._latest_of(session_id)
        if latest is not None and not self._tx.sessions.is_recorded(latest.id):
            raise InvalidInput(
                "the conversation was started with record=False and keeps no transcript; "
                "import it under another session id",
                field="session_id",
            )
        if latest is None or (latest.ended_at is not None and _was_handed_over(latest)):
            latest = self._tx.sessions.start(self._principal, session_id)
            self._made.add(latest.id)
        return latest


def _was_handed_over(segment: Session) -> bool:
    """Return whether an extractor may have read the segment, so that it must not grow."""
    return segment.extraction_requested_at is not None or segment.extracted_at is not None
