"""Ask for the extraction of a conversation, on behalf of an operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from retold.errors import InvalidInput
from retold.operations.transcripts import find_segments
from retold.store import Store, Transaction
from retold.store.claims import ClaimState
from retold.store.sessions import SegmentOverview

Answer = Literal[
    "requested", "put_back", "again", "waits_already", "extracted", "no_transcript", "words_gone"
]
"""What a wish did: the first three put a segment on the list, the last three say why it is not."""

_REFUSALS: Final = {
    "extracted": "session {id!r} was extracted already; pass --force to extract it once more",
    "no_transcript": "session {id!r} keeps no transcript, so there is nothing to extract",
    "words_gone": "the words of session {id!r} were removed, so there is nothing to extract",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One segment and what the wish to extract it did.

    ``ended`` False: it is extracted once the conversation has ended.
    """

    session_id: str
    external_id: str
    segment: int
    agent_id: str
    user_id: str
    ended: bool
    answer: Answer

    @property
    def is_on_list(self) -> bool:
        """Return whether it waits for the extraction now."""
        return self.answer not in _REFUSALS


def request_extraction(
    store: Store,
    session: str,
    *,
    actor: str,
    user_id: str | None = None,
    agent_id: str | None = None,
    force: bool = False,
) -> tuple[Asked, ...]:
    """Put one segment, or all segments of a conversation, on the extractor's list.

    ``session`` is the id of a segment, or else the host's own id of a conversation. One that was
    set aside gets all its attempts again, and one that waits after a failure waits no longer.
    ``force`` starts over from the transcript with what was
    extracted or is being extracted: whoever works on it can no longer commit. Raises NotFound, and
    InvalidInput for a host's id of several conversations and when no segment can be extracted.
    """
    with store.write() as tx:
        segments = find_segments(tx, session, user_id=user_id, agent_id=agent_id)
        asked = tuple(_ask(tx, one, actor=actor, force=force) for one in segments)
    if not any(one.is_on_list for one in asked):
        raise InvalidInput(_REFUSALS[asked[-1].answer].format(id=session))
    return asked


def decide_request(
    state: ClaimState, *, recorded: bool, has_words: bool, force: bool = False
) -> Answer:
    """Decide what the wish to extract a segment does; ``has_words`` False: all were blanked."""
    if not recorded:
        return "no_transcript"
    if not has_words:
        return "words_gone"
    is_done = state.extracted_at is not None and state.mode == "run"
    if force and (is_done or state.requested_at is not None):
        return "again"
    if is_done:
        return "extracted"
    if state.failed_at is not None:
        return "put_back"
    return "requested" if state.requested_at is None else "waits_already"


def make_due(tx: Transaction, state: ClaimState) -> None:
    """End the wait after a failure; its attempts stay counted."""
    if state.next_at is not None:
        tx.claims.postpone(
            state.session_id, attempts=state.attempts, next_at=None, error=state.error
        )


def note_again(tx: Transaction, state: ClaimState, answer: str, *, actor: str) -> None:
    """Tell the audit trail who asked for one more extraction, or for new attempts."""
    tx.events.append(
        "extraction.rerun",
        actor,
        session_id=state.session_id,
        user_id=state.user_id,
        payload={"stage": state.stage, "how": answer, "error": state.error},
    )


def _ask(tx: Transaction, one: SegmentOverview, *, actor: str, force: bool) -> Asked:
    session = one.session
    state = tx.claims.require(session.id)
    has_words = one.turns == 0 or tx.claims.has_words(session.id)
    answer = decide_request(state, recorded=one.recorded, has_words=has_words, force=force)
    if answer == "again":
        tx.claims.rerun(session.id)
    elif answer == "put_back":
        tx.claims.revive(session.id)
    elif answer == "requested":
        tx.sessions.request_extraction(session.id)
    elif answer == "waits_already":
        make_due(tx, state)
    if answer in ("again", "put_back"):
        note_again(tx, state, answer, actor=actor)
    return Asked(
        session.id,
        session.external_id,
        session.segment,
        session.agent_id,
        session.user_id,
        session.ended_at is not None,
        answer,
    )
