"""Note refused access without saying to what."""

from __future__ import annotations

import logging

from retold.config import AuditConfig
from retold.errors import RequestError, StoreError
from retold.store import Store

logger = logging.getLogger(__name__)


class Denials:
    """Append one content-free event per refused write verb.

    A missing and a foreign id leave the same event, so the audit trail confirms nothing either.
    """

    def __init__(self, store: Store, cfg: AuditConfig) -> None:
        """Take the store and whether denials are kept at all."""
        self._store = store
        self._cfg = cfg

    def record(self, agent_id: str, user_id: str, refusal: RequestError) -> None:
        """Note the refusal; a store that cannot be written keeps the refusal's own error."""
        if not self._cfg.denials or self._store.read_only:
            return
        try:
            with self._store.write() as tx:
                tx.events.append(
                    "write.denied", agent_id, user_id=user_id, payload={"code": refusal.code}
                )
        except StoreError:
            logger.warning("a denial could not be noted", extra={"code": refusal.code})
