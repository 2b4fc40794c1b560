"""Note refused access without saying to what."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from retold.config import AuditConfig
from retold.errors import NotFound, RequestError, ScopeNotWritable, StoreError
from retold.models import Principal
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

    @contextmanager
    def noted(self, principal: Principal) -> Iterator[None]:
        """Note a NotFound or ScopeNotWritable that leaves the block, and let it go on.

        Stand it around the transaction: by then nothing of the refused call is stored. A store
        that cannot be written keeps the refusal's own error.
        """
        try:
            yield
        except (NotFound, ScopeNotWritable) as refusal:
            self._record(principal, refusal)
            raise

    def _record(self, principal: Principal, refusal: RequestError) -> None:
        if not self._cfg.denials or self._store.read_only:
            return
        try:
            with self._store.write() as tx:
                tx.events.append(
                    "write.denied",
                    principal.agent_id,
                    user_id=principal.user_id,
                    payload={"code": refusal.code},
                )
        except StoreError:
            logger.warning("a denial could not be noted", extra={"code": refusal.code})
