"""An older file that is brought up to date on a failing disk, and while the power goes."""

import contextlib
import random
import shutil

import apsw
import pytest

from retold.errors import MigrationRequired, StoreError
from retold.store import Store
from tests.faults import sampled
from tests.faults.failing_vfs import IN_PROCESS, failing_vfs
from tests.faults.power_loss_vfs import LOSSES, power_loss_vfs
from tests.migration import version_1_file


@pytest.fixture(scope="module")
def old_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("version_1") / "memory.db"
    version_1_file.build(path)
    return path


@pytest.fixture(scope="module")
def records(old_file):
    """Return the ids and contents that must survive."""
    return rows_of(old_file)


def rows_of(path):
    connection = apsw.Connection(str(path))
    rows = connection.execute("select id, content from records order by id").fetchall()
    connection.close()
    return rows


def migrate(path, vfs=None):
    Store.open(path, migrate=True, allow_migration_issues=True, vfs=vfs).close()


def open_as_it_is(path):
    """Open what is wholly new, be told about what is wholly old; anything else is an error."""
    with contextlib.suppress(MigrationRequired):
        Store.open(path, allow_migration_issues=True).close()


def is_migrated_at_last(path, records):
    migrate(path)
    with Store.open(path, allow_migration_issues=True) as store, store.read() as tx:
        assert [row[0] for row in tx.run("pragma integrity_check")] == ["ok"]
        assert tx.events.verify() is None
    return rows_of(path) == records


@pytest.mark.parametrize("fault", IN_PROCESS)
def test_failing_migration_leaves_a_file_that_can_be_migrated(old_file, records, tmp_path, fault):
    """Running the script outside one transaction makes it fail."""
    path = tmp_path / "memory.db"
    with failing_vfs("failing") as vfs:
        shutil.copy(old_file, path)
        migrate(path, vfs.name)
        count = len(vfs.operations)
        for nth in sampled(range(1, count + 1), 61):
            shutil.copy(old_file, path)
            vfs.arm(nth, fault)
            try:
                migrate(path, vfs.name)
            except StoreError:
                pass
            finally:
                vfs.disarm()

            open_as_it_is(path)
            assert rows_of(path) == records, (nth, fault)
            assert is_migrated_at_last(path, records), (nth, fault)
            for leftover in tmp_path.glob("memory.db-*"):
                leftover.unlink()


def test_power_loss_during_a_migration_leaves_a_file_that_can_be_migrated(
    old_file, records, tmp_path
):
    """Running the script outside one transaction makes it fail."""
    path = tmp_path / "memory.db"
    shutil.copy(old_file, path)
    with power_loss_vfs("power-loss") as vfs:
        vfs.recording = True
        migrate(path, vfs.name)
        vfs.recording = False

    chance = random.Random(20261130)
    for number, moment in enumerate(sampled(vfs.moments, 43)):
        for loss in LOSSES:
            image = tmp_path / f"{number} {loss}"
            image.mkdir()
            moment.restore(image, loss, chance)
            found = image / "memory.db"
            what = f"{loss} lost after {moment.operation!r}"

            open_as_it_is(found)
            assert rows_of(found) == records, what
            assert is_migrated_at_last(found, records), what
