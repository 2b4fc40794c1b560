"""The hooks that keep a conversation: start, turn, end and the idle split."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from retold.errors import InvalidInput, NotFound
from retold.ingest.doorbell import Doorbell
from retold.ingest.history import HistoryCount, PastTurn, record_history
from retold.ingest.segments import Silence, note_segment
from retold.ingest.turns import NewTurn, checked_turn
from retold.models import Principal, Session, Turn, TurnOrigin, TurnRole
from retold.protocols import ContentPolicy
from retold.store import Store, Transaction


class SessionHooks:
    """What an adapter calls as a conversation goes on; every call is one transaction.

    The principal carries the host's session id. Two users or agents may use the same one.
    """

    def __init__(
        self,
        store: Store,
        *,
        silence: Silence,
        doorbell: Doorbell,
        content_policy: ContentPolicy | None = None,
    ) -> None:
        """Take the parts; nothing is opened."""
        self._store = store
        self._silence = silence
        self._doorbell = doorbell
        self._content_policy = content_policy

    def on_session_start(self, principal: Principal, *, record: bool = True) -> Session:
        """Open the principal's conversation, or its next segment when it had ended.

        ``record`` False keeps no transcript from now on, True keeps one from now on: what the
        conversation did before ends with its segment. Raises InvalidInput without a session id.
        """
        external_id = _session_id_of(principal)
        with self._store.write() as tx:
            before = tx.sessions.latest(principal.agent_id, principal.user_id, external_id)
            session = tx.sessions.start(principal, external_id, recorded=record)
            if before is not None and before.ended_at is None and before.id != session.id:
                note_segment(tx, "session.ended", before)
            if before is None or before.id != session.id:
                note_segment(tx, "session.started", session)
            return session

    def on_turn(
        self,
        principal: Principal,
        role: TurnRole,
        content: str,
        *,
        origin: TurnOrigin | None = None,
        at: datetime | None = None,
        name: str | None = None,
        tool_name: str | None = None,
        external_key: str | None = None,
    ) -> Turn:
        """Append one turn; the fields and errors are those of ``NewTurn`` and ``on_turns``."""
        new = NewTurn(role, content, origin, at, name, tool_name, external_key)
        return self.on_turns(principal, [new])[0]

    def on_turns(self, principal: Principal, new_turns: Sequence[NewTurn]) -> tuple[Turn, ...]:
        """Append turns in order; after an idle gap they open the conversation's next segment.

        All are checked before the first is stored, and one transaction stores them all. Silence
        is measured by the store's clock. A conversation that keeps no transcript stores nothing
        and returns turns with the number 0. Raises InvalidInput, NotFound for a conversation that
        was never started.
        """
        checked = [checked_turn(new, self._content_policy) for new in new_turns]
        if not checked:
            return ()
        with self._store.write() as tx:
            session = self._require(tx, principal)
            if not tx.sessions.is_recorded(session.id):
                return tuple(_unrecorded(session, new, tx.now) for new in checked)
            known = [self._redelivered(tx, session, new) for new in checked]
            if None in known:
                self._silence.end(tx, session)
            return tuple(
                turn or self._append(tx, session, new)
                for turn, new in zip(known, checked, strict=True)
            )

    def on_session_end(
        self, principal: Principal, *, extract: bool = False, since_segment: int | None = None
    ) -> Session:
        """End the open segment; ``extract`` puts it on the extractor's list and rings the queue.

        With ``since_segment`` it asks for the segments from that number on too: those that silence
        has split off meanwhile. Ending again changes nothing. Raises NotFound for a conversation
        that was never started.
        """
        asked: list[str] = []
        with self._store.write() as tx:
            session = self._require(tx, principal)
            if tx.sessions.end(session.id, "host"):
                note_segment(tx, "session.ended", session)
            if extract:
                first = session.segment if since_segment is None else since_segment
                found = tx.sessions.segments(session.conversation_id)
                asked = [one.id for one in found if one.segment >= first]
            for session_id in asked:
                tx.sessions.request_extraction(session_id)
            ended = tx.sessions.require(session.id)
        for session_id in asked:
            self._doorbell.ring(session_id)
        return ended

    def on_history(
        self, principal: Principal, past: Sequence[PastTurn], *, actor: str | None = None
    ) -> HistoryCount:
        """Store turns of conversations that are over, as one transaction; see ``record_history``.

        The principal's own session id does not matter: each turn names its conversation.
        """
        return record_history(
            self._store, principal, past, actor=actor, content_policy=self._content_policy
        )

    @staticmethod
    def _redelivered(tx: Transaction, session: Session, new: NewTurn) -> Turn | None:
        if new.external_key is None:
            return None
        return tx.sessions.turn_by_key(
            session.conversation_id, new.external_key, new.role, new.content
        )

    @staticmethod
    def _append(tx: Transaction, session: Session, new: NewTurn) -> Turn:
        return tx.sessions.append_turn(
            session.id,
            new.role,
            new.content,
            origin=new.origin or "dialogue",
            at=new.at,
            name=new.name,
            tool_name=new.tool_name,
            external_key=new.external_key,
        )

    @staticmethod
    def _require(tx: Transaction, principal: Principal) -> Session:
        external_id = _session_id_of(principal)
        session = tx.sessions.latest(principal.agent_id, principal.user_id, external_id)
        if session is None:
            raise NotFound(f"no session {external_id!r}; call on_session_start first")
        return session


def _unrecorded(session: Session, new: NewTurn, now: datetime) -> Turn:
    return Turn(
        session_id=session.id,
        turn=0,
        role=new.role,
        content=new.content,
        at=new.at or now,
        origin=new.origin or "dialogue",
        name=new.name,
        tool_name=new.tool_name,
        external_key=new.external_key,
    )


def _session_id_of(principal: Principal) -> str:
    if principal.session_id is None:
        raise InvalidInput("the principal carries no session_id; open a session first")
    return principal.session_id
