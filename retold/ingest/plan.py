"""Everything about a claim that is known before the write lock is taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from retold.ingest.subject import Key
from retold.ingest.trace import WriteTrace
from retold.models import (
    EvidenceCheck,
    EvidenceSource,
    Grant,
    Principal,
    RecordStatus,
    Scope,
    Session,
    SourceKind,
    TurnRole,
    WriteKind,
    WriteRequest,
    WriteResult,
)
from retold.store.lexical import Prepared
from retold.store.token_vectors import PackedTokens


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a claim goes and under whose authority.

    ``scan_scopes`` are the scopes whose records it is compared with; ``session`` is the open
    conversation, None without one; ``keeps_transcript`` says whether turns may be added to it.
    ``called`` is the name the principal goes by, None when only an id is known. ``grants`` are
    those of the agent that the rights were read from.
    """

    principal: Principal
    scope: Scope
    readable: tuple[Scope, ...]
    scan_scopes: tuple[Scope, ...]
    names: tuple[str, ...] = field(repr=False)
    called: str | None = field(repr=False)
    actor: str
    session: Session | None
    keeps_transcript: bool
    is_host: bool
    grants: tuple[Grant, ...] = field(compare=False)

    @property
    def implies_principal(self) -> bool:
        """Return whether a claim that names nobody is about the principal. A host's never is."""
        personal = (self.principal.private_scope, self.principal.user_scope)
        return not self.is_host and self.scope in personal


@dataclass(frozen=True, slots=True)
class Backing:
    """What backs the claim.

    ``new_turn`` is the role under which the quote becomes a transcript turn in the same
    transaction; None when it stands there already or nothing is to be kept. ``verified`` says
    that a located quote, or a host, supports the claim.
    """

    check: EvidenceCheck
    quote: str | None = field(repr=False)
    source_kind: SourceKind
    verified: bool
    new_turn: TurnRole | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A claim that is checked, embedded and ready to be compared.

    ``indexed`` is its content as the full-text index takes it: preparing a long one takes a while.
    ``named`` says that it is embedded behind the name of whom it is about, where there is one.
    ``tokens`` is None where searches do not rank by them.
    """

    request: WriteRequest
    setting: Setting
    backing: Backing
    key: Key
    multi_valued: bool
    temporary: bool
    event_at: datetime
    indexed: Prepared = field(repr=False)
    vector: npt.NDArray[np.float32] = field(repr=False)
    named: bool
    tokens: PackedTokens | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Source:
    """The independent source an observation comes from, and its place in it."""

    type: EvidenceSource
    id: str
    ref: str | None
    session_id: str | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What the transaction did."""

    record_id: str
    status: RecordStatus
    kind: WriteKind
    other_ids: tuple[str, ...]
    source_kind: SourceKind
    touched: tuple[int, ...]


def answer_of(applied: Applied, trace: WriteTrace, version: int) -> WriteResult:
    """Return what the caller is told; ``version`` is that of the commit."""
    coded = applied.kind in ("superseded", "superseded_on_arrival", "conflict")
    outcome = f"{applied.kind}:{applied.other_ids[0]}" if coded else applied.kind
    return WriteResult(
        record_id=applied.record_id,
        status=applied.status,
        kind=applied.kind,
        outcome="created" if applied.kind == "flagged" else outcome,
        note=trace.note_text(),
        other_ids=applied.other_ids,
        source_kind=applied.source_kind,
        timings_ms=trace.timings_ms(),
        index_version=version,
    )
