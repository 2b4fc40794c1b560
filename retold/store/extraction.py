"""What a run of the extraction keeps between its steps, and what it refused. All of it is content.

Erasure and retention know both tables; events hold counts of them and no word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from retold.models import MemoryType, Scope
from retold.store.codec import to_json, to_text, to_us
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("extraction")

DraftKind = Literal["candidate", "summary"]


@dataclass(frozen=True, slots=True)
class Draft:
    """One staged text of a segment, as JSON; a segment has at most one per kind and position."""

    kind: DraftKind
    position: int
    text: str = field(repr=False)
    prompt_version: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """A proposal that was refused; ``text`` is JSON about it."""

    reason: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KnownRow:
    """An active fact under a name of its own; ``about`` is None when that is the user asked for."""

    record_id: str
    type: MemoryType
    scope: Scope
    attribute: str = field(repr=False)
    content: str = field(repr=False)
    about: str | None = field(repr=False)


class ExtractionRepository:
    """Rows of ``extraction_drafts`` and ``extraction_rejections``, by segment."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def stage(self, session_id: str, drafts: Sequence[Draft]) -> None:
        """Replace everything that is staged for the segment."""
        self.unstage(session_id)
        for draft in drafts:
            self._run(
                "insert_draft",
                session_id,
                kind=draft.kind,
                position=draft.position,
                draft=draft.text,
                prompt_version=draft.prompt_version,
                now=to_text(self._tx.now),
            )

    def list_drafts(self, session_id: str) -> list[Draft]:
        """Return what is staged for the segment, by kind and position."""
        rows = self._tx.run(QUERIES["list_drafts"], {"id": session_id})
        return [Draft(*row) for row in rows]

    def unstage(self, session_id: str) -> None:
        """Remove everything that is staged for the segment."""
        self._run("delete_drafts", session_id)

    def reject(self, session_id: str, rejection: Rejection) -> None:
        """Keep a refused proposal of the segment."""
        self._run(
            "insert_rejection",
            session_id,
            reason=rejection.reason,
            candidate=rejection.text,
            now=to_text(self._tx.now),
        )

    def list_rejections(self, session_id: str) -> list[Rejection]:
        """Return the refused proposals of the segment's latest run, in order."""
        rows = self._tx.run(QUERIES["list_rejections"], {"id": session_id})
        return [Rejection(*row) for row in rows]

    def forget_rejections(self, session_id: str) -> None:
        """Remove the refused proposals of the segment."""
        self._run("delete_rejections", session_id)

    def list_known(self, scopes: Iterable[Scope], user_id: str, *, limit: int) -> list[KnownRow]:
        """Return active facts with a subject and an attribute in some scopes, newest first."""
        bindings = {
            "scope_codes": to_json(list(self._tx.scopes.codes(scopes).values())),
            "user_id": user_id,
            "now_us": to_us(self._tx.now),
            "limit": limit,
        }
        return [
            KnownRow(row[0], row[1], self._tx.scopes.get(row[2]), row[3], row[4], row[5])
            for row in self._tx.run(QUERIES["list_known"], bindings)
        ]

    def _run(self, name: str, session_id: str, **bindings: str | int) -> None:
        self._tx.run(QUERIES[name], {"id": session_id, **bindings})
