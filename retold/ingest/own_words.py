"""A claim that repeats what the user said is its own evidence."""

from __future__ import annotations

from retold.models import Principal
from retold.store import Transaction
from retold.text import locate_quote


def said_by_the_user(tx: Transaction, principal: Principal, content: str) -> bool:
    """Return whether a user turn of the principal's conversation holds the content as a quote.

    ``content`` is what a content policy leaves of it, as turns are kept.
    """
    if principal.session_id is None:
        return False
    session = tx.sessions.latest(principal.agent_id, principal.user_id, principal.session_id)
    if session is None:
        return False
    return any(
        turn.role == "user" and turn.is_evidence and locate_quote(content, turn.content) is not None
        for turn in tx.sessions.turns(session.conversation_id)
    )
