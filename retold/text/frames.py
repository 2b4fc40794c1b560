"""What the memory itself says to a model, and how to know it again."""

from __future__ import annotations

import re
from typing import Final

MEMORY_TOOL_NAMES: Final = (
    "memory_search",
    "memory_get",
    "memory_write",
    "memory_revise",
    "memory_forget",
)
"""The tools a model is offered, in the order it is shown them."""

_FRAMED: Final = re.compile(
    r"--- (?:end of )?recalled memory [0-9a-f]{12} ---"
    r"|memory_\w{1,20} (?:result|error) [0-9a-f]{12}:"
    r"|\[mem_[0-9a-f-]{8,36}\] (?:semantic|episodic|procedural) (?:·|\\u00b7) "
    r"|[\"'](?:evidence_supported|empty_reason|activation_reason)\\{0,8}[\"']\s{0,8}:"
)
"""An opening, closing or header line, also quoted, cut or inside JSON; a key of a result's data."""


def holds_memory_output(text: str) -> bool:
    """Return whether the text holds what frames an answer of the memory itself, or its data.

    Such text is no evidence: what came out of memory must not confirm memory. Text that only looks
    like it loses nothing but that.
    """
    return _FRAMED.search(text) is not None
