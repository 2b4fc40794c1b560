"""A file system that remembers what a disk may hold if the power went at any moment.

A write reaches the disk for certain only with the next sync of its file. Until then any of its
sectors may be there or not, whatever the order, which no killed process can show.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import apsw

SECTOR = 512
Loss = Literal["nothing", "all unsynced", "random sectors"]
LOSSES: tuple[Loss, ...] = ("nothing", "all unsynced", "random sectors")


@dataclass(frozen=True)
class Change:
    """Bytes written at an offset, or with ``data`` None the file cut at that size."""

    offset: int
    data: bytes | None

    def sectors(self) -> Iterator[Change]:
        """Yield the parts that reach the disk, or do not, each by itself."""
        if self.data is None:
            yield self
            return
        start = self.offset
        end = self.offset + len(self.data)
        while start < end:
            stop = min(end, (start // SECTOR + 1) * SECTOR)
            yield Change(start, self.data[start - self.offset : stop - self.offset])
            start = stop


@dataclass
class Disk:
    """What one file surely holds, and what happened to it since its last sync."""

    synced: bytes = b""
    pending: list[Change] = field(default_factory=list)

    def sync(self) -> None:
        """Let everything pending reach the disk."""
        self.synced = applied(self.synced, self.pending)
        self.pending = []

    def image(self, loss: Loss, chance: random.Random) -> bytes:
        """Return what may be found after a power loss."""
        if loss == "all unsynced":
            return self.synced
        if loss == "nothing":
            return applied(self.synced, self.pending)
        survived = [
            part for change in self.pending for part in change.sectors() if chance.random() < 0.5
        ]
        return applied(self.synced, survived)


def applied(content: bytes, changes: list[Change]) -> bytes:
    """Return the content after some changes, in order."""
    if not changes:
        return content
    found = bytearray(content)
    for change in changes:
        if change.data is None:
            del found[change.offset :]
        else:
            found.extend(bytes(max(0, change.offset - len(found))))
            found[change.offset : change.offset + len(change.data)] = change.data
    return bytes(found)


@dataclass(frozen=True)
class Moment:
    """The disk right after one operation; ``acknowledged`` writes had been promised by then."""

    operation: str
    acknowledged: int
    files: dict[str, Disk]

    def restore(self, folder: Path, loss: Loss, chance: random.Random) -> None:
        """Write the files as they may be found into an empty folder."""
        for name, disk in self.files.items():
            (folder / name).write_bytes(disk.image(loss, chance))


class PowerLossVFS(apsw.VFS):
    """The operating system's files; every change adds a ``Moment`` while ``recording``."""

    def __init__(self, name: str) -> None:
        """Register under ``name``."""
        self.name = name
        self.recording = False
        self.acknowledged = 0
        self.moments: list[Moment] = []
        self._disks: dict[str, Disk] = {}
        super().__init__(name, base="")

    def disk(self, path: str) -> Disk:
        """Return the disk behind a file; what it held before it was opened counts as synced."""
        if path not in self._disks:
            known = Path(path).read_bytes() if os.path.exists(path) else b""
            self._disks[path] = Disk(known)
        return self._disks[path]

    def happened(self, operation: str, path: str) -> None:
        """Keep the state of all files after an operation."""
        if self.recording:
            files = {
                os.path.basename(name): Disk(disk.synced, list(disk.pending))
                for name, disk in self._disks.items()
            }
            told = f"{operation} {os.path.basename(path)}"
            self.moments.append(Moment(told, self.acknowledged, files))

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        """Open a file whose changes are followed."""
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        """Delete a file; that it is gone counts as synced."""
        super().xDelete(filename, syncdir)
        self._disks.pop(filename, None)
        self.happened("delete", filename)


class _File(apsw.VFSFile):
    def __init__(
        self, vfs: PowerLossVFS, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._vfs = vfs
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if self._path is not None:
            vfs.disk(self._path)
        super().__init__("", name, flags)

    def xLock(self, level: int) -> None:
        # See failing_vfs: SQLite lives with this refusal, apsw would raise it.
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError("read-only file") from error

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._changed("write", Change(offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        super().xTruncate(size)
        self._changed("truncate", Change(size, None))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        if self._path is not None:
            self._vfs.disk(self._path).sync()
            self._vfs.happened("sync", self._path)

    def _changed(self, operation: str, change: Change) -> None:
        if self._path is not None:
            self._vfs.disk(self._path).pending.append(change)
            self._vfs.happened(operation, self._path)


@contextmanager
def power_loss_vfs(name: str) -> Iterator[PowerLossVFS]:
    """Register a VFS for the length of a block."""
    vfs = PowerLossVFS(name)
    try:
        yield vfs
    finally:
        vfs.unregister()
