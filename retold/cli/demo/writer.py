"""The process that the demonstration kills: one note after another, each acknowledged."""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path

from retold.cli.demo.offline import refuse_sockets
from retold.cli.demo.store import open_demo
from retold.cli.exits import error_line


def main(order_text: str) -> None:
    """Write notes for ever; the id of a note goes to standard output once it is stored."""
    refuse_sockets()
    order = json.loads(order_text)
    with (
        open_demo(Path(order["store"]), create=False) as retold,
        retold.session(order["user"], agent_id=order["agent"]) as session,
    ):
        for number in itertools.count(1):
            note = order["note"].replace("{n}", str(number))
            result = session.remember(note, evidence=note, type=order["type"])
            os.write(sys.stdout.fileno(), f"{result.record_id}\n".encode("ascii"))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as error:
        sys.exit(error_line(error))
