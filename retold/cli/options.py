"""The options every command knows, accepted before the command and after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import click

from retold.errors import InvalidInput
from retold.text import require_id
from retold.util import Clock, IdSource, new_id, system_clock

if TYPE_CHECKING:
    from retold.models import Principal, Scope

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the moments and the ids of a command come from."""

    clock: Clock = system_clock
    id_source: IdSource = new_id


@dataclass(slots=True)
class GlobalOptions:
    """What the command line says about every command; what is said last wins."""

    sources: Sources = field(default_factory=Sources)
    store: str | None = None
    config: str | None = None
    profile: str | None = None
    actor: str = "admin"
    as_json: bool = False

    @property
    def principal(self) -> Principal | None:
        """Return whom a command reads for: the pair that ``--as`` names; None for an operator."""
        from retold.models import Principal

        agent_id, separator, user_id = self.actor.partition("/")
        return Principal(agent_id, user_id) if separator else None


class FiniteRange(click.FloatRange):
    """A number in a range; one that is none, such as nan, lies nowhere."""

    def convert(
        self,
        value: Any,  # noqa: ANN401  # as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the number. Fails as options do."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    options = context.ensure_object(GlobalOptions)
    if isinstance(value, str) and not value.strip():
        raise click.BadParameter("it is blank", context, parameter)
    if isinstance(value, str) and parameter.name == "actor":
        _require_name(value, context, parameter)
    if value is not None and value is not False and parameter.name is not None:
        setattr(options, parameter.name, value)


def _require_name(value: str, context: click.Context, parameter: click.Parameter) -> None:
    """Refuse what the audit trail could not show on one line, and half a pair."""
    try:
        for name in value.split("/", 1):
            require_id(name, "--as", allow_slash=False)
    except InvalidInput as wrong:
        raise click.BadParameter(
            f"{wrong.message.rstrip('.')}: give a name, or AGENT/USER", context, parameter
        ) from None


def profile_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the profiles that begin so, for a shell."""
    from retold.config import PROFILES

    return [name for name in PROFILES if name.startswith(incomplete)]


def global_options(command: Command) -> Command:
    """Add the global options to a command or group; their values go to ``GlobalOptions``."""
    for option in reversed(
        (
            click.option(
                "--store",
                type=click.Path(),
                metavar="FILE",
                callback=_keep,
                expose_value=False,
                help="The store; else RETOLD_STORE, the configuration, ./memory.sqlite.",
            ),
            click.option(
                "--config",
                type=click.Path(),
                metavar="YAML",
                callback=_keep,
                expose_value=False,
                help="Settings; else RETOLD_CONFIG, RETOLD_PROFILE, the store's own profile.",
            ),
            click.option(
                "--profile",
                metavar="NAME",
                shell_complete=profile_names,
                callback=_keep,
                expose_value=False,
                help="standard, lite or offline, instead of --config.",
            ),
            click.option(
                "--as",
                "actor",
                metavar="NAME",
                callback=_keep,
                expose_value=False,
                help="Who you are: an operator, or AGENT/USER to read no more than those may.  "
                "[default: admin]",
            ),
            click.option(
                "--json",
                "as_json",
                is_flag=True,
                callback=_keep,
                expose_value=False,
                help="Print one JSON document instead of text.",
            ),
        )
    ):
        command = option(command)
    return command


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """An ISO 8601 moment with a UTC offset."""

    name = "moment"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return an aware datetime; a naive one is refused with a corrected example."""
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no ISO 8601 moment, such as 2026-03-19T00:00:00+00:00")
        if moment.utcoffset() is None:
            self.fail(
                f"{value!r} has no UTC offset; "
                f"pass the like of {moment.replace(tzinfo=UTC).isoformat()}"
            )
        return moment


class ScopeName(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4 only
    """A scope such as ``user:ana``."""

    name = "scope"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Scope:
        """Return the scope; text that is none is refused with an example or the choices."""
        from retold.models import Scope

        try:
            return value if isinstance(value, Scope) else Scope.parse(str(value))
        except InvalidInput as wrong:
            self.fail(wrong.message)
