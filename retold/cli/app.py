"""The commands by name, each loaded when it is called, and what a failure prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final, TextIO

import click
from click.shell_completion import CompletionItem

from retold import __version__
from retold.cli.exits import (
    DONE,
    REFUSED,
    UNEXPECTED,
    error_line,
    exit_code,
    is_lost_output,
    one_line,
)
from retold.cli.options import GlobalOptions, Sources, global_options

COMMANDS: Final = {
    "calibrate": ("retold.cli.calibrate", "Measure thresholds for your own embedder and store."),
    "completion": ("retold.cli.completion", "Print a script that completes commands in a shell."),
    "demo": ("retold.cli.demo.command", "Show what Retold promises, on a store of its own."),
    "dump": ("retold.cli.dump", "Print records as JSON lines."),
    "evaluate": ("retold.cli.evaluate", "Measure what searches find in questions with answers."),
    "expire": ("retold.cli.expire", "Mark records past their expiry as expired."),
    "extract": ("retold.cli.extract", "Ask for an extraction, or look after those that wait."),
    "get": ("retold.cli.get", "Print full records with their lineage and events."),
    "grant": ("retold.cli.grants", "Let an agent use a shared scope."),
    "history": ("retold.cli.history", "Show every version of a claim."),
    "list": ("retold.cli.list", "List records, the newest first."),
    "migrate": ("retold.cli.migrate", "Bring the store to the present schema."),
    "models": ("retold.cli.models", "Look at the models of the profiles, fetch them, try them."),
    "queue": ("retold.cli.queue", "Look after the files that announce work."),
    "retain": ("retold.cli.retain", "Blank and remove what was to be kept for a while only."),
    "review-due": ("retold.cli.review_due", "Flag records whose review is due."),
    "revoke": ("retold.cli.grants", "Take a grant away."),
    "scope": ("retold.cli.scope", "Look at scopes: who owns records."),
    "search": ("retold.cli.search", "Search as an agent and show why each result came back."),
    "sessions": ("retold.cli.sessions", "Take transcripts in, list conversations and show them."),
    "status": ("retold.cli.status", "Show what the store holds and which models serve it."),
    "token-vectors": ("retold.cli.token_vectors", "Fill in what ranking by single words needs."),
    "worker": ("retold.cli.worker", "Run the work in the background until it is stopped."),
    "workers": ("retold.cli.workers", "Look after the workers: do they work?"),
}
"""The module that holds each command, and the line that the overview shows for it."""


class LazyGroup(click.Group):
    """A group that imports the module of a command only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every name, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(COMMANDS[cmd_name][0])
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an interrupt becomes click's own Abort, without its blank line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            if sys.stderr is not None and sys.stderr.isatty():
                click.echo(err=True)  # the terminal has shown ^C
            raise click.exceptions.Abort from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer commands without loading them, then the options."""
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=COMMANDS[name][1]) for name in names]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@global_options
@click.version_option(__version__, "-V", "--version", message="retold %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Long-term memory that a person can trust an AI agent with."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: Sequence[str] | None = None, sources: Sources | None = None) -> int:
    """Run one command line and return its exit code; nothing it can meet becomes a traceback.

    ``sources`` None takes the wall clock and random ids.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        result = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="retold",
            standalone_mode=False,
            obj=GlobalOptions(sources or Sources()),
        )
        if sys.stdout is not None:  # it is None when the caller closed it
            sys.stdout.flush()
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except click.exceptions.Abort:
        return _failed("interrupted", UNEXPECTED)
    except click.ClickException as wrong:
        return _failed(_with_help(wrong), REFUSED)
    except BrokenPipeError:
        _drop_rest(sys.stdout)
        return UNEXPECTED
    except Exception as error:
        if is_lost_output(error):
            _drop_rest(sys.stdout)
        return _failed(error_line(error), exit_code(error))
    return result if isinstance(result, int) else DONE


def _drop_rest(stream: TextIO) -> None:
    # Python would complain once more when it flushes at exit, or leave with another code.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _with_help(wrong: click.ClickException) -> str:
    """Return click's message with the command whose help lists what is possible."""
    message = one_line(wrong.format_message()).rstrip(".")
    context = wrong.ctx if isinstance(wrong, click.UsageError) else None
    where = "retold" if context is None else context.command_path
    link = "" if message.endswith("?") else ";"
    return f"{message}{link} see `{where} --help`"


def _failed(line: str, code: int) -> int:
    try:
        click.echo(f"retold: {line}", err=True)
    except OSError:  # with nowhere to say it, the exit code says it
        _drop_rest(sys.stderr)
    return code
