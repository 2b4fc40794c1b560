"""``retold completion``: the script that lets a shell complete commands and options."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

from retold.cli.document import echo_document
from retold.cli.options import GlobalOptions, global_options

SHELLS: Final = ("bash", "zsh", "fish")
VARIABLE: Final = "_RETOLD_COMPLETE"
_HELP: Final = """Print a script that completes commands and options in a shell.

\b
mkdir -p ~/.local/share/bash-completion/completions
retold completion bash > ~/.local/share/bash-completion/completions/retold
retold completion zsh > "${fpath[1]}/_retold"
retold completion fish > ~/.config/fish/completions/retold.fish
"""


@click.command(help=_HELP)
@click.argument("shell", type=click.Choice(SHELLS))
@global_options
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    """Print what click makes for the shell."""
    options = context.find_object(GlobalOptions)
    made = get_completion_class(shell)
    if made is None:  # click knows all three
        raise click.UsageError(f"no completion for {shell}")
    script = made(context.find_root().command, {}, "retold", VARIABLE).source()
    if options is not None and options.as_json:
        echo_document({"shell": shell, "script": script})
    else:
        click.echo(script)
