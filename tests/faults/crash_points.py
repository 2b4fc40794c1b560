"""Write through the failing VFS in children that die at one operation each; print how each ended.

``python -m tests.faults.crash_points TEMPLATE FOLDER POINT...`` copies the template for each point
and prints one JSON line ``{"point", "status", "acknowledged"}``. Its own process, because a child
of a threaded process may not fork safely.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from retold.store import Store
from tests.faults.failing_vfs import failing_vfs
from tests.store_support import remember

WRITES = ("second", "third")


def die_at(path: Path, point: int, pipe: int) -> None:
    """Write twice and close, dying at one operation; send a byte for each acknowledged write."""
    with failing_vfs("crashing") as vfs:
        store = Store.open(path, vfs=vfs.name)
        vfs.arm(point, "crash")
        for content in WRITES:
            with store.write() as tx:
                remember(tx, content)
            os.write(pipe, b".")
        store.close()


def main(template: Path, folder: Path, points: list[int]) -> None:
    for point in points:
        path = folder / f"{point}.db"
        shutil.copy(template, path)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                die_at(path, point, writing)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as acknowledged:
            count = len(acknowledged.read())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        line = {"point": point, "status": status, "acknowledged": count}
        sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [int(point) for point in sys.argv[3:]])
