"""Every disk that a power loss may leave behind opens, is whole and holds what was promised."""

import random

import apsw
import pytest

from retold.store import Store
from tests.faults import sampled
from tests.faults.power_loss_vfs import LOSSES, SECTOR, Change, Disk, applied, power_loss_vfs
from tests.store_support import contents, prepare, problems, remember

LONG = " ".join(f"word{number}" for number in range(400))


@pytest.fixture
def vfs():
    with power_loss_vfs("power-loss") as registered:
        yield registered


def claim(number):
    return f"claim {number} {LONG}"


def write(store, vfs, number):
    with store.write() as tx:
        remember(tx, claim(number))
    vfs.acknowledged = number


def checkpoint(path, vfs):
    """Save the log into the file while the store is open, as maintenance does."""
    connection = apsw.Connection(str(path), vfs=vfs.name)
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()


def images(vfs, folder, every):
    """Restore every sampled moment under each kind of loss; yield the path and the promise."""
    chance = random.Random(20261130)
    assert len(vfs.moments) > 50
    for number, moment in enumerate(sampled(vfs.moments, every)):
        for loss in LOSSES:
            image = folder / f"{number} {loss}"
            image.mkdir()
            moment.restore(image, loss, chance)
            yield image / "memory.db", moment, f"{loss} lost after {moment.operation!r}"


def test_power_loss_keeps_every_acknowledged_write(tmp_path, vfs):
    """``normal`` instead of ``full`` in sync_every_commit makes it fail."""
    path = tmp_path / "memory.db"
    with Store.open(path, vfs=vfs.name) as store:
        prepare(store)
        checkpoint(path, vfs)
        vfs.recording = True
        for number in range(1, 5):
            write(store, vfs, number)
            if number == 2:
                checkpoint(path, vfs)
    vfs.recording = False

    for image, moment, what in images(vfs, tmp_path, 23):
        assert problems(image) == [], what
        with Store.open(image) as store:
            found = contents(store)
            assert found == [claim(number) for number in range(1, len(found) + 1)], what
            assert len(found) >= moment.acknowledged, what
            write(store, vfs, 99)


def test_power_loss_beside_unsynced_log_rows_keeps_every_acknowledged_write(tmp_path, vfs):
    """Log rows are written without a sync; they may go, the records around them may not."""
    path = tmp_path / "memory.db"
    with Store.open(path, vfs=vfs.name) as store:
        prepare(store)
        vfs.recording = True
        for number in range(1, 5):
            with store.write_log(1000) as tx:
                tx.meta.set_text(f"log row {number}", LONG)
            write(store, vfs, number)
    vfs.recording = False

    for image, moment, what in images(vfs, tmp_path, 29):
        assert problems(image) == [], what
        with Store.open(image) as store:
            assert len(contents(store)) >= moment.acknowledged, what


def test_power_loss_during_the_first_open_leaves_a_file_that_opens(tmp_path, vfs):
    """Creating the schema outside one transaction makes it fail."""
    vfs.recording = True
    with Store.open(tmp_path / "memory.db", vfs=vfs.name):
        pass
    vfs.recording = False

    for image, _, what in images(vfs, tmp_path, 11):
        with Store.open(image) as store:
            prepare(store)
            write(store, vfs, 1)
        assert problems(image) == [], what


# --- the disk itself ------------------------------------------------------------------


def test_disk_loses_only_what_was_not_synced():
    disk, chance = Disk(), random.Random(1)
    disk.pending.append(Change(0, b"a" * SECTOR * 4))
    disk.sync()
    disk.pending += [Change(SECTOR, b"b" * SECTOR * 2), Change(SECTOR * 4, b"c" * 10)]

    assert disk.image("all unsynced", chance) == b"a" * SECTOR * 4
    assert disk.image("nothing", chance) == (
        b"a" * SECTOR + b"b" * SECTOR * 2 + b"a" * SECTOR + b"c" * 10
    )
    torn = {disk.image("random sectors", chance) for _ in range(50)}
    assert len(torn) == 2**3


def test_disk_cuts_and_fills_as_files_do():
    assert applied(b"abcdef", [Change(3, None)]) == b"abc"
    assert applied(b"abc", [Change(5, b"x")]) == b"abc\0\0x"


def test_change_splits_at_the_borders_of_sectors():
    change = Change(SECTOR - 1, b"x" * (SECTOR + 2))

    assert [(part.offset, len(part.data)) for part in change.sectors()] == [
        (SECTOR - 1, 1),
        (SECTOR, SECTOR),
        (SECTOR * 2, 1),
    ]
