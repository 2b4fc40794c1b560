"""Where a claim comes from: the host, a turn of the conversation, or nowhere to be named."""

from __future__ import annotations

from retold.ingest.plan import Plan, Source
from retold.ingest.preparation import QUOTE_KEY
from retold.ingest.segments import Silence
from retold.models import Session, Turn
from retold.store import Transaction


def source_of(tx: Transaction, plan: Plan, silence: Silence) -> Source:
    """Return where the claim comes from, adding the quote to the transcript if the plan says so.

    Such a quote is a turn like any other: it ends the silence before it.
    """
    host, session, check = plan.request.host_source, plan.setting.session, plan.backing.check
    if host is not None:
        return Source(host.type, host.id, f"{host.type}:{host.id}")
    if session is None:
        return Source("host", f"call:{tx.new_id()}", None)
    turn = _quote_as_turn(tx, plan, session, silence) or check.turn
    if not check.found or turn is None:
        return Source("session", session.conversation_id, None, session.id)
    if turn.turn == 0:
        return Source("session", session.conversation_id, f"session:{session.id}", session.id)
    ref = f"session:{turn.session_id}#{turn.turn}"
    return Source("session", session.conversation_id, ref, turn.session_id, turn.turn)


def _quote_as_turn(tx: Transaction, plan: Plan, session: Session, silence: Silence) -> Turn | None:
    """Add the quote of a trusted host to the transcript; None when it is not to be added."""
    role, quote, said = plan.backing.new_turn, plan.backing.quote, plan.backing.check.turn
    if role is None or quote is None:
        return None
    # Read again: others may have gone on with the conversation since the plan was made.
    latest = tx.sessions.latest(session.agent_id, session.user_id, session.external_id) or session
    silence.end(tx, latest)
    return tx.sessions.append_turn(
        latest.id,
        role,
        quote,
        origin="tool" if role == "tool" else "dialogue",
        at=None if said is None else said.at,
        external_key=QUOTE_KEY + tx.new_id(),
    )
