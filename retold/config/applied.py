"""Which settings apply to a store, and who named them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from retold.config.load import profile_config, read_config_file
from retold.config.profiles import (
    ConfigChoice,
    Origin,
    ProfileName,
    base_profile,
    resolve_profile,
)
from retold.config.root import RetoldConfig


@dataclass(frozen=True, slots=True)
class AppliedSettings:
    """The settings that apply, with where they come from.

    ``profile`` is the name that a new store remembers: the one that was named, standard where
    nothing was named at all, and None for a file that names none and for a configuration made by
    a program. ``file`` is the configuration file, None where there is none; ``origin`` says who
    named the file or the profile. ``sets_embedding`` is true when the file has an ``embedding``
    block of its own.
    """

    config: RetoldConfig
    profile: ProfileName | None
    file: str | None
    origin: Origin
    sets_embedding: bool = False


def applied_settings(
    config_path: str | None,
    profile: str | None,
    store_profile: str | None,
    environ: Mapping[str, str],
) -> AppliedSettings:
    """Return the settings of a named file, or else those that ``resolve_profile`` finds.

    A file that names no profile is laid on that of the store (None for a new one). Raises as
    ``resolve_profile``, and ConfigError for a wrong file.
    """
    if config_path is None:
        choice = resolve_profile(profile, store_profile, environ)
    else:
        choice = ConfigChoice(None, config_path, "argument")
    if choice.config_path is None:
        name = choice.profile or "standard"
        return AppliedSettings(profile_config(name), name, None, choice.origin)
    file = read_config_file(choice.config_path)
    return AppliedSettings(
        file.on(base_profile(None, file.profile, store_profile)),
        file.profile,
        file.path,
        choice.origin,
        sets_embedding="embedding" in file.values,
    )
