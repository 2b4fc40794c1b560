"""Who calls a tool, and what the tools work with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from retold.config import RetoldConfig
from retold.config.base import JSON
from retold.errors import NotFound
from retold.ingest.ingestor import Ingestor
from retold.ingest.revision import Revision
from retold.models import Principal
from retold.protocols import RecordActivator
from retold.retrieve.retriever import Retriever
from retold.store import Store
from retold.tools.inputs import MAX_K
from retold.tools.shown import PREFIX, ShownIds, bare_id, is_short, the_one
from retold.tools.targets import WriteTargets
from retold.util import IdSource

Answer = tuple[str, dict[str, JSON]]
"""The text for the model and the data for the program."""


@dataclass(frozen=True, slots=True)
class ToolParts:
    """What the tools work with; the same for every conversation of a process."""

    config: RetoldConfig
    store: Store
    ingestor: Ingestor
    revision: Revision
    retriever: Retriever
    activator: RecordActivator
    shown: ShownIds
    new_id: IdSource


@dataclass(frozen=True, slots=True)
class Caller:
    """One principal at the tools."""

    parts: ToolParts
    principal: Principal
    targets: WriteTargets

    @property
    def default_k(self) -> int:
        """Return how many memories a search returns that asks for no number."""
        return min(self.parts.config.retrieval.default_k, MAX_K)

    def full_id(self, given: str, field: str) -> str:
        """Return the full id for an id as a model wrote it; one that nobody was shown stays.

        An ending is looked up among what this conversation was shown: in this process, else by
        its logged searches, so that it outlives a restart. Raises InvalidInput.
        """
        bare = bare_id(given, field)
        if not is_short(bare):
            return bare
        who = self.principal
        hits = self.parts.shown.ending_with(who, bare)
        if not hits:
            with self.parts.store.read() as tx:
                hits = tx.search_log.returned_ending(
                    who.agent_id, who.user_id, who.session_id, bare
                )
        return the_one(hits, bare, field)

    def note(self, record_ids: Iterable[str]) -> None:
        """Remember that the conversation was shown these ids."""
        self.parts.shown.note(self.principal, record_ids)


def not_found(given: Iterable[str]) -> NotFound:
    """Return one refusal for missing, unreadable and unwritable ids.

    They are named as the model wrote them, but without the prefix that marks what was shown.
    """
    named = ", ".join(repr(one.removeprefix(PREFIX)) for one in given)
    return NotFound(f"no record {named}; search again and use an id as it was shown")
