"""huey's storage on a file that may be removed, replaced or missing while it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huey.storage import SqliteStorage

from retold.queue import file_identity, make_queue_file


class WatchedStorage(SqliteStorage):  # type: ignore[misc]  # huey ships no types
    """Make the file when it is missing, its owner's alone, and follow it when it is replaced.

    huey itself goes on reading a removed file for ever, and never sees what is written into the
    new one of the same name.
    """

    _connected_to: str | None = None

    @contextmanager
    def db(self, commit: bool = False, close: bool = False) -> Iterator[Any]:
        """Yield a cursor on the file that bears the name now."""
        if self._conn is not None and file_identity(Path(self.filename)) != self._connected_to:
            self.close()
        with super().db(commit=commit, close=close) as cursor:
            yield cursor

    def _create_connection(self) -> Any:  # noqa: ANN401  # huey ships no types
        make_queue_file(Path(self.filename))
        connection = super()._create_connection()
        try:
            connection.execute(self.begin_sql)
            for statement in self.ddl:
                connection.execute(statement)
            connection.commit()
        except BaseException:
            connection.close()
            raise
        self._connected_to = file_identity(Path(self.filename))
        return connection
