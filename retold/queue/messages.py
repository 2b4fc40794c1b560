"""What may stand in a queue file: the name of a task and ids, as JSON, and nothing else.

huey's own serializer is pickle, with which a row that somebody wrote into the file runs code.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final

TASKS: Final = MappingProxyType(
    {
        "extract_session": "workers.tasks.extract_session",
        "beat": "workers.tasks.beat",
        "sweep": "workers.tasks.sweep",
        "maintain": "workers.tasks.maintain",
    }
)
"""The names on the wire. A consumer drops what it does not know, so they never change."""

VERSION: Final = 1
"""Of the format; a consumer refuses another one."""

MAX_BYTES: Final = 4096
"""Longest row that is looked into; ours have some two hundred bytes."""

_PLAIN: Final = ("id", "name", "args", "priority", "timeout")


class ForeignMessage(ValueError):
    """A row of the queue file that this release did not write. Its content is told nowhere."""

    def __init__(self) -> None:
        super().__init__("a row of the queue file is not one of ours; it is dropped")


class MessageSerializer:
    """Write and read huey's messages, in the place of its own serializer.

    A message is a task with ids: no pipeline, no retry, no keyword and no result ever enters the
    queue, because the store knows what is to be done.
    """

    def serialize(self, message: Any) -> bytes:  # noqa: ANN401  # huey's untyped named tuple
        """Return the row of a message. Raises TypeError for one that carries more than ids."""
        fields = message._asdict()
        extra = [name for name, value in fields.items() if value and name not in _PLAIN]
        if extra:
            raise TypeError(f"a message of the queue carries no {', '.join(extra)}")
        return encode_message(
            message.name,
            message.id,
            message.args,
            priority=message.priority or 0,
            timeout=message.timeout,
        )

    def deserialize(self, data: bytes) -> Any:  # noqa: ANN401  # huey's untyped named tuple
        """Return the message of a row. Raises ForeignMessage for anything that is none."""
        from huey.registry import Message

        row = decode_row(data)
        return Message(
            id=row["id"],
            name=row["name"],
            args=tuple(row["args"]),
            kwargs={},
            retries=0,
            retry_delay=0,
            priority=row["priority"],
            timeout=row["timeout"],
        )


def encode_message(
    name: str,
    message_id: str,
    args: Sequence[str] = (),
    *,
    priority: int = 0,
    timeout: int | None = None,
) -> bytes:
    """Return the row of one message. Raises TypeError for arguments that are no text."""
    if not all(isinstance(value, str) for value in (name, message_id, *args)):
        raise TypeError("a message of the queue carries names and ids only")
    row = {
        "v": VERSION,
        "id": message_id,
        "name": name,
        "args": list(args),
        "priority": priority,
        "timeout": timeout,
    }
    return json.dumps(row, separators=(",", ":")).encode()


def decode_row(data: bytes) -> dict[str, Any]:
    """Return the fields of a row. Raises ForeignMessage."""
    raw = bytes(data)
    try:
        row = json.loads(raw) if len(raw) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        raise ForeignMessage from None
    if row is None or not _is_ours(row):
        raise ForeignMessage
    return dict(row)


def _is_ours(row: object) -> bool:
    if not isinstance(row, dict) or row.get("v") != VERSION:
        return False
    args, timeout = row.get("args"), row.get("timeout")
    return (
        set(row) == {"v", *_PLAIN}
        and isinstance(row["id"], str)
        and isinstance(row["name"], str)
        and isinstance(args, list)
        and all(isinstance(value, str) for value in args)
        and isinstance(row["priority"], int)
        and (timeout is None or isinstance(timeout, int))
    )
