"""The queue file as consumers read it, while it is removed, moved or replaced."""

import subprocess
import sys

import pytest

from retold.queue import make_storage, reset_queue
from tests.cli_support import environment
from tests.docs_support import ROOT
from tests.warm_process import WarmPopen
from workers.storage import WatchedStorage

OTHER = """
import sys
from pathlib import Path
from retold.queue import make_storage
from workers.storage import WatchedStorage

storage = make_storage("extraction", Path(sys.argv[1]), timeout_seconds=5, kind=WatchedStorage)
storage.enqueue(b"first")
print("open", flush=True)
for _ in sys.stdin:
    print(storage.queue_size(), flush=True)
"""


def opened(path):
    return make_storage("extraction", path, timeout_seconds=5, kind=WatchedStorage)


@pytest.fixture
def other(tmp_path):
    """Another process that has the file open and looks into it when it is told to."""
    process = WarmPopen(
        [sys.executable, "-c", OTHER, str(tmp_path / "queue")],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "open\n"
    yield process
    process.stdin.close()
    process.wait()
    process.stdout.close()


def look(process):
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline()


@pytest.mark.parametrize(
    "end",
    [lambda path: path.unlink(), lambda path: reset_queue(path, "old")],
    ids=["removed", "reset"],
)
def test_new_file_is_none_of_the_old_one_that_another_process_has_open(tmp_path, other, end):
    """Without the end of the old logs SQLite reads the old index beside the new file."""
    path = tmp_path / "queue"
    end(path)
    storage = opened(path)
    storage.enqueue(b"second")
    storage.enqueue(b"third")

    assert storage.queue_size() == 2
    assert look(other) == "2\n"
    assert path.stat().st_mode & 0o777 == 0o600
    storage.close()
