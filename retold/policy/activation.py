"""Ambient activation before its policy exists: every record stays conditional."""

from __future__ import annotations

from typing import Literal

from retold.models import Principal
from retold.protocols import RecordActivator

Activation = Literal["conditional", "ambient"]


def activation_of(
    activator: RecordActivator, principal: Principal, record_id: str
) -> tuple[Activation, str | None]:
    """Return the activation of a record that is stored already, and the reason.

    An activator promises not to raise. One that does costs no write: the record stays conditional
    and the reason is ``policy_error`` with the error's class.
    """
    try:
        return activator.activate_written(principal, record_id, actor=principal.agent_id)
    except Exception as error:  # whatever an integrator's activator raises
        return "conditional", f"policy_error:{type(error).__name__}"


class NoActivator:
    """Keep every record conditional; the seam for the activation policy."""

    def activate_written(
        self, principal: Principal, record_id: str, *, actor: str
    ) -> tuple[Activation, str | None]:
        """Return ``conditional`` and why."""
        return "conditional", "policy_unavailable"
