"""``retold demo``: the promises, shown on a real store in real processes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from retold.cli.demo.offline import refuse_sockets
from retold.cli.document import echo_document, plain
from retold.cli.exits import DONE, UNHEALTHY
from retold.cli.options import GlobalOptions, global_options
from retold.errors import InvalidInput


@click.command()
@click.option("--keep", metavar="DIR", help="Leave the store in this directory, made if missing.")
@click.option("--script", "script_file", metavar="FILE", help="Play another conversation.")
@global_options
@click.pass_obj
def demo(options: GlobalOptions, keep: str | None, script_file: str | None) -> int:
    """Show what Retold promises: a conversation, a second process, a crash.

    Uses the offline models and a store of its own; no socket opens while it runs.
    """
    if options.store or options.config or options.profile:
        raise InvalidInput(
            "the demonstration makes its own store with the offline profile; leave --store, "
            "--config and --profile away, and use --keep DIR to look at the store afterwards"
        )
    refuse_sockets()
    from retold.cli.demo.lines import broken_promises, demo_lines
    from retold.cli.demo.script import load_script, own_script

    script = own_script() if script_file is None else load_script(Path(script_file))
    with _directory(keep) as directory:
        facts = _play(directory / "memory.sqlite", script)
    if options.as_json:
        echo_document(facts)
    else:
        click.echo("\n".join(demo_lines(facts)))
    broken = broken_promises(facts)
    if broken:
        click.echo(f"retold: {'; '.join(broken)}; please report this", err=True)
    return UNHEALTHY if broken else DONE


@contextmanager
def _directory(keep: str | None) -> Iterator[Path]:
    """Yield the directory for the store: a kept one must not hold a store yet."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="retold-demo-") as name:
            yield Path(name)
        return
    if not keep.strip():
        raise InvalidInput("--keep is blank; name a directory")
    directory = Path(keep)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"--keep {keep!r}: {error.strerror}; name a directory") from None
    if (directory / "memory.sqlite").exists():
        raise InvalidInput(f"--keep {keep!r} holds a store already; name another directory")
    yield directory


def _play(store: Path, script: Any) -> dict[str, Any]:  # noqa: ANN401  # Script loads lazily
    from retold.cli.demo.play import play_session
    from retold.cli.demo.process import play_elsewhere
    from retold.cli.demo.store import open_demo

    with open_demo(store) as retold:
        header = plain(retold.status())
    sessions = [play_session(store, script, 0)]
    sessions += [play_elsewhere(store, script, at) for at in range(1, len(script.sessions))]
    with open_demo(store, create=False) as retold:
        status = plain(retold.status())
    return {
        "agent": script.agent,
        "user": script.user,
        "header": header,
        "sessions": sessions,
        "status": status,
    }
