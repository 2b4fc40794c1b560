"""Where the words of a turn come from, as far as the turn itself tells; pure."""

from __future__ import annotations

from retold.models import TurnOrigin, TurnRole
from retold.text.frames import MEMORY_TOOL_NAMES, holds_memory_output


def origin_of(role: TurnRole, tool_name: str | None, content: str) -> TurnOrigin:
    """Return the origin of a turn that its host gave none.

    What a memory tool answered is ``memory_tool``, and a message that carries recalled memory is
    ``recall``, whoever sends it: neither is evidence, since memory must not confirm itself. The
    name may have a prefix, as clients of tool servers give them.
    """
    own = holds_memory_output(content)
    if role == "tool":
        named = tool_name is not None and tool_name.endswith(MEMORY_TOOL_NAMES)
        return "memory_tool" if named or own else "tool"
    return "recall" if own else "dialogue"
