"""Where a model string leads: provider, address and the key for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Final, Literal
from urllib.parse import urlsplit

from retold.config import HostedConfig, ProviderConfig
from retold.config.model_names import ProviderName, provider_and_model
from retold.config.operation import require_http_url
from retold.errors import InvalidInput, RetoldSetupError

Package = Literal["anthropic", "openai"]

OWN_ADDRESS: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
}
"""Where a provider without ``base_url`` is reached: the variable that its client reads, or this."""

NO_KEY: Final = "no-key-needed"
"""Sent where ``api_key_env`` is null: both clients insist on some key, and would take another
provider's from the environment."""


@dataclass(frozen=True, slots=True)
class Target:
    """One model at one address, with the key that opens it.

    ``own`` is true for the provider's own address, whose answers need no guessing.
    """

    provider: ProviderName
    model: str
    base_url: str = field(repr=False)
    key: str = field(repr=False)
    own: bool

    @property
    def package(self) -> Package:
        """Return the client that speaks to it."""
        return package_of(self.provider)

    @property
    def address(self) -> str:
        """Return scheme, host and port, which may be shown: a path or a user may be a secret."""
        return shown_address(self.base_url)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is up or down as one: a provider at one address."""

    provider: ProviderName
    base_url: str = field(repr=False)


def split_model(model: str, default: ProviderName) -> tuple[ProviderName, str]:
    """Return provider and model of a model string, as ``provider_and_model`` finds them.

    Raises InvalidInput when no model is left.
    """
    try:
        return provider_and_model(model, default)
    except ValueError as fault:
        raise InvalidInput(f"model {model!r} {fault}") from None


def shown_address(base_url: str) -> str:
    """Return scheme, host and port of an address, without what may open it."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    return f"{parts.scheme}://{host}" + ("" if parts.port is None else f":{parts.port}")


def package_of(provider: ProviderName) -> Package:
    """Return the client that speaks a provider's protocol."""
    return "anthropic" if provider == "anthropic" else "openai"


def endpoint_of(
    model: str, hosted: HostedConfig, environ: Mapping[str, str] = os.environ
) -> Endpoint:
    """Return whom a model string reaches, without looking for a package or a key.

    Raises RetoldSetupError when there is no usable address, InvalidInput for a string without a
    model.
    """
    provider, _ = split_model(model, hosted.default_provider)
    settings: ProviderConfig = getattr(hosted, provider)
    base_url = settings.base_url or _own_address(provider, environ)
    if base_url is None:
        raise RetoldSetupError(
            f"{model!r} has no address: set hosted.{provider}.base_url", setting="base_url"
        )
    return Endpoint(provider, base_url)


def target_of(model: str, hosted: HostedConfig, environ: Mapping[str, str]) -> Target:
    """Return where a model is reached, its key read now.

    Raises RetoldSetupError naming the address, package or key that is missing, InvalidInput for
    a model string that names no model.
    """
    endpoint = endpoint_of(model, hosted, environ)
    provider, base_url = endpoint.provider, endpoint.base_url
    name = split_model(model, hosted.default_provider)[1]
    settings: ProviderConfig = getattr(hosted, provider)
    require_package(package_of(provider))
    key = NO_KEY if settings.api_key_env is None else environ.get(settings.api_key_env, "").strip()
    if not key:
        raise RetoldSetupError(
            f"no key for {provider}: set the environment variable {settings.api_key_env}, or name "
            f"another one in hosted.{provider}.api_key_env",
            variable=settings.api_key_env,
        )
    if not (key.isascii() and key.isprintable()):
        raise RetoldSetupError(
            f"the environment variable {settings.api_key_env} holds no usable key: a key has plain "
            "letters, digits and signs only",
            variable=settings.api_key_env,
        )
    own = provider in OWN_ADDRESS and base_url == OWN_ADDRESS[provider][1]
    return Target(provider, name, base_url, key, own)


def require_package(package: Package) -> None:
    """Raise RetoldSetupError when a client's package is not installed; nothing is imported."""
    try:
        found = find_spec(package) is not None
    except (ImportError, ValueError):
        found = False
    if not found:
        raise RetoldSetupError(
            f'the package {package} is not installed: pip install "retold[{package}]"',
            package=package,
        )


def _own_address(provider: ProviderName, environ: Mapping[str, str]) -> str | None:
    if provider not in OWN_ADDRESS:
        return None
    variable, address = OWN_ADDRESS[provider]
    found = environ.get(variable, "").strip()
    if not found:
        return address
    try:
        require_http_url(found)
    except ValueError as fault:
        raise RetoldSetupError(
            f"the environment variable {variable} {fault}", variable=variable
        ) from None
    return found
