"""A file system of which one operation fails, for SQLite connections that name it as their VFS."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import apsw

Fault = Literal["ioerr", "full", "short", "stays full", "crash"]
IN_PROCESS: tuple[Fault, ...] = ("ioerr", "full", "short", "stays full")

CRASHED = 86
"""Exit status of a process that died in the middle of an operation."""


class FailingVFS(apsw.VFS):
    """The operating system's files, until an armed operation fails.

    Counted are writes, syncs, truncations and deletions of every file, log and journal included.
    ``ioerr`` and ``full`` refuse the operation, ``short`` writes half of it and reports a full
    disk, ``stays full`` refuses it and every later write, ``crash`` does half of it and ends the
    process at once. ``refuses_reads`` makes every read of a file fail, ``refuses_writes_to`` every
    write to the file of that name.
    """

    def __init__(self, name: str) -> None:
        """Register under ``name``."""
        self.name = name
        self.operations: list[str] = []
        self.refuses_reads = False
        self.refuses_writes_to: str | None = None
        self._nth: int | None = None
        self._fault: Fault = "ioerr"
        super().__init__(name, base="")

    def arm(self, nth: int, fault: Fault) -> None:
        """Let the ``nth`` operation from now on fail; the first one is 1."""
        self.operations.clear()
        self._nth, self._fault = nth, fault

    def disarm(self) -> None:
        """Let everything work and begin a new list of operations."""
        self.operations.clear()
        self._nth = None

    def due(self, operation: str, file: str) -> Fault | None:
        """Count an operation; return how it is to fail, None when it is to work."""
        self.operations.append(f"{operation} {os.path.basename(file)}")
        count = len(self.operations)
        if operation == "write" and os.path.basename(file) == self.refuses_writes_to:
            return "ioerr"
        if self._nth is None or count < self._nth:
            return None
        stays = self._fault == "stays full" and operation in ("write", "truncate")
        return self._fault if count == self._nth or stays else None

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        """Open a file whose operations are counted."""
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        """Delete a file, unless that is to fail."""
        _refuse(self.due("delete", filename))
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    def __init__(
        self, vfs: FailingVFS, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._vfs = vfs
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else name or "temporary"
        super().__init__("", name, flags)

    def xLock(self, level: int) -> None:
        # SQLite asks a read-only file for the exclusive lock when it closes and lives with the
        # refusal; apsw would raise it, except when it is the ordinary "busy".
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError("read-only file") from error

    def xRead(self, amount: int, offset: int) -> bytes:
        if self._vfs.refuses_reads:
            raise apsw.IOError("injected")
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:
        fault = self._vfs.due("write", self._name)
        if fault in ("short", "crash"):
            super().xWrite(data[: len(data) // 2], offset)
        _refuse(fault)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        _refuse(self._vfs.due("sync", self._name))
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:
        _refuse(self._vfs.due("truncate", self._name))
        super().xTruncate(size)


def _refuse(fault: Fault | None) -> None:
    if fault is None:
        return
    if fault == "crash":
        os._exit(CRASHED)
    if fault == "ioerr":
        raise apsw.IOError("injected")
    raise apsw.FullError("injected")


@contextmanager
def failing_vfs(name: str) -> Iterator[FailingVFS]:
    """Register a VFS for the length of a block."""
    vfs = FailingVFS(name)
    try:
        yield vfs
    finally:
        vfs.unregister()
