"""The doorbell port as it stands without workers: the store's own to-do list is enough."""

from __future__ import annotations


class NoQueue:
    """Ring nothing. A requested session stays due in the store until workers look for it."""

    def request_extraction(self, session_id: str) -> None:
        """Do nothing; ``sessions.extraction_requested_at`` already records the wish."""
