"""What the host around the library provides: its queue and its content policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from retold.errors import InvalidInput

Where = Literal["turn", "write", "query"]


class FakeQueue:
    """Remember which sessions were announced, in order, and do nothing else."""

    __test__ = False

    def __init__(self) -> None:
        """Start with an empty list."""
        self.requested: list[str] = []

    def request_extraction(self, session_id: str) -> None:
        """Note the session."""
        self.requested.append(session_id)


class FakeContentPolicy:
    """Replace listed words and refuse listed ones; remember every text that came by.

    ``seen`` holds (where, text) as it arrived.
    """

    __test__ = False

    def __init__(
        self, redact: Mapping[str, str] | None = None, *, refuse: Mapping[str, str] | None = None
    ) -> None:
        """Take replacements by word, and the class that a refused word belongs to."""
        self.redact = dict(redact or {})
        self.refuse = dict(refuse or {})
        self.seen: list[tuple[Where, str]] = []

    def apply(self, text: str, *, where: Where) -> str:
        """Return the text to keep. Raises InvalidInput, naming only the class, to refuse it."""
        self.seen.append((where, text))
        for word, class_ in self.refuse.items():
            if word in text:
                raise InvalidInput(f"the text holds a {class_}, which is not kept here")
        for word, replacement in self.redact.items():
            text = text.replace(word, replacement)
        return text
