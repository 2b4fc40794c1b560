"""The record ids that a conversation was shown, so that a model may answer with their endings."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from retold.errors import InvalidInput
from retold.models import Principal, SearchResponse
from retold.retrieve.render import MIN_SHORT_ID_CHARS
from retold.text import require_id

PREFIX: Final = "mem_"
MAX_CONVERSATIONS: Final = 1_000
MAX_IDS: Final = 5_000
"""Per conversation: a model that saw more has lost the first ones from its own context."""

_FULL_ID_CHARS: Final = 36
_SHORT: Final = re.compile(rf"[0-9a-f-]{{{MIN_SHORT_ID_CHARS},{_FULL_ID_CHARS - 1}}}")


class ShownIds:
    """Ids by conversation, the least recent conversation dropped first. Safe across threads.

    One per process: a conversation that is opened anew finds what it was shown before.
    """

    def __init__(self) -> None:
        """Start with nothing shown."""
        self._lock = threading.Lock()
        self._shown: OrderedDict[tuple[str, str, str | None], OrderedDict[str, None]] = (
            OrderedDict()
        )

    def note(self, principal: Principal, record_ids: Iterable[str]) -> None:
        """Remember that the conversation was shown these ids."""
        with self._lock:
            ids = self._shown.setdefault(_conversation(principal), OrderedDict())
            self._shown.move_to_end(_conversation(principal))
            for record_id in record_ids:
                ids[record_id] = None
                ids.move_to_end(record_id)
            while len(ids) > MAX_IDS:
                ids.popitem(last=False)
            while len(self._shown) > MAX_CONVERSATIONS:
                self._shown.popitem(last=False)

    def ending_with(self, principal: Principal, ending: str) -> tuple[str, ...]:
        """Return the shown ids with this ending, oldest first."""
        with self._lock:
            ids = self._shown.get(_conversation(principal), ())
            return tuple(one for one in ids if one.endswith(ending))


def ids_in(response: SearchResponse) -> tuple[str, ...]:
    """Return the ids that the text of a search shows."""
    return tuple(
        record_id
        for result in response.results
        for record_id in (result.record.id, *result.explanation.conflicts_with)
    )


def bare_id(given: str, field: str) -> str:
    """Return an id as the model wrote it, without brackets and prefix. Raises InvalidInput."""
    text = require_id(given, field, allow_slash=True).strip().strip("[]").strip()
    return require_id(text.removeprefix(PREFIX), field, allow_slash=True)


def is_short(bare: str) -> bool:
    """Return whether a bare id can be the ending of one."""
    return _SHORT.fullmatch(bare) is not None


def the_one(hits: tuple[str, ...], bare: str, field: str) -> str:
    """Return the shown id that an ending stands for; one that nobody was shown stays as it is.

    Raises InvalidInput when it stands for several.
    """
    if len(hits) > 1:
        raise InvalidInput(
            f"{len(hits)} ids of this conversation end so; pass one in full: {', '.join(hits)}",
            field=field,
        )
    return hits[0] if hits else bare


def _conversation(principal: Principal) -> tuple[str, str, str | None]:
    return principal.agent_id, principal.user_id, principal.session_id
