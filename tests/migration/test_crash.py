"""A migration that is killed or raced leaves a file that is wholly old or wholly new."""

import os
import signal

import apsw
import pytest

from retold.store import Store, migrations
from retold.util import new_id, system_clock
from tests.faults.many_processes import FORKED
from tests.migration import version_1_file


def _migrate(path, die_at=None):
    """Migrate; with ``die_at`` the process kills itself before that statement."""
    seen = 0

    def trace(_cursor, _sql, _bindings):
        nonlocal seen
        seen += 1
        if seen == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    connection = apsw.Connection(path)
    connection.exec_trace = trace
    migrations.migrate(connection, system_clock, new_id)
    return seen


def _open(path, gate):
    gate.wait()
    Store.open(path, migrate=True, allow_migration_issues=True).close()


@pytest.mark.parametrize("part", [0.05, 0.5, 0.95])
def test_killed_migration_leaves_the_old_file_and_can_be_repeated(tmp_path, part):
    """Without the transaction around a step the file would be neither old nor new."""
    version_1_file.build(tmp_path / "counted.db")
    total = _migrate(str(tmp_path / "counted.db"))
    path = tmp_path / "old.db"
    version_1_file.build(path)
    connection = apsw.Connection(str(path))
    before = connection.execute("select id, content from records order by id").fetchall()
    connection.close()

    process = FORKED.Process(target=_migrate, args=(str(path), int(total * part)))
    process.start()
    process.join(120)

    assert process.exitcode == -signal.SIGKILL
    connection = apsw.Connection(str(path))
    assert migrations.inspect(connection) == "version_1"
    assert connection.execute("select id, content from records order by id").fetchall() == before
    migrations.migrate(connection, system_clock, new_id)
    assert connection.execute("select id, content from records order by id").fetchall() == before
    assert connection.pragma("integrity_check") == "ok"


def test_migration_by_four_processes_at_once_happens_once(tmp_path):
    path = tmp_path / "old.db"
    version_1_file.build(path)
    gate = FORKED.Barrier(4)
    processes = [FORKED.Process(target=_open, args=(str(path), gate)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)

    assert [process.exitcode for process in processes] == [0] * 4
    with Store.open(path, allow_migration_issues=True) as store, store.read() as tx:
        assert len(tx.events.list_by_kind("store.migrated")) == 1
        assert tx.events.verify() is None
