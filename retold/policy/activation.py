"""Ambient activation before its policy exists: every record stays conditional."""

from __future__ import annotations

from typing import Literal

from retold.models import Principal


class NoActivator:
    """Keep every record conditional; the seam for the activation policy."""

    def activate_written(
        self, principal: Principal, record_id: str, *, actor: str
    ) -> tuple[Literal["conditional", "ambient"], str | None]:
        """Return ``conditional`` and why."""
        return "conditional", "policy_unavailable"
