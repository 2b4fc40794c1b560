"""Strings that name a hosted model: ``provider/model``, or the bare name of one that is known."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from pydantic import AfterValidator

from retold.config.base import Text

ProviderName = Literal["anthropic", "openai", "openrouter", "custom"]

_PROVIDERS: Final[tuple[ProviderName, ...]] = get_args(ProviderName)
_BARE: Final[tuple[tuple[str, ProviderName], ...]] = (("claude-", "anthropic"), ("gpt-", "openai"))
"""Beginnings of models that need no provider's name before them."""


def provider_and_model(model: str, default: ProviderName) -> tuple[ProviderName, str]:
    """Return provider and model of a model string.

    A provider's name before the first slash decides; else ``claude-*`` and ``gpt-*`` are known,
    and everything else goes to ``default``. Raises ValueError, without the string, when no model
    is left.
    """
    provider, name = default, model
    head, slash, rest = model.partition("/")
    known = [one for one in _PROVIDERS if one == head]
    bare = [one for start, one in _BARE if model.startswith(start)]
    if slash and known:
        provider, name = known[0], rest
    elif bare:
        provider = bare[0]
    if not name.strip() or name != name.strip():
        raise ValueError("is not of the form provider/model")
    return provider, name


def _names_a_model(value: str) -> str:
    provider_and_model(value, "custom")
    return value


HostedModel = Annotated[Text, AfterValidator(_names_a_model)]
"""A model string that names a model, whoever serves it."""
