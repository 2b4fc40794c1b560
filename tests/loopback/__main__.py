"""Serve the pretend model until interrupted: ``python -m tests.loopback`` in a checkout.

It prints the variables that send the clients of both providers here, ready to be pasted.
"""

from __future__ import annotations

import threading

from tests.loopback import LoopbackModel
from tests.loopback.assistant import answer


def main() -> None:
    """Print the variables, then serve."""
    with LoopbackModel(answer, watched=False) as model:
        for name, value in model.environment.items():
            print(f"export {name}={value}", flush=True)  # noqa: T201  # this is what it is for
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
