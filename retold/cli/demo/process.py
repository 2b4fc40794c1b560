"""The process in which a later session of a demonstration runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from retold.cli.demo.offline import refuse_sockets
from retold.cli.demo.script import Script
from retold.cli.exits import UNEXPECTED, ChildFailed, error_line, exit_code


def play_elsewhere(store: Path, script: Script, number: int) -> dict[str, Any]:
    """Play a session in a new process of the same interpreter and return its facts.

    Raises ChildFailed with what that process said.
    """
    order = {"store": str(store), "number": number, "script": script.model_dump(exclude_unset=True)}
    done = subprocess.run(
        # -P: a file in the working directory that is named like a module is none of ours.
        [sys.executable, "-P", "-m", "retold.cli.demo.process"],
        input=json.dumps(order).encode(),
        stdout=subprocess.PIPE,
        check=False,
    )
    answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    if "facts" not in answer:
        line = answer.get("error") or f"session {number + 1} ended with status {done.returncode}"
        raise ChildFailed(line, answer.get("code", UNEXPECTED))
    facts: dict[str, Any] = answer["facts"]
    return facts


def main() -> None:
    """Read an order from standard input, play it, write its facts to standard output."""
    refuse_sockets()
    from retold.cli.demo.play import play_session

    order = json.load(sys.stdin)
    answer: dict[str, Any]
    try:
        script = Script.model_validate(order["script"])
        answer = {"facts": play_session(Path(order["store"]), script, order["number"])}
    except Exception as error:
        answer = {"error": error_line(error), "code": exit_code(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
