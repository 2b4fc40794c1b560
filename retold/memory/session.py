"""One conversation: turns in, memories in and out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self

from retold.errors import (
    InvalidInput,
    NotFound,
    SessionFinished,
    StoreUnavailable,
)
from retold.ingest.entities import list_entities
from retold.ingest.own_words import said_by_the_user
from retold.memory.messages import new_turns
from retold.memory.progress import handle_of
from retold.memory.subjects import Named, subjects
from retold.models import (
    ACTIVE_STATUSES,
    Entity,
    MemoryType,
    Principal,
    Record,
    RecordStatus,
    Scope,
    SearchRequest,
    SourceKind,
    TriggerMode,
    Turn,
    TurnRole,
    WriteRequest,
    WriteResult,
)
from retold.policy import prompt
from retold.policy.activation import activation_of
from retold.policy.grants import readable_scopes
from retold.results import ExtractionHandle, Profile, SearchPage, Status
from retold.retrieve import lookup
from retold.retrieve.lookup import Lookup, Page, RecordView
from retold.runtime import MemoryRuntime
from retold.text import require_bool, require_list
from retold.tools.caller import Caller, ToolParts
from retold.tools.handlers import ToolHandlers
from retold.tools.session_tools import SessionTools
from retold.tools.shown import ids_in
from retold.tools.targets import WriteTargets

RevisionAction = Literal["confirm", "supersede", "expire"]


class MemorySession:
    """One conversation: turns in, memories in and out.

    ``remember``, ``revise`` and ``forget`` trust the application that calls them. Do not register
    them as tools of a model; ``tools`` is the model's door.
    """

    def __init__(
        self,
        runtime: MemoryRuntime,
        principal: Principal,
        *,
        extract: bool = False,
        first_segment: int | None = None,
    ) -> None:
        """Bind a runtime to a principal whose conversation was started.

        ``extract`` is what ``finish`` does when it is not told; ``first_segment`` is where it
        begins, None for the segment that is open then.
        """
        self._runtime = runtime
        self._extract = extract
        self._first_segment = first_segment
        self.principal = principal
        self._finished: ExtractionHandle | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._finished is None and not self._runtime.store.is_closed:
            self.finish()

    def __repr__(self) -> str:
        return f"MemorySession({self.principal.session_id!r})"

    def turn(
        self,
        role: TurnRole,
        content: str,
        *,
        at: datetime | None = None,
        name: str | None = None,
        tool_name: str | None = None,
        external_key: str | None = None,
    ) -> Turn:
        """Add a turn to the transcript; it is evidence for later claims.

        ``at`` None means now; a session splits by the store's own clock, whatever ``at`` says.
        The same ``external_key`` is recorded once. Raises InvalidInput.
        """
        self._require_writable()
        return self._runtime.hooks.on_turn(
            self.principal,
            role,
            content,
            at=at,
            name=name,
            tool_name=tool_name,
            external_key=external_key,
        )

    def add_messages(self, messages: Iterable[Mapping[str, Any]]) -> tuple[Turn, ...]:
        """Add chat messages of the form ``{"role": ..., "content": ..., "name"?: ...}``, in order.

        ``external_key``, or else ``id``, is the message's own key: a message that is delivered
        again is recorded once. ``content`` is text, or a list of parts whose text is kept. Results
        of tools that stand inside a message become turns of the tool, before the message's own
        text; the call in the same list names the tool. System and developer messages are skipped,
        which are nobody's words, and so are messages without text, such as calls of a tool. All
        are looked at before the first is stored: InvalidInput leaves nothing behind.
        """
        self._require_writable()
        return self._runtime.hooks.on_turns(self.principal, new_turns(messages))

    def remember(
        self,
        content: str,
        *,
        evidence: str | None = None,
        type: MemoryType = "semantic",  # the name the design gives it
        attribute: str | None = None,
        about: Named | None = None,
        mentions: Sequence[Named] = (),
        replaces: bool | None = None,
        event_at: datetime | None = None,
        valid_until: datetime | None = None,
        tags: Sequence[str] | None = None,
        source_kind: SourceKind = "user_statement",
        allow_inference: bool = False,
    ) -> WriteResult:
        """Store one claim with the words that back it.

        ``evidence`` is a verbatim quote. One that the transcript lacks is recorded as a turn whose
        role follows ``source_kind``; None takes the content itself when a user turn contains it.
        ``attribute`` names one current value, such as home_city: anything that can change needs
        one, since claims without it are filed by their wording and rephrased ones do not meet. An
        episode has none: it happened, and nothing replaces it.
        ``about`` is the subject when it is not the user, and ``mentions`` what else the claim
        names: each a name, the id of an entity that this session may read, or an Entity or
        EntityMention. ``replaces`` False keeps what the attribute holds and adds beside it.

        Raises UnsupportedEvidenceError, with nothing stored, when the quote does not support the
        claim, unless ``allow_inference`` stores it as an unconfirmed inference; NotFound for an
        entity id; InvalidInput, EntityAmbiguous and WriteContended as their messages say. This
        method trusts its caller: never expose it to a model as a tool.
        """
        self._require_writable()
        request = WriteRequest(
            type=type,
            content=content,
            attribute=attribute,
            source_kind=source_kind,
            evidence=evidence if evidence is not None else self._own_words(content, source_kind),
            mentions=subjects(self._runtime.store, self.principal, about, mentions),
            event_at=event_at,
            valid_until=valid_until,
            tags=() if tags is None else require_list(tags, "tags"),
            replaces=replaces,
            allow_inference=allow_inference,
        )
        result = self._runtime.ingestor.write(self.principal, request, may_add_turn=True)
        return self._activated(result)

    def search(
        self,
        query: str | Sequence[str],
        *,
        k: int | None = None,
        types: Sequence[MemoryType] | None = None,
        entities: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_history: bool = False,
        known_at: datetime | None = None,
        as_of: datetime | None = None,
        context: str | None = None,
    ) -> SearchPage:
        """Return what is relevant and readable, best first, or nothing and why.

        One to three phrases. ``since <= event < until``. ``known_at`` searches what the store
        believed then, ``as_of`` what was true then. ``context`` is for the query rewriter alone:
        the latest turns of this conversation. Raises InvalidInput, which names the choices.
        """
        self._require_open()
        request = SearchRequest(
            queries=(query,) if isinstance(query, str) else query,  # type: ignore[arg-type]  # likewise
            k=self._runtime.config.retrieval.default_k if k is None else k,
            types=None if types is None else types,  # type: ignore[arg-type]  # checked there
            entities=None if entities is None else entities,  # type: ignore[arg-type]  # likewise
            since=since,
            until=until,
            include_history=include_history,
            known_at=known_at,
            as_of=as_of,
            context=context,
        )
        response = self._runtime.retriever.search(self.principal, request)
        self._runtime.shown.note(self.principal, ids_in(response))
        return SearchPage.of(response)

    def context(self, query: str, *, k: int | None = None) -> str:
        """Return prompt-ready text: the profile, then what a search finds; may be empty."""
        page = self.search(query, k=k)
        parts = (self.profile().text, page.text if page else "")
        return "\n\n".join(part for part in parts if part)

    def profile(self) -> Profile:
        """Return the ambient profile; empty until records can become ambient."""
        self._require_open()
        return Profile()

    def policy_text(self, mode: TriggerMode | None = None) -> str:
        """Return the text that tells a model when to use this memory, for its system prompt.

        None takes ``retrieval.trigger.mode``. The text is the same for every user and session.
        """
        self._require_open()
        return prompt.policy_text(
            self._runtime.config.retrieval.trigger.mode if mode is None else mode
        )

    def get(self, ids: str | Sequence[str]) -> Lookup:
        """Return full records by id, with conflicts and lineage; unknown and foreign ids alike."""
        self._require_open()
        wanted = (ids,) if isinstance(ids, str) else require_list(ids, "ids")
        with self._runtime.store.read() as tx:
            return lookup.get(tx, self.principal, wanted)

    def history(
        self, record_id: str, *, known_at: datetime | None = None
    ) -> tuple[RecordView, ...]:
        """Return every version of a claim, oldest first. Raises NotFound."""
        self._require_open()
        with self._runtime.store.read() as tx:
            return lookup.history(tx, self.principal, record_id, known_at=known_at)

    def list(
        self,
        limit: int = 20,
        after: str | None = None,
        types: Collection[MemoryType] | None = None,
        status: RecordStatus | Collection[RecordStatus] | None = None,
    ) -> Page:
        """Return one page of readable records, newest first; ``after`` continues a page.

        ``status`` None means the active ones. Raises InvalidInput.
        """
        self._require_open()
        statuses: Collection[RecordStatus] = ACTIVE_STATUSES
        if status is not None:
            statuses = (status,) if isinstance(status, str) else status
        with self._runtime.store.read() as tx:
            return lookup.list_page(
                tx, self.principal, types=types, statuses=statuses, after=after, limit=limit
            )

    def status(self) -> Status:
        """Return counts of what this principal may read, and which models serve it."""
        self._require_open()
        with self._runtime.store.read() as tx:
            codes = tx.scopes.codes(readable_scopes(tx, self.principal))
            counts = tx.records.count_by_status(tuple(codes.values()))
        return Status(
            records=counts,
            embedder=f"{self._runtime.embedder.name} ({self._runtime.embedder.version})",
            judge=self._runtime.judge.name,
            dense_unavailable=self._runtime.index.dense_unavailable,
        )

    def revise(
        self,
        record_id: str,
        action: RevisionAction,
        *,
        reason: str,
        content: str | None = None,
        evidence: str | None = None,
        source_kind: SourceKind = "user_statement",
    ) -> RecordView | WriteResult:
        """Confirm, supersede or expire an active record: the three verbs under one name.

        supersede needs ``content`` and answers as ``replace``; the others return the record.
        Raises NotFound for a missing, unreadable or unwritable id, InvalidInput for history.
        """
        self._require_writable()
        if action == "supersede":
            if content is None:
                raise InvalidInput("supersede needs content")
            return self.replace(
                record_id, content, reason=reason, evidence=evidence, source_kind=source_kind
            )
        if content is not None:
            raise InvalidInput(f"content goes with supersede only, not with {action}")
        if action == "confirm":
            return self.confirm(record_id, reason=reason, evidence=evidence)
        if action == "expire":
            return self.expire(record_id, reason=reason)
        raise InvalidInput(f"unknown action {action!r}; choose confirm, supersede or expire")

    def confirm(self, record_id: str, *, reason: str, evidence: str | None = None) -> RecordView:
        """Confirm a provisional record, which then no longer expires by itself.

        ``evidence`` None confirms on the application's own word. Raises NotFound for a missing,
        unreadable or unwritable id, InvalidInput for a record that is not provisional.
        """
        self._require_writable()
        return self._view(
            self._runtime.revision.confirm(
                self.principal, record_id, reason=reason, quote=evidence, trusted=True
            )
        )

    def replace(
        self,
        record_id: str,
        content: str,
        *,
        reason: str,
        evidence: str | None = None,
        source_kind: SourceKind = "user_statement",
    ) -> WriteResult:
        """Replace an active record by a new claim, which inherits attribute, tags and entities.

        Raises NotFound for a missing, unreadable or unwritable id, InvalidInput for history and
        for a claim without authority over the record.
        """
        self._require_writable()
        result = self._runtime.revision.supersede(
            self.principal,
            record_id,
            content=content,
            reason=reason,
            source_kind=source_kind,
            quote=evidence,
            may_add_turn=True,
        )
        return self._activated(result)

    def expire(self, record_id: str, *, reason: str) -> RecordView:
        """Take an active record out of retrieval; its history stays.

        Raises NotFound for a missing, unreadable or unwritable id, InvalidInput for history.
        """
        self._require_writable()
        return self._view(self._runtime.revision.expire(self.principal, record_id, reason=reason))

    def entities(self, name: str | None = None, *, limit: int = 100) -> tuple[Entity, ...]:
        """Return people, projects and things of the readable scopes, oldest first.

        ``name`` keeps those that go by exactly this name, None all. Their ids are what ``merge``
        and ``remember(about=...)`` take. Raises InvalidInput for a limit outside 1 to 1000.
        """
        self._require_open()
        with self._runtime.store.read() as tx:
            return list_entities(tx, readable_scopes(tx, self.principal), name, limit)

    def merge(self, entity_id: str, merge_into: str, *, reason: str) -> tuple[str, ...]:
        """Merge two entities of one scope and kind; return the ids of the touched records."""
        self._require_writable()
        touched = self._runtime.revision.merge(self.principal, entity_id, merge_into, reason=reason)
        return tuple(touched)

    def forget(self, record_id: str, *, reason: str = "asked to forget") -> RecordView:
        """Turn a record into a tombstone that nothing shows. Raises NotFound."""
        self._require_writable()
        return self._view(self._runtime.revision.forget(self.principal, record_id, reason=reason))

    def finish(self, *, extract: bool | None = None) -> ExtractionHandle:
        """End the conversation; a second call does nothing. Afterwards the session refuses use.

        ``extract`` asks for extraction of what was said since the session was opened, in the
        background; None does what the session was opened with. On a read-only store there is no
        conversation to end, and the handle names the host's id. Raises RetoldSetupError for a
        model, package or key that is missing, HostedNotAllowed, and StoreUnavailable for an
        extraction on a read-only store; the session stays open then.
        """
        if self._finished is not None:
            return self._finished
        wanted = self._extract if extract is None else require_bool(extract, "extract")
        if wanted:
            self._require_writable()
            self._runtime.require_extraction(self.principal)
        if self._runtime.store.read_only:
            self._finished = ExtractionHandle(str(self.principal.session_id))
        else:
            session = self._runtime.hooks.on_session_end(
                self.principal, extract=wanted, since_segment=self._first_segment
            )
            self._finished = handle_of(
                self._runtime.store, session, self._first_segment, requested=wanted
            )
        return self._finished

    def tools(self, *, write_targets: Mapping[str, Scope] | None = None) -> SessionTools:
        """Return the tools that a model may call in this conversation.

        ``write_targets`` None offers ``personal``, the place where claims of this user go by
        default, and ``current_project`` when the session has a project that the agent may write. A
        map of the application's own names says exactly where a model may write; a target without a
        grant is not offered. Raises InvalidInput for a target that is no Scope.
        """
        self._require_open()
        runtime = self._runtime
        parts = ToolParts(
            config=runtime.config,
            store=runtime.store,
            ingestor=runtime.ingestor,
            revision=runtime.revision,
            retriever=runtime.retriever,
            activator=runtime.activator,
            shown=runtime.shown,
            new_id=runtime.id_source,
        )
        caller = Caller(parts, self.principal, WriteTargets(self.principal, write_targets))
        return SessionTools(ToolHandlers(caller, self._require_open))

    def _own_words(self, content: str, source_kind: SourceKind) -> str | None:
        """Return the content as its own evidence when a user turn holds it word for word."""
        if source_kind != "user_statement" or not isinstance(content, str):
            return None
        policy = self._runtime.content_policy
        kept = content if policy is None else policy.apply(content, where="write")
        with self._runtime.store.read() as tx:
            return content if said_by_the_user(tx, self.principal, kept) else None

    def _activated(self, result: WriteResult) -> WriteResult:
        activation, reason = activation_of(
            self._runtime.activator, self.principal, result.record_id
        )
        return replace(result, activation=activation, activation_reason=reason)

    def _view(self, record: Record) -> RecordView:
        with self._runtime.store.read() as tx:
            found = lookup.get(tx, self.principal, [record.id]).found
        if not found:
            raise NotFound(f"no record {record.id!r}")
        return found[0]

    def _require_open(self) -> None:
        if self._finished is not None:
            raise SessionFinished(
                f"session {self.principal.session_id!r} is finished; open it again with "
                "Retold.session"
            )

    def _require_writable(self) -> None:
        self._require_open()
        if self._runtime.store.read_only:
            raise StoreUnavailable(
                f"{self._runtime.store.path} was opened read-only; open it without read_only=True "
                "to write"
            )
