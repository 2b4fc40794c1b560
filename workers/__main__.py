"""``python -m workers extraction|maintenance``: run one consumer until it is told to stop."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from math import isfinite

from retold.errors import RetoldError
from retold.queue import QUEUES
from workers.app import make_app
from workers.consumer import consumer_of, die_with_parent
from workers.logs import log_to_standard_error
from workers.settings import worker_settings

logger = logging.getLogger("workers")

DEFAULT_GRACE_SECONDS = 3.0
"""honcho kills what has not ended five seconds after SIGTERM."""


def main() -> int:
    """Run the consumer that the command line names; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m workers", description=main.__doc__)
    parser.add_argument("queue", choices=QUEUES)
    parser.add_argument("--workers", type=int, default=1, help="processes of the extraction")
    parser.add_argument("--grace", type=_seconds, default=DEFAULT_GRACE_SECONDS, help="seconds")
    arguments = parser.parse_args()
    os.umask(0o077)
    log_to_standard_error()
    supervisor = os.environ.get("RETOLD_SUPERVISOR")
    if supervisor:
        die_with_parent(int(supervisor))
    try:
        huey = make_app(arguments.queue, worker_settings())
    except (RetoldError, ValueError) as error:
        logger.error("not started: %s", error)  # noqa: TRY400  # the message says what to do
        return os.EX_CONFIG
    logger.info("started", extra={"queue": arguments.queue})
    consumer_of(
        huey,
        workers=arguments.workers,
        grace_seconds=arguments.grace,
        supervised=bool(supervisor),
    ).run()
    huey.runtime.close()
    logger.info("stopped", extra={"queue": arguments.queue})
    return 0


def _seconds(text: str) -> float:
    seconds = float(text)
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(text)
    return seconds


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    sys.stdout.flush()
    # A task that does not listen, or a thread in a long statement, must not hold the process.
    os._exit(code)
