"""The face for applications: an opened store and one session on it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NoReturn, Self

from retold.config import (
    PROFILES,
    RetoldConfig,
    load_config,
    profile_config,
    read_environment,
    resolve_profile,
)
from retold.errors import (
    InvalidInput,
    NotFound,
    NotYetAvailable,
    SessionFinished,
    StoreUnavailable,
)
from retold.host import MemoryHost
from retold.models import (
    ACTIVE_STATUSES,
    EntityMention,
    MemoryType,
    Principal,
    Record,
    RecordStatus,
    SearchRequest,
    SourceKind,
    Turn,
    TurnRole,
    WriteRequest,
    WriteResult,
)
from retold.operations.status import StoreStatus, store_status
from retold.policy.grants import readable_scopes
from retold.results import ExtractionHandle, Profile, SearchPage, Status
from retold.retrieve import lookup
from retold.retrieve.lookup import Lookup, Page, RecordView
from retold.runtime import MemoryRuntime, OnMismatch, Overrides, build_runtime
from retold.store import Store
from retold.text import locate_quote

RevisionAction = Literal["confirm", "supersede", "expire"]


class Retold:
    """A store of memories, opened once per process and safe across its threads.

    ``Retold.open`` owns what it opens; ``Retold(runtime)`` leaves closing to whoever made the
    runtime. Use it as a context manager.
    """

    def __init__(self, runtime: MemoryRuntime, *, owns_runtime: bool = False) -> None:
        """Put the face on a runtime."""
        self.runtime = runtime
        self._owns_runtime = owns_runtime

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        config: RetoldConfig | str | os.PathLike[str] | None = None,
        profile: str | None = None,
        overrides: Overrides | None = None,
        create: bool = True,
        migrate: bool = False,
        read_only: bool = False,
        on_embedding_mismatch: OnMismatch = "raise",
    ) -> Self:
        """Open a store, making a missing file.

        ``config`` is a configuration or a YAML path; ``profile`` one of standard, lite, offline.
        Both None: RETOLD_CONFIG or RETOLD_PROFILE, else the profile the store was made with, else
        standard. ``path`` None takes ``store.path`` of the configuration. Raises ValueError for
        both at once or an unknown profile, RetoldSetupError for a missing model or package,
        MigrationRequired, ForeignFile, EmbeddingProfileMismatch and StoreUnavailable.
        """
        chosen, name = _settings(path, config, profile)
        runtime = build_runtime(
            chosen,
            path,
            overrides=overrides,
            profile=name,
            create=create,
            migrate=migrate,
            read_only=read_only,
            on_embedding_mismatch=on_embedding_mismatch,
        )
        return cls(runtime, owns_runtime=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Retold({os.fspath(self.store.path)!r})"

    @property
    def store(self) -> Store:
        """Return the open store."""
        return self.runtime.store

    @property
    def host(self) -> MemoryHost:
        """Return the application's own door: grants, names of users, trusted writes."""
        return self.runtime.host

    def close(self) -> None:
        """Write what waits and close the store, if this object opened it. Idempotent."""
        if self._owns_runtime:
            self.runtime.close()

    def session(
        self,
        user_id: str,
        *,
        agent_id: str = "assistant",
        session_id: str | None = None,
        project_id: str | None = None,
        extract: bool = False,
        record: bool = True,
    ) -> MemorySession:
        """Open a conversation of one agent with one user.

        No grant is needed: without one it works on the private scope of the pair. ``session_id``
        is the host's own id (None makes one); a known one goes on. ``record`` False keeps no
        transcript. Raises InvalidInput for blank ids, control characters, a slash in agent or user
        id, or ``~`` in a session id.
        """
        if extract:
            _later("session(extract=True)")
        principal = Principal(agent_id, user_id, session_id or self.runtime.id_source(), project_id)
        self.runtime.hooks.on_session_start(principal, record=record)
        return MemorySession(self.runtime, principal)

    def status(self) -> StoreStatus:
        """Return what an operator asks first: counts over the whole store, models, sizes."""
        return store_status(self.store, self.runtime.config, "the open store")

    def row_counts(self) -> dict[str, int]:
        """Return the number of rows of every table, by name: what a refused write leaves as is."""
        with self.store.read() as tx:
            return tx.meta.row_counts()

    def asession(self, user_id: str, **options: Any) -> NoReturn:  # noqa: ANN401  # any option
        """Say that the async face comes with a later release."""
        _later("the async face")

    def forget_user(self, user_id: str, **options: Any) -> NoReturn:  # noqa: ANN401  # any option
        """Say that erasure comes with a later release."""
        _later("erasing a user")


class MemorySession:
    """One conversation: turns in, memories in and out.

    ``remember``, ``revise`` and ``forget`` trust the application that calls them. Do not register
    them as tools of a model; ``tools`` is the model's door.
    """

    def __init__(self, runtime: MemoryRuntime, principal: Principal) -> None:
        """Bind a runtime to a principal whose conversation was started."""
        self._runtime = runtime
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

        ``at`` None means now. The same ``external_key`` is recorded once. Raises InvalidInput.
        """
        self._require_open()
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
        """Add chat messages of the form ``{"role": ..., "content": str, "name"?: ...}``, in order.

        System messages are skipped: they are nobody's words. Raises InvalidInput for content that
        is no text, before anything of that message is stored.
        """
        turns = []
        for message in messages:
            role, content = message.get("role"), message.get("content")
            if role == "system":
                continue
            if not isinstance(content, str):
                raise InvalidInput("message content must be text; pass each text part by itself")
            turns.append(self.turn(role, content, name=message.get("name")))  # type: ignore[arg-type]  # checked there
        return tuple(turns)

    def remember(
        self,
        content: str,
        *,
        evidence: str | None = None,
        type: MemoryType = "semantic",  # the name the design gives it
        attribute: str | None = None,
        about: str | EntityMention | None = None,
        mentions: Sequence[str | EntityMention] = (),
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
        one, since claims without it are filed by their wording and rephrased ones do not meet.
        ``about`` names the subject when it is not the user. ``replaces`` False keeps what the
        attribute holds and adds beside it.

        Raises UnsupportedEvidenceError, with nothing stored, when the quote does not support the
        claim, unless ``allow_inference`` stores it as an unconfirmed inference; InvalidInput,
        EntityAmbiguous and WriteContended as their messages say. This method trusts its caller:
        never expose it to a model as a tool.
        """
        self._require_open()
        request = WriteRequest(
            type=type,
            content=content,
            attribute=attribute,
            source_kind=source_kind,
            evidence=evidence if evidence is not None else self._own_words(content, source_kind),
            mentions=_mentions(about, mentions),
            event_at=event_at,
            valid_until=valid_until,
            tags=tuple(tags or ()),
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
    ) -> SearchPage:
        """Return what is relevant and readable, best first, or nothing and why.

        One to three phrases. ``since <= event < until``. ``known_at`` searches what the store
        believed then, ``as_of`` what was true then. Raises InvalidInput, which names the choices.
        """
        self._require_open()
        request = SearchRequest(
            queries=(query,) if isinstance(query, str) else tuple(query),
            k=self._runtime.config.retrieval.default_k if k is None else k,
            types=None if types is None else types,  # type: ignore[arg-type]  # checked there
            entities=None if entities is None else entities,  # type: ignore[arg-type]  # likewise
            since=since,
            until=until,
            include_history=include_history,
            known_at=known_at,
            as_of=as_of,
        )
        return SearchPage.of(self._runtime.retriever.search(self.principal, request))

    def context(self, query: str, *, k: int | None = None) -> str:
        """Return prompt-ready text: the profile, then what a search finds; may be empty."""
        page = self.search(query, k=k)
        parts = (self.profile().text, page.text if page else "")
        return "\n\n".join(part for part in parts if part)

    def profile(self) -> Profile:
        """Return the ambient profile; empty until records can become ambient."""
        self._require_open()
        return Profile()

    def get(self, ids: str | Sequence[str]) -> Lookup:
        """Return full records by id, with conflicts and lineage; unknown and foreign ids alike."""
        self._require_open()
        wanted = [ids] if isinstance(ids, str) else list(ids)
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
            statuses = (status,) if isinstance(status, str) else tuple(status)
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
        """Confirm, supersede or expire an active record.

        supersede needs ``content`` and answers with a WriteResult; the others return the record.
        Raises NotFound for a missing, unreadable or unwritable id, InvalidInput for history.
        """
        self._require_open()
        revision = self._runtime.revision
        if action == "supersede":
            if content is None:
                raise InvalidInput("supersede needs content")
            result = revision.supersede(
                self.principal,
                record_id,
                content=content,
                reason=reason,
                source_kind=source_kind,
                quote=evidence,
                may_add_turn=True,
            )
            return self._activated(result)
        if content is not None:
            raise InvalidInput(f"content goes with supersede only, not with {action}")
        if action == "confirm":
            record = revision.confirm(
                self.principal, record_id, reason=reason, quote=evidence, trusted=True
            )
        elif action == "expire":
            record = revision.expire(self.principal, record_id, reason=reason)
        else:
            raise InvalidInput(f"unknown action {action!r}; choose confirm, supersede or expire")
        return self._view(record)

    def merge(self, entity_id: str, merge_into: str, *, reason: str) -> tuple[str, ...]:
        """Merge two entities of one scope and kind; return the ids of the touched records."""
        self._require_open()
        touched = self._runtime.revision.merge(self.principal, entity_id, merge_into, reason=reason)
        return tuple(touched)

    def forget(self, record_id: str, *, reason: str = "asked to forget") -> RecordView:
        """Turn a record into a tombstone that nothing shows. Raises NotFound."""
        self._require_open()
        return self._view(self._runtime.revision.forget(self.principal, record_id, reason=reason))

    def finish(self, *, extract: bool = False) -> ExtractionHandle:
        """End the conversation; a second call does nothing. Afterwards the session refuses use."""
        if self._finished is not None:
            return self._finished
        if extract:
            _later("finish(extract=True)")
        session = self._runtime.hooks.on_session_end(self.principal)
        self._finished = ExtractionHandle(session.id)
        return self._finished

    def tools(self) -> NoReturn:
        """Say that the model's tools come with a later release."""
        _later("tools()")

    def _own_words(self, content: str, source_kind: SourceKind) -> str | None:
        """Return the content as its own evidence when a user turn holds it word for word."""
        if source_kind != "user_statement" or not isinstance(content, str):
            return None
        with self._runtime.store.read() as tx:
            session = tx.sessions.latest(
                self.principal.agent_id, self.principal.user_id, self.principal.session_id or ""
            )
            turns = tx.sessions.turns(session.conversation_id) if session else []
        said = any(
            turn.role == "user" and turn.is_evidence and locate_quote(content, turn.content)
            for turn in turns
        )
        return content if said else None

    def _activated(self, result: WriteResult) -> WriteResult:
        activation, reason = self._runtime.activator.activate_written(
            self.principal, result.record_id, actor=self.principal.agent_id
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


def _settings(
    path: str | os.PathLike[str] | None,
    config: RetoldConfig | str | os.PathLike[str] | None,
    profile: str | None,
) -> tuple[RetoldConfig, str | None]:
    """Return the configuration to use and the profile name a new store remembers."""
    choices = ", ".join(PROFILES)
    if config is not None and profile is not None:
        raise ValueError(f"pass config or profile, not both; the profiles are {choices}")
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"unknown profile {profile!r}; choose one of {choices}")
    if isinstance(config, RetoldConfig):
        return config, None
    if config is not None:
        return load_config(Path(config)), None
    choice = resolve_profile(profile, _stored_profile(path), read_environment())
    if choice.config_path is not None:
        return load_config(choice.config_path), None
    name = choice.profile or "standard"
    return profile_config(name), name


def _stored_profile(path: str | os.PathLike[str] | None) -> str | None:
    """Return the profile an existing store was made with; None for a new or unreadable file.

    What is wrong with the file is reported when it is opened for good.
    """
    if path is None or not Path(path).is_file() or Path(path).stat().st_size == 0:
        return None
    try:
        with (
            Store.open(path, read_only=True, allow_migration_issues=True) as store,
            store.read() as tx,
        ):
            return tx.meta.profile()
    except (StoreUnavailable, OSError):
        return None


def _mentions(
    about: str | EntityMention | None, mentions: Sequence[str | EntityMention]
) -> tuple[EntityMention, ...]:
    named = [EntityMention("person", about, "about") if isinstance(about, str) else about]
    named += [
        EntityMention("other", mention, "mentions") if isinstance(mention, str) else mention
        for mention in mentions
    ]
    return tuple(mention for mention in named if mention is not None)


def _later(what: str) -> NoReturn:
    raise NotYetAvailable(f"{what} comes with a later release of retold")
