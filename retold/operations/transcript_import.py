"""Take a file of transcripts into a store: batch by batch, again as often as needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from retold.errors import InvalidInput, StoreError
from retold.ingest.history import HistoryCount, PastTurn, record_history
from retold.models import Principal
from retold.operations.json_stream import JsonStream
from retold.operations.transcript_formats import (
    READERS,
    TRANSCRIPT_FORMATS,
    ReadTurn,
    TranscriptFormat,
    speaker_keys,
)
from retold.protocols import ContentPolicy
from retold.store import Store

BATCH_TURNS: Final = 250
BATCH_CHARS: Final = 250_000
"""One transaction a batch: a commit costs a sync, and memory must not grow with the file."""


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import is: turns in the store, bytes read and of how many, None for a pipe."""

    turns: int
    bytes_read: int
    bytes_total: int | None


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import found in its file.

    ``imported`` turns are new, ``known`` ones were in the store, ``skipped`` ones are instructions
    of an application; together they are ``turns``. ``sessions`` counts the conversations that the
    store did not have.
    """

    file: str
    format: TranscriptFormat
    user_id: str
    agent_id: str
    turns: int
    imported: int
    known: int
    skipped: int
    sessions: int


def import_transcripts(
    store: Store,
    file: str | os.PathLike[str],
    *,
    format: TranscriptFormat,  # the name that the command gives it
    user_id: str,
    agent_id: str = "assistant",
    speakers: Iterable[str] = (),
    actor: str | None = None,
    content_policy: ContentPolicy | None = None,
    progress: Callable[[ImportProgress], None] | None = None,
) -> ImportResult:
    """Import the conversations of a file as history of one user with one agent.

    The file is read as a stream, and every batch is one transaction: after a failure or a kill
    the same call goes on where the store stands, and a call too many imports nothing. Several may
    run at once. In ``cases`` the user is who speaks under the user's id, as ``User`` or under one
    of ``speakers``. ``progress`` hears of every batch. Raises InvalidInput naming the file, the
    line and the field, with all turns before it stored; OSError for the file; StoreError.
    """
    if format not in TRANSCRIPT_FORMATS:
        raise InvalidInput(f"unknown format {format!r}; choose one of {TRANSCRIPT_FORMATS}")
    path = Path(file)
    with _opened(path, store) as stream:
        lines = JsonStream(stream)
        run = _Import(
            store,
            Principal(agent_id, user_id),
            lines,
            _size(stream),
            actor=actor,
            content_policy=content_policy,
            progress=progress,
        )
        try:
            run.take(READERS[format](lines, speaker_keys((user_id, *speakers))))
        except InvalidInput as wrong:
            place = "" if wrong.details.get("placed") else f"line {lines.line}: "
            raise InvalidInput(
                f"{path}: {place}{wrong.message.rstrip('.')}; "
                f"{run.state()}; mend the line, then {_AGAIN}",
                **wrong.details,
            ) from None
        except StoreError as error:
            raise type(error)(f"{error.message}; {run.state()}; {_AGAIN}") from error
        except OSError as error:
            if error.filename is not None:
                raise
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    done = run.count
    return ImportResult(
        file=os.fspath(path),
        format=format,
        user_id=user_id,
        agent_id=agent_id,
        turns=done.new + done.known + run.skipped,
        imported=done.new,
        known=done.known,
        skipped=run.skipped,
        sessions=done.sessions,
    )


_AGAIN: Final = "run the same command to go on"


class _Import:
    """One run over one file: the batch in hand and what is stored."""

    def __init__(
        self,
        store: Store,
        principal: Principal,
        lines: JsonStream,
        bytes_total: int | None,
        *,
        actor: str | None,
        content_policy: ContentPolicy | None,
        progress: Callable[[ImportProgress], None] | None,
    ) -> None:
        self._store = store
        self._principal = principal
        self._lines = lines
        self._bytes_total = bytes_total
        self._actor = actor
        self._content_policy = content_policy
        self._progress = progress
        self._batch: list[ReadTurn] = []
        self._chars = 0
        self.count = HistoryCount()
        self.skipped = 0

    def take(self, turns: Iterator[ReadTurn]) -> None:
        """Store every turn; when one is wrong, those before it, and then raise."""
        try:
            for turn in turns:
                self._add(turn)
        except InvalidInput as wrong:
            if "position" not in wrong.details:
                self._store_batch()
            raise
        self._store_batch()

    def state(self) -> str:
        """Return how much is stored, in words."""
        turns = self.count.new + self.count.known
        return f"{turns:,} {'turn is' if turns == 1 else 'turns are'} in the store"

    def _add(self, turn: ReadTurn) -> None:
        if turn.past is None:
            self.skipped += 1
            return
        self._batch.append(turn)
        self._chars += len(turn.past.turn.content)
        if len(self._batch) >= BATCH_TURNS or self._chars >= BATCH_CHARS:
            self._store_batch()

    def _store_batch(self) -> None:
        """Store the batch in one transaction; when one turn is wrong, those before it.

        Raises InvalidInput with ``position`` in its details.
        """
        batch, self._batch, self._chars = self._batch, [], 0
        past = [turn.past for turn in batch if turn.past is not None]
        try:
            self._record(past)
        except InvalidInput as wrong:
            position = wrong.details.get("position")
            if not isinstance(position, int):
                raise
            self._record(past[:position])
            at = batch[position]
            field = str(wrong.details.get("field", ""))
            named = f", field `{at.fields.get(field, field)}`" if field else ""
            raise InvalidInput(
                f"{at.place}{named}: {wrong.message}", placed=True, position=position
            ) from None

    def _record(self, past: list[PastTurn]) -> None:
        if not past:
            return
        self.count += record_history(
            self._store,
            self._principal,
            past,
            actor=self._actor,
            content_policy=self._content_policy,
        )
        if self._progress is not None:
            turns = self.count.new + self.count.known
            self._progress(ImportProgress(turns, self._lines.bytes_read, self._bytes_total))


@contextmanager
def _opened(path: Path, store: Store) -> Iterator[BinaryIO]:
    """Open the file, but no file of the store: closing it would drop the locks SQLite holds."""
    for name in (store.path, Path(f"{store.path}-wal"), Path(f"{store.path}-shm")):
        if path.exists() and name.exists() and path.samefile(name):
            raise InvalidInput(f"{path} belongs to the store itself; name a file of transcripts")
    with path.open("rb") as stream:
        yield stream


def _size(stream: BinaryIO) -> int | None:
    """Return the size of a file; None for a pipe."""
    return os.fstat(stream.fileno()).st_size if stream.seekable() else None
