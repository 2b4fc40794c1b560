"""New stores that are copies of one that the library made, with an identity of their own.

Making a store runs the whole schema and waits for the disk several times, which is more than most
tests of behaviour need for all the rest. What making one does is proven in ``tests/store``,
``tests/migration`` and ``tests/faults``, which copy nothing.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

import apsw

from retold.store import Store
from retold.store.codec import to_text
from retold.store.migrations import MIGRATIONS
from retold.util import new_id, system_clock

_open = Store.open.__func__
IDENTITY = "update store_meta set value = ? where key = ?"


@cache
def _template() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "template.sqlite"
        _open(Store, path).close()
        return path.read_bytes()


@contextmanager
def copied_stores() -> Iterator[None]:
    """Let a store that would be made be copied; every other opening is as ever."""

    def opened(cls, path, *, create=True, read_only=False, vfs=None, **options):
        if create and not read_only and vfs is None and _is_free(path):
            _copy_to(
                Path(path), options.get("clock", system_clock), options.get("id_source", new_id)
            )
        return _open(cls, path, create=create, read_only=read_only, vfs=vfs, **options)

    with patch.object(Store, "open", classmethod(opened)):
        yield


def _is_free(path) -> bool:
    if not isinstance(path, str | Path) or os.fspath(path).startswith((":", "file:")):
        return False
    try:
        return Path(path).parent.is_dir() and not os.path.lexists(path)
    except (OSError, ValueError):
        return False


def _copy_to(path: Path, clock, id_source) -> None:
    """Copy with as many looks at the clock and as many ids as making takes."""
    moments = [clock() for _ in MIGRATIONS]
    epoch, store_id = id_source(), id_source()
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_template())
        connection = apsw.Connection(name)
        connection.pragma("synchronous", 0)
        with connection:
            for key, value in (
                ("store_epoch", epoch),
                ("store_id", store_id),
                ("created_at", to_text(moments[0])),
            ):
                connection.execute(IDENTITY, (value, key))
        connection.close()
        os.link(name, path)
    except FileExistsError:
        pass  # another thread was faster
    finally:
        os.unlink(name)
