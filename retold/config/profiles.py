"""The three named sets of settings, each as its differences from the defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from retold.config.ingestion import LEXICAL_JUDGE
from retold.config.operation import PACKAGED_EMBEDDER
from retold.errors import ConfigError

ProfileName = Literal["standard", "lite", "offline"]
PROFILES: tuple[ProfileName, ...] = get_args(ProfileName)

# Floors of MiniLM cosines come from completions 2. The designed floors of host-issued searches
# lie .10 above the normal ones, summaries excepted; the same step is kept until calibration.
_MINILM_FLOORS = {"semantic": 0.32, "episodic": 0.46, "procedural": 0.30, "session_summary": 0.46}
_MINILM_AUTO_FLOORS = {
    "semantic": 0.42,
    "episodic": 0.56,
    "procedural": 0.40,
    "session_summary": 0.46,
}
_MINILM_RETRIEVAL = {
    "preset": "measured",
    "gate": {"dense_floor": _MINILM_FLOORS, "auto": {"dense_floor": _MINILM_AUTO_FLOORS}},
}

PROFILE_VALUES: Mapping[ProfileName, Mapping[str, Any]] = {
    "standard": {},
    "lite": {
        "embedding": {"model": "sentence-transformers/all-MiniLM-L6-v2", "dims": 384},
        "retrieval": _MINILM_RETRIEVAL,
    },
    "offline": {
        "embedding": {"model": PACKAGED_EMBEDDER, "dims": 384},
        "retrieval": _MINILM_RETRIEVAL,
        "ingestion": {
            "equivalence": {"model": LEXICAL_JUDGE},
            "evidence": {"entail_floor": 0.5},
        },
    },
}
"""What each profile sets, nested as in YAML; all else keeps its default."""

Origin = Literal["argument", "environment", "store", "default", "program"]
"""Who named the settings that apply: an argument is a flag of a command too, and ``program`` is a
configuration that was passed whole."""

_VARIABLES = ("RETOLD_CONFIG", "RETOLD_PROFILE", "RETOLD_STORE")


@dataclass(frozen=True, slots=True)
class ConfigChoice:
    """The profile, or the configuration file, that applies, with the source that named it.

    Exactly one of ``profile`` and ``config_path`` is set.
    """

    profile: ProfileName | None
    config_path: str | None
    origin: Origin


def require_profile(name: str) -> ProfileName:
    """Return the name when it is a profile; raise ValueError naming the choices."""
    for profile in PROFILES:
        if name == profile:
            return profile
    raise ValueError(f"unknown profile {name!r}; choose one of {', '.join(PROFILES)}")


def resolve_profile(
    argument: str | None, store_profile: str | None, environ: Mapping[str, str]
) -> ConfigChoice:
    """Decide which settings apply when no configuration was passed.

    The order is the argument or flag, then RETOLD_CONFIG or RETOLD_PROFILE, then the profile the
    store was made with (None for a new file), then standard. A blank variable counts as unset.
    Raises ValueError for an unknown argument, ConfigError for a wrong variable, for both
    variables at once, and for a store whose profile this release does not know.
    """
    if argument is not None:
        return ConfigChoice(require_profile(argument), None, "argument")
    config_path = environ.get("RETOLD_CONFIG", "").strip()
    env_profile = environ.get("RETOLD_PROFILE", "").strip()
    if config_path and env_profile:
        raise ConfigError("RETOLD_CONFIG and RETOLD_PROFILE are both set; unset one of them")
    if config_path:
        return ConfigChoice(None, config_path, "environment")
    if env_profile:
        return ConfigChoice(_known(env_profile, "RETOLD_PROFILE"), None, "environment")
    if store_profile is not None:
        return ConfigChoice(_known(store_profile, "the store"), None, "store")
    return ConfigChoice("standard", None, "default")


def base_profile(
    argument: str | None, file_profile: ProfileName | None, store_profile: str | None
) -> ProfileName:
    """Return the profile that a configuration file is laid on.

    The order is an argument, the ``profile`` key of the file, the profile the store was made with
    (None for a new one), then standard. Raises ValueError for an unknown argument, ConfigError
    for a store whose profile this release does not know, when it is the one that counts.
    """
    if argument is not None:
        return require_profile(argument)
    if file_profile is not None:
        return file_profile
    return "standard" if store_profile is None else _known(store_profile, "the store")


def resolve_store_path(
    argument: str | None, environ: Mapping[str, str], configured: Callable[[], str]
) -> str:
    """Return the store file: the argument or flag, then RETOLD_STORE, then ``store.path``.

    ``configured`` answers with ``store.path`` and is asked only when nothing else names a file:
    a configuration that is wrong does not matter to a file that was named.
    """
    return argument or environ.get("RETOLD_STORE", "").strip() or configured()


def read_environment() -> dict[str, str]:
    """Return the variables that choose settings; the only place that looks at the environment."""
    return {name: os.environ[name] for name in _VARIABLES if name in os.environ}


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``over`` laid on it, block by block; neither is changed."""
    result = dict(base)
    for name, value in over.items():
        below = result.get(name)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            result[name] = merged(below, value)
        else:
            result[name] = value
    return result


def _known(name: str, source: str) -> ProfileName:
    try:
        return require_profile(name)
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from None
