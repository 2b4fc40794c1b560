"""``retold worker``: start the consumers of the work in the background."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from retold.cli.exits import UNHEALTHY, ChildFailed
from retold.cli.opening import Settings, opened_store, require_huey
from retold.cli.options import FiniteRange, GlobalOptions, global_options
from retold.cli.supervision import run_together
from retold.errors import ConfigError, InvalidInput
from retold.queue import QUEUES, QueueName, inspect_queue, queue_path


@click.command()
@click.argument("which", metavar="extraction|maintenance|all", type=click.Choice([*QUEUES, "all"]))
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes of the extraction.",
)
@click.option(
    "--grace",
    type=FiniteRange(0),
    default=3.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for running steps to end, before they are handed back.",
)
@global_options
@click.pass_obj
def worker(options: GlobalOptions, which: str, *, workers: int, grace: float) -> int:
    """Run the extraction, the maintenance or both until SIGTERM or Ctrl-C; twice means at once.

    They need queue.backend huey, in the application's configuration too. Their log is JSON lines
    on standard error. With "all", the end of one ends the other.
    """
    if options.as_json:
        raise InvalidInput("a worker prints no document; its log is JSON lines already")
    chosen: tuple[QueueName, ...] = tuple(name for name in QUEUES if which in (name, "all"))
    with opened_store(options) as (store, settings):
        require_huey(settings)
        if "extraction" in chosen:  # the maintenance needs no model
            from retold.operations.fitting import require_fitting

            require_fitting(store, settings.applied)
        path = store.path.absolute()
    _require_usable(path, settings, chosen)
    flags = ["--workers", str(workers), "--grace", str(grace)]
    # -P: a folder named `workers` in the working directory is not ours.
    commands = [[sys.executable, "-P", "-m", "workers", name, *flags] for name in chosen]
    environment = _environment(options, path)
    if len(commands) == 1:
        os.execve(sys.executable, commands[0], environment)
    return run_together(commands, environment, grace_seconds=grace)


def _require_usable(path: Path, settings: Settings, chosen: tuple[QueueName, ...]) -> None:
    """Refuse before anything is started what a consumer would only log for ever."""
    cfg = settings.config.queue
    for name in chosen:
        file = queue_path(path, cfg.directory, name)
        if not file.parent.is_dir():
            raise ConfigError(f"queue.directory: there is no folder {str(file.parent)!r}; make it")
        state = inspect_queue(name, file)
        if state.identity is not None and state.problem is not None:
            raise ChildFailed(f"{state.path}: {state.problem}", UNHEALTHY)


def _environment(options: GlobalOptions, path: Path) -> Mapping[str, str]:
    """Return what the consumers are told: the store and the settings that this command has."""
    told = {"RETOLD_STORE": str(path)}
    if options.config is not None:
        told["RETOLD_CONFIG"] = str(Path(options.config).absolute())
    return os.environ | told
